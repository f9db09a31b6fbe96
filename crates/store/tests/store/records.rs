//! What is kept, how it is found, and what a delete leaves.

use anyhow::Result;
use model::{BodyStream, OutputRecord};
use store::{Op, Options, Store, StoreError};

use crate::{
    disk::Disk,
    sample::{self, append, at, message, session, session_id, shell, shell_ops, task, turn},
};

async fn store_with(ops: Vec<Op>) -> Result<Store> {
    let store = Store::open_backend(Disk::new(), &Options::default())?;
    store.commit(sample::owners()).await?;
    store.commit(ops).await?;
    Ok(store)
}

#[tokio::test]
async fn s_030_a_message_read_whole_has_its_bodies_at_their_path() -> Result<()> {
    let session = session_id(1);
    let (stdout, stderr) = ("compiling\n".repeat(5000), "Fehler: \u{fc}bel\n".repeat(3));
    let store = store_with(shell_ops(session, 1, &stdout, &stderr)).await?;
    let whole =
        store.read(|reader| reader.whole_message(session, sample::message_id(session, 1)))?;
    let json = serde_json::to_value(whole)?;
    let output = &json["metadata"]["normalized"]["shell_exec"]["output"];
    assert_eq!(output["stdout"], stdout);
    assert_eq!(output["stderr"], stderr);
    assert_eq!((&output["exit_code"], &output["truncated"]), (&0.into(), &false.into()));
    Ok(())
}

#[tokio::test]
async fn s_030_absent_output_stays_absent() -> Result<()> {
    let session = session_id(1);
    let output = OutputRecord { exit_code: Some(1), ..OutputRecord::default() };
    let store = store_with(vec![
        Op::PutMessage(shell(session, 1, None)),
        Op::PutMessage(shell(session, 2, Some(output))),
    ])
    .await?;
    let output = |seq| -> Result<_> {
        let id = sample::message_id(session, seq);
        let whole = store.read(|reader| reader.whole_message(session, id))?;
        Ok(serde_json::to_value(whole)?["metadata"]["normalized"]["shell_exec"]["output"].take())
    };
    assert_eq!(output(1)?, serde_json::Value::Null);
    assert_eq!(output(2)?, serde_json::json!({"exit_code": 1, "truncated": false}));
    Ok(())
}

#[tokio::test]
async fn s_030_a_message_and_its_bodies_are_stored_together_or_not_at_all() -> Result<()> {
    let session = session_id(1);
    let store = store_with(vec![]).await?;
    let mut ops = shell_ops(session, 1, "out", "err");
    ops.push(Op::PutMessage(message(session_id(9), 1, "of nobody")));
    assert!(matches!(store.commit(ops).await, Err(StoreError::Orphan { .. })));
    let (messages, _) = store.read(|reader| reader.messages(session, None, 10))?;
    assert_eq!(messages, []);
    Ok(())
}

#[tokio::test]
async fn messages_come_in_pages_oldest_first() -> Result<()> {
    let session = session_id(1);
    let ops = (1..=7).map(|seq| Op::PutMessage(message(session, seq, "hi"))).collect();
    let store = store_with(ops).await?;
    let page = |before, limit| -> Result<(Vec<u64>, bool)> {
        let (page, older) = store.read(|reader| reader.messages(session, before, limit))?;
        Ok((page.iter().map(|message| message.seq).collect(), older))
    };
    assert_eq!(page(None, 3)?, (vec![5, 6, 7], true));
    assert_eq!(page(Some(5), 3)?, (vec![2, 3, 4], true));
    assert_eq!(page(Some(2), 3)?, (vec![1], false));
    assert_eq!(page(Some(1), 3)?, (vec![], false));
    assert_eq!(page(None, 7)?, (vec![1, 2, 3, 4, 5, 6, 7], false));
    assert_eq!(store.read(|reader| reader.last_seq(session))?, 7);
    assert_eq!(store.read(|reader| reader.last_seq(session_id(9)))?, 0);
    Ok(())
}

#[tokio::test]
async fn messages_are_found_by_foreign_ids_of_any_length() -> Result<()> {
    let session = session_id(1);
    let long = "x".repeat(100_000);
    let mut prompt = message(session, 1, "prompt");
    prompt.metadata.client_message_id = Some(long.clone());
    let mut first = shell(session, 2, None);
    first.metadata.tool_call_id = Some("again".into());
    let mut second = shell(session, 3, None);
    second.metadata.tool_call_id = Some("again".into());
    let put = |message: &model::StoredMessage| Op::PutMessage(message.clone());
    // An older message that changes later does not become the newest.
    let store = store_with(vec![put(&prompt), put(&first), put(&second), put(&first)]).await?;
    store.read(|reader| {
        assert_eq!(reader.message_by_client_id(session, &long)?, Some(prompt));
        assert_eq!(reader.message_by_client_id(session, &long[1..])?, None);
        assert_eq!(reader.message_by_tool_call(session, "again")?, Some(second));
        assert_eq!(reader.message_by_tool_call(session_id(2), "again")?, None);
        Ok(())
    })?;
    Ok(())
}

#[tokio::test]
async fn s_024_a_call_is_found_by_its_id_behind_the_requests_for_leave_that_name_it() -> Result<()>
{
    let session = session_id(1);
    let row = shell(session, 2, None);
    let mut ask = message(session, 3, "");
    ask.metadata.tool_call_id = row.metadata.tool_call_id.clone();
    ask.metadata.permission = Some(model::PermissionRequest {
        subject: "cargo build".into(),
        is_command: true,
        options: Vec::new(),
        answer: None,
    });
    let store = store_with(vec![Op::PutMessage(row.clone()), Op::PutMessage(ask)]).await?;
    let found = store.read(|reader| reader.message_by_tool_call(session, "call-2"))?;
    assert_eq!(found, Some(row));
    Ok(())
}

