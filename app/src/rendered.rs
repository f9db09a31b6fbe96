//! Whole pages, rendered as the server does.

use leptos::prelude::*;
use leptos_router::location::RequestUrl;
use model::{
    AgentKind, Author, BootState, InitialState, Message, MessageKind, MessageView, Metadata,
    OutputSummary, Page, PermissionAnswer, ProfileId, ProfileView, SessionState, Signal, TaskCard,
    ToolStatus, TurnOutcome,
};

use crate::{Assets, shell, state::samples};

fn assets() -> Assets {
    Assets {
        js: "/assets/kandev-1.js".into(),
        wasm: "/assets/kandev-1.wasm".into(),
        css: "/assets/kandev-1.css".into(),
        icons: "/assets/icons-1.svg".into(),
        favicon: "/assets/favicon-1.svg".into(),
    }
}

fn render(path: &str, initial_state: InitialState) -> String {
    let boot = BootState { initial_state, ..samples::boot() };
    Owner::new().with(|| {
        provide_context(RequestUrl::new(path));
        provide_context(assets());
        provide_context(boot.clone());
        shell(assets(), boot).to_html()
    })
}

fn initial(page: Page) -> InitialState {
    InitialState { page, board: None, ..samples::boot().initial_state }
}

fn board_page(cards: Vec<TaskCard>) -> String {
    let profile = ProfileView {
        id: ProfileId::from_bytes([1; 16]),
        name: "OpenCode".into(),
        agent: AgentKind::OpenCode,
        command_line: "opencode acp".into(),
        env_names: Vec::new(),
        mode: None,
        model: None,
        built_in: true,
    };
    let board = Some(samples::board(cards));
    let initial = InitialState {
        board,
        profiles: vec![profile],
        folders: vec!["/home/me/pelorus".into()],
        ..initial(Page::Board)
    };
    keep("board", render("/", initial))
}

fn task_page(state: SessionState, messages: Vec<MessageView>) -> String {
    let card = samples::card_in(1, state);
    let initial = InitialState {
        board: Some(samples::board(vec![card.clone()])),
        task: Some(card),
        session: Some(samples::session(state)),
        messages,
        ..initial(Page::Task)
    };
    render(&format!("/tasks/{}", samples::task_id(1)), initial)
}

fn count(html: &str, needle: &str) -> usize {
    html.matches(needle).count()
}

/// The part of the page that a person sees: without the boot state, and the marks of hydration.
fn body(html: &str) -> String {
    html.split_once("<body").map_or_else(String::new, |(_, body)| body.replace("<!>", ""))
}

/// The row of a command with this end, and what the page around it says.
fn shell_row(status: ToolStatus, output: OutputSummary) -> String {
    let html = task_page(SessionState::Running, vec![samples::shell(status, output)]);
    let body = body(&html);
    let row = body.split("class=\"shell\"").nth(1).expect("there is a row");
    row.split("chat__foot").next().unwrap_or_default().to_owned()
}

fn with_output(exit_code: Option<i64>) -> OutputSummary {
    OutputSummary { exit_code, has_output: true, stdout_bytes: 1434, ..OutputSummary::default() }
}

#[test]
fn s_040_the_whole_command_shows_with_its_folder() {
    let row = shell_row(ToolStatus::Complete, with_output(Some(0)));
    assert!(row.contains("cargo test --workspace"), "{row}");
    assert!(row.contains("crates/merger"), "{row}");
    assert!(!row.contains("SENTINEL-DESCRIPTION"), "the agent's words take no command's place");
}

#[test]
fn s_041_s_043_output_is_closed_and_not_in_the_page() {
    for status in [ToolStatus::InProgress, ToolStatus::Complete, ToolStatus::Error] {
        let row = shell_row(status, with_output(None));
        assert_eq!(count(&row, "aria-expanded=\"false\""), 1, "{row}");
        assert!(!row.contains("shell__output") && !row.contains("shell__body"), "{row}");
    }
    let running = shell_row(ToolStatus::InProgress, with_output(None));
    assert!(running.contains("Output \u{b7} 1.4 KiB so far"), "{running}");
}

#[test]
fn s_042_without_output_there_is_nothing_to_open() {
    for status in [ToolStatus::InProgress, ToolStatus::Complete, ToolStatus::Cancelled] {
        let row = shell_row(status, OutputSummary::default());
        assert!(!row.contains("<button"), "{row}");
        assert!(row.contains("cargo test --workspace") && row.contains("crates/merger"), "{row}");
    }
}

