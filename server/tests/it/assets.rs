//! The page's files as a browser gets them.

use anyhow::Result;
use http::{StatusCode, header};

use crate::support::TestServer;

#[tokio::test]
async fn files_come_compressed_and_for_good() -> Result<()> {
    let server = TestServer::start().await?;
    for (accept, encoding, body) in [
        ("gzip, deflate, br, zstd", Some("br"), "brotli"),
        ("gzip", Some("gzip"), "gzip"),
        ("identity", None, "plain"),
    ] {
        let request = server.get("/assets/kandev-1.js").header(header::ACCEPT_ENCODING, accept);
        let response = request.send().await?;
        let headers = response.headers();
        let found = headers.get(header::CONTENT_ENCODING).map(|it| it.to_str()).transpose()?;
        assert_eq!(found, encoding, "{accept}");
        assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(headers[header::VARY], "accept-encoding");
        assert_eq!(response.text().await?, body, "{accept}");
    }
    let wasm = server.get("/assets/kandev-1.wasm").send().await?;
    assert_eq!(wasm.headers()[header::CONTENT_TYPE], "application/wasm");
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn only_the_pages_files_are_served() -> Result<()> {
    let server = TestServer::start().await?;
    for name in ["manifest.json", "kandev-1.js.br", "..%2fsecret", "%2e%2e%2f%2e%2e%2fCargo.toml"] {
        let response = server.get(&format!("/assets/{name}")).send().await?;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{name}");
    }
    server.shutdown().await;
    Ok(())
}