#[tokio::test]
async fn a_message_keeps_its_place_and_no_other_takes_it() -> Result<()> {
    let session = session_id(1);
    let store = store_with(vec![Op::PutMessage(message(session, 1, "first"))]).await?;
    let mut moved = message(session, 1, "moved");
    moved.seq = 2;
    let mut intruder = message(session, 2, "intruder");
    intruder.seq = 1;
    for wrong in [moved, intruder] {
        let result = store.commit(vec![Op::PutMessage(wrong)]).await;
        assert!(matches!(result, Err(StoreError::Invalid(_))), "{result:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_change_of_a_body_that_does_not_lead_to_its_extent_is_refused() -> Result<()> {
    let session = session_id(1);
    let store = store_with(shell_ops(session, 1, "", "")).await?;
    let Op::ChangeBody { session_id, seq, stream, change, mut extent } =
        append(session, 1, 0, "text")
    else {
        unreachable!()
    };
    extent.end = 3;
    let op = Op::ChangeBody { session_id, seq, stream, change, extent };
    assert!(matches!(store.commit(vec![op]).await, Err(StoreError::Invalid(_))));
    Ok(())
}

#[tokio::test]
async fn an_appended_body_is_read_as_one() -> Result<()> {
    let session = session_id(1);
    let store = store_with(shell_ops(session, 1, "", "")).await?;
    let chunk = "Zeile \u{20ac} \u{1f980}\n".repeat(700);
    let mut end = 0;
    for _ in 0..9 {
        store.commit_lazy(vec![append(session, 1, end, &chunk)]).await?;
        end += chunk.len() as u64;
    }
    let extent = model::BodyExtent { start: 0, end };
    let body = store.read(|reader| reader.body(session, 1, BodyStream::Stdout, extent))?;
    assert_eq!(body, chunk.repeat(9));
    Ok(())
}

#[tokio::test]
async fn s_030_deleting_a_task_leaves_nothing_behind() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let store = Store::open(&path, &Options::default())?;
    store.commit(vec![Op::PutTask(task(2)), Op::PutSession(session(2, 2))]).await?;
    store.commit(vec![Op::PutMessage(message(session_id(2), 1, "stays"))]).await?;
    let kept = store.read(|reader| Ok((reader.tasks()?, reader.sessions_of(task(2).id)?)))?;
    store.close();
    let before = store::check(&path)?.entries;

    let store = Store::open(&path, &Options::default())?;
    let gone = session_id(1);
    store.commit(sample::owners()).await?;
    store.commit(shell_ops(gone, 1, &"out".repeat(20_000), "err")).await?;
    let mut prompt = message(gone, 2, "prompt");
    prompt.metadata.client_message_id = Some("\u{10ffff}".repeat(300));
    store
        .commit(vec![
            Op::PutMessage(prompt),
            Op::PutTurn(turn(1, gone, false)),
            Op::PutTurn(turn(2, gone, true)),
            Op::PutProcess(sample::process(gone, u32::MAX)),
        ])
        .await?;
    store.commit(vec![Op::DeleteTask(task(1).id)]).await?;

    let late = [
        Op::PutSession(session(1, 1)),
        Op::PutMessage(message(gone, 3, "late")),
        Op::PutTurn(turn(3, gone, false)),
        Op::PutProcess(sample::process(gone, 7)),
        append(gone, 1, 0, "late"),
    ];
    for op in late {
        let result = store.commit(vec![op]).await;
        assert!(matches!(result, Err(StoreError::Orphan { .. })), "{result:?}");
    }
    let left = store.read(|reader| Ok((reader.tasks()?, reader.sessions_of(task(2).id)?)))?;
    assert_eq!(left, kept);
    store.close();
    let after = store::check(&path)?;
    assert_eq!((after.entries, after.problems), (before, vec![]));
    Ok(())
}

#[tokio::test]
async fn q_007_turns_without_an_end_are_known_at_the_next_start() -> Result<()> {
    let disk = Disk::new();
    let store = Store::open_backend(disk.clone(), &Options::default())?;
    let session = session_id(1);
    store.commit(sample::owners()).await?;
    store.commit(vec![Op::PutTurn(turn(1, session, false))]).await?;
    store
        .commit(vec![Op::PutTurn(turn(1, session, true)), Op::PutTurn(turn(2, session, false))])
        .await?;

    let store = Store::open_backend(Disk::with(disk.bytes()), &Options::default())?;
    store.read(|reader| {
        assert_eq!(reader.open_turns()?, [(session, turn(2, session, false).id)]);
        assert_eq!(reader.last_turn(session)?, Some(turn(2, session, false)));
        Ok(())
    })?;
    Ok(())
}

#[tokio::test]
async fn the_twenty_folders_used_last_are_remembered() -> Result<()> {
    let used = |n: u64| Op::RememberFolder { path: format!("/{n}"), at: at(n) };
    let again = Op::RememberFolder { path: "/5".into(), at: at(100) };
    let store = store_with((1..=24).map(used).chain([again]).collect()).await?;
    let folders = store.read(store::Reader::folders)?;
    assert_eq!(folders.len(), 20);
    assert_eq!(&folders[..2], ["/5", "/24"]);
    assert_eq!(folders.last().map(String::as_str), Some("/6"));
    Ok(())
}