#[test]
fn s_049_the_exit_stands_exactly_once_in_every_ended_row() {
    let without = |exit_code| OutputSummary { exit_code, ..OutputSummary::default() };
    for (status, code, text) in [
        (ToolStatus::Complete, Some(0), "Exit code 0"),
        (ToolStatus::Error, Some(4), "Exit code 4"),
        (ToolStatus::Error, None, "Exit code unavailable"),
        (ToolStatus::Complete, None, "Exit code unavailable"),
        (ToolStatus::Cancelled, None, "Exit code unavailable"),
        (ToolStatus::Cancelled, Some(130), "Exit code 130"),
    ] {
        for summary in [with_output(code), without(code)] {
            let row = shell_row(status, summary);
            assert_eq!(count(&row, text), 1, "{text}: {row}");
            assert_eq!(count(&row, "Exit code"), 1, "{text}: {row}");
        }
    }
    for summary in [with_output(None), without(None)] {
        let row = shell_row(ToolStatus::InProgress, summary);
        assert_eq!(count(&row, "Exit code"), 0, "not while it runs: {row}");
    }
}

#[test]
fn s_049_each_end_has_its_name_and_its_shape() {
    for (status, code, label, shape) in [
        (ToolStatus::Complete, Some(0), "Command succeeded", "#done"),
        (ToolStatus::Complete, Some(1), "Command failed", "#failed"),
        (ToolStatus::Error, None, "Command failed", "#failed"),
        (ToolStatus::InProgress, None, "Command running", "#running"),
        (ToolStatus::Cancelled, None, "Command cancelled", "#stopped"),
        (ToolStatus::Complete, None, "Command status unknown", "#unknown"),
    ] {
        let row = shell_row(status, with_output(code));
        assert_eq!(count(&row, &format!("aria-label=\"{label}\"")), 1, "{row}");
        assert!(row.contains(shape), "{row}");
    }
    let cancelled = shell_row(ToolStatus::Cancelled, with_output(None));
    assert!(cancelled.contains(">Cancelled<"), "{cancelled}");
}

#[test]
fn s_049_a_signal_is_said_beside_the_exit_code() {
    let signal = Some(Signal::Name("SIGKILL".into()));
    let row = shell_row(ToolStatus::Error, OutputSummary { signal, ..with_output(None) });
    assert!(row.contains("Signal SIGKILL") && row.contains("Exit code unavailable"), "{row}");
}

fn permission(answer: Option<PermissionAnswer>) -> MessageView {
    let request = model::PermissionRequest { answer, ..samples::permission() };
    Message {
        kind: MessageKind::PermissionRequest,
        metadata: Metadata { permission: Some(request), ..Metadata::default() },
        ..samples::message(5, "")
    }
}

#[test]
fn k_044_an_open_request_has_its_answers_and_an_ended_one_says_what_became_of_it() {
    let page = |answer| task_page(SessionState::Running, vec![permission(answer)]);
    let open = page(None);
    let open = body(&open);
    assert!(open.contains("OpenCode asks to run a command") && open.contains("git push"), "{open}");
    assert!(open.contains(">Allow once<") && open.contains(">Deny<"), "{open}");
    for (answer, words) in [
        (
            PermissionAnswer::Selected { option_id: "once".into() },
            "You answered \u{201c}Allow once",
        ),
        (PermissionAnswer::Cancelled, "stopped before you answered"),
        (PermissionAnswer::Void, "This request is void"),
    ] {
        let html = page(Some(answer));
        assert!(body(&html).contains(words), "{words}");
        assert!(!body(&html).contains(">Deny<"), "an ended request takes no answer");
    }
}

#[test]
fn k_001_the_board_shows_steps_counts_and_cards_by_state() {
    let mut asking = samples::card_in(2, SessionState::Running);
    asking.step_id = samples::step(1);
    if let Some(session) = &mut asking.session {
        session.ask = Some(samples::ask());
    }
    let mut failed = samples::card_in(3, SessionState::Failed);
    if let Some(session) = &mut failed.session {
        session.error = Some("The agent ended with code 7.".into());
    }
    let html = board_page(vec![samples::card(1, "Parse <b>dates</b>"), asking, failed]);
    let body = body(&html);
    for step in ["Backlog", "In Progress", "Review", "Done"] {
        assert!(body.contains(&format!(">{step}</h2>")), "{step}");
    }
    assert!(body.contains("Parse &lt;b&gt;dates&lt;/b&gt;"), "text is text");
    for label in ["Not started", "Waits for you", "Failed"] {
        assert!(body.contains(&format!("aria-label=\"{label}\"")), "{label}");
    }
    assert!(body.contains("Asks permission") && body.contains("<code>git push</code>"));
    assert!(body.contains("The agent ended with code 7.") && body.contains("Start again"));
    assert!(body.contains(" your turn") && body.contains(" failed"), "the watch counts");
}

#[test]
fn an_empty_board_says_what_to_do() {
    let html = board_page(vec![]);
    assert_eq!(count(&body(&html), "No tasks yet"), 1);
    assert_eq!(count(&body(&html), "Nothing in"), 0, "one thing is enough to say");
}

