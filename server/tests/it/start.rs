//! what has to be so before a server starts.

use std::{fs, net::TcpListener};

use anyhow::Result;
use server::{Config, Server, StartError};

use crate::support::config;

/// What a start that fails says.
async fn refusal(config: Config) -> Result<String> {
    match Server::start(config).await {
        Ok(running) => {
            running.shutdown().await;
            anyhow::bail!("it started")
        }
        Err(err) => Ok(err.to_string()),
    }
}

#[tokio::test]
async fn q_001_a_server_for_others_needs_names() -> Result<()> {
    let dir = tempfile::tempdir()?;
    for (host, example) in
        [("0.0.0.0", "--allow-host 192.168.1.20"), ("192.0.2.7", "--allow-host 192.0.2.7")]
    {
        let message = refusal(Config { host: host.parse()?, ..config(&dir) }).await?;
        assert!(message.contains(example), "{message}");
    }
    assert!(!dir.path().join("data").exists(), "nothing was touched");
    Ok(())
}

#[tokio::test]
async fn q_001_a_secret_that_others_can_read_guards_nothing() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir()?;
    Server::start(config(&dir)).await?.shutdown().await;
    let secret = dir.path().join("data/secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640))?;
    let message = refusal(config(&dir)).await?;
    assert!(message.contains(&format!("chmod 600 {}", secret.display())), "{message}");
    Ok(())
}

#[tokio::test]
async fn q_005_a_second_server_names_the_first() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let first = Server::start(config(&dir)).await?;
    let message = refusal(config(&dir)).await?;
    for part in [std::process::id().to_string(), first.addr().to_string(), "--data-dir".into()] {
        assert!(message.contains(&part), "{part} in {message}");
    }
    first.shutdown().await;
    Server::start(config(&dir)).await?.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_port_in_use_is_named_and_nothing_is_kept() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let other = TcpListener::bind("127.0.0.1:0")?;
    let port = other.local_addr()?.port();
    let message = refusal(Config { port, ..config(&dir) }).await?;
    assert!(message.contains(&format!("port {port}")) && message.contains("--port"), "{message}");
    drop(other);
    Server::start(config(&dir)).await?.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_named() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("file");
    fs::write(&file, "")?;
    // Not even root makes a directory in these.
    for parent in [file.as_path(), "/sys".as_ref()] {
        let data_dir = parent.join("kandev");
        let message = refusal(Config { data_dir: data_dir.clone(), ..config(&dir) }).await?;
        assert!(message.contains(&data_dir.display().to_string()), "{message}");
        assert!(message.contains("--data-dir"), "{message}");
    }
    Ok(())
}

#[tokio::test]
async fn q_006_a_damaged_store_is_reported_and_left_alone() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("data/kandev.redb");
    fs::create_dir_all(dir.path().join("data"))?;
    fs::write(&file, "this is no store")?;
    let outcome = Server::start(config(&dir)).await;
    assert!(matches!(outcome, Err(StartError::Open(_))));
    assert!(refusal(config(&dir)).await?.contains("kandev restore"));
    assert_eq!(fs::read_to_string(&file)?, "this is no store");
    Ok(())
}