#[test]
fn k_004_a_conversation_reads_in_order() {
    let prompt = Message { author: Author::User, ..samples::message(1, "Fix the <parser>") };
    let thought = Message { kind: MessageKind::Thinking, ..samples::message(2, "Hmm") };
    let note = Message { kind: MessageKind::Status, ..samples::message(4, "A note") };
    let failure = Message { kind: MessageKind::Error, ..samples::message(5, "It broke") };
    let html = task_page(
        SessionState::Failed,
        vec![prompt, thought, samples::message(3, "Done."), note, failure],
    );
    let body = body(&html);
    let places: Vec<_> =
        ["Fix the &lt;parser&gt;", "Thought", "Done.", "A note", "It broke", "Start again"]
            .map(|text| body.find(text).unwrap_or_else(|| panic!("{text} is not there")))
            .into();
    assert!(places.is_sorted(), "{places:?}");
    assert!(body.contains("role=\"log\"") && body.contains("<details class=\"fold\""));
    assert!(body.contains("1.2.3") && body.contains("/home/me/pelorus"), "agent and folder");
    keep("task", html);
}

#[test]
fn k_004_only_what_the_agent_is_writing_is_marked_so() {
    let messages = || vec![samples::message(1, "one"), samples::message(2, "two")];
    let running = task_page(SessionState::Running, messages());
    assert_eq!(count(&running, "data-state=\"streaming\""), 1);
    assert_eq!(count(&running, "aria-busy=\"true\""), 1);
    assert!(body(&running).contains("Stop"), "a turn can be stopped");
    let ended = task_page(SessionState::WaitingForInput, messages());
    assert_eq!(count(&ended, "data-state=\"streaming\""), 0);
    assert_eq!(count(&ended, "aria-busy"), 0);
}

#[test]
fn q_007_an_interrupted_turn_says_so_and_offers_to_go_on() {
    let mut session = samples::session(SessionState::WaitingForInput);
    session.turn = Some(model::Turn {
        ended_at: Some(samples::NOW),
        outcome: Some(TurnOutcome::Interrupted),
        ..samples::turn()
    });
    let card = samples::card_in(1, SessionState::WaitingForInput);
    let initial = InitialState {
        board: Some(samples::board(vec![card.clone()])),
        task: Some(card),
        session: Some(session),
        ..initial(Page::Task)
    };
    let html = render(&format!("/tasks/{}", samples::task_id(1)), initial);
    assert!(body(&html).contains("Interrupted after 0 s"));
    assert!(body(&html).contains("Start again"));
}

#[test]
fn the_title_of_the_tab_is_text() {
    let card = samples::card(1, "a < b & c");
    let initial = InitialState {
        board: Some(samples::board(vec![card.clone()])),
        task: Some(card),
        ..initial(Page::Task)
    };
    let html = render(&format!("/tasks/{}", samples::task_id(1)), initial);
    assert!(html.contains("<title>a &lt; b &amp; c \u{b7} Kandev</title>"), "{html}");
}

#[test]
fn pages_that_are_not_there_say_so() {
    for path in ["/nope", "/tasks/not-an-id", "/tasks/01010101-0101-0101-0101-010101010101"] {
        let html = render(path, initial(Page::NotFound));
        assert!(body(&html).contains("There is nothing here"), "{path}");
    }
}

#[test]
fn q_002_the_login_page_knows_nothing_and_says_what_to_run() {
    let html = keep("login", render("/login", initial(Page::Login)));
    assert!(body(&html).contains("<code>kandev link</code>"));
    assert!(!body(&html).contains("topbar") && !body(&html).contains("<dialog"));
}

#[test]
fn q_004_the_document_needs_no_inline_style_and_loads_only_what_it_names() {
    for html in [
        board_page(vec![samples::card(1, "one")]),
        task_page(SessionState::Running, vec![samples::message(1, "one")]),
        render("/login", initial(Page::Login)),
    ] {
        assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
        assert_eq!(count(&html, "style=") + count(&html, "<style"), 0, "no inline style");
        assert_eq!(count(&html, "onclick") + count(&html, "javascript:"), 0, "no inline handler");
        assert_eq!(count(&html, "id=\"boot-state\""), 1);
        assert!(html.contains("import init,{hydrate} from \"/assets/kandev-1.js\""), "{html}");
        assert!(html.contains("data-icons=\"/assets/icons-1.svg\""));
    }
}

#[test]
fn without_its_script_the_page_is_only_read() {
    let html = Owner::new().with(|| {
        provide_context(RequestUrl::new("/"));
        provide_context(Assets::default());
        provide_context(samples::boot());
        shell(Assets::default(), samples::boot()).to_html()
    });
    assert_eq!(count(&html, "type=\"module\"") + count(&html, "modulepreload"), 0);
    assert!(html.contains("Backlog"));
}
fn keep(name: &str, html: String) -> String {
    if let Ok(dir) = std::env::var("KEEP_HTML") {
        std::fs::write(format!("{dir}/{name}.html"), &html).unwrap();
    }
    html
}
