//! The row of a shell command: the command, where it runs, how it stands, and its output on demand
//! (S-040 to S-049).

use leptos::{ev, html, prelude::*};
use model::{MessageId, MessageView, OutputSummary, Timestamp, ToolStatus, wire::Request};
use web_sys::{Element, HtmlButtonElement};

use super::{
    composer::FIELD,
    output::{OutputDriver, OutputRegion},
};
use crate::{
    browser,
    context::{Act, shared},
    controls::Problem,
    dynamic::part,
    icon::{Icon, icon, named_icon},
    state::command::{CommandState, exit_text, output_text, reveals_by, running_text},
};

/// What the row shows of its message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Facts {
    command: String,
    work_dir: Option<String>,
    background: bool,
    is_pending: bool,
    output: OutputSummary,
}

fn facts(message: &MessageView) -> Facts {
    message.shell_exec().map_or_else(Facts::default, |exec| Facts {
        command: exec.command.clone(),
        work_dir: exec.work_dir.clone(),
        background: exec.background,
        is_pending: message.metadata.status == Some(ToolStatus::Pending),
        output: exec.output.clone(),
    })
}

/// The row of a shell command.
#[component]
pub fn ShellRow(message: RwSignal<MessageView>, survivors: Memo<Vec<MessageId>>) -> impl IntoView {
    let id = message.with_untracked(|message| message.id);
    let runs_on = Memo::new(move |_| survivors.with(|survivors| survivors.contains(&id)));
    let facts = Memo::new(move |_| message.with(facts));
    let state = Memo::new(move |_| {
        let status = message.with(|message| message.metadata.status);
        facts.with(|facts| CommandState::new(status, &facts.output))
    });
    let is_pending = Memo::new(move |_| facts.with(|facts| facts.is_pending));
    let offers_output = Memo::new(move |_| facts.with(|facts| facts.output.offers_output()));
    let exit = Memo::new(move |_| facts.with(|facts| exit_text(state.get(), &facts.output)));
    let began = message.with_untracked(|message| message.created_at);
    let work_dir = part(move || {
        facts
            .with(|facts| facts.work_dir.clone())
            .map(|dir| view! { <span class="shell__cwd">{dir}</span> })
    });
    let disclosure =
        move || offers_output.get().then(|| view! { <Output message facts state exit /> });
    view! {
        <div class="work">
            <div
                class="shell"
                data-state=move || state.get().name()
                data-pending=move || is_pending.get().then_some("")
            >
                {part(move || named_icon(state.get().icon(), "shell__icon", state.get().label()))}
                <Command facts />
                <RowStatus facts state exit offers_output began />
                {work_dir}
                {part(move || runs_on.get().then(|| view! { <RunsOn message /> }))}
                {disclosure}
            </div>
        </div>
    }
}

/// The whole command. Before the agent has named it, that is said.
#[component]
fn Command(facts: Memo<Facts>) -> impl IntoView {
    let command = Memo::new(move |_| facts.with(|facts| facts.command.clone()));
    part(move || match command.get() {
        command if command.is_empty() => {
            view! { <span class="shell__command muted">"Command not named yet"</span> }.into_any()
        }
        command => view! { <code class="shell__command">{command}</code> }.into_any(),
    })
}

/// What stands at the end of the command's line: that it runs, that it was cancelled, and how it
/// ended where no disclosure says so.
#[component]
fn RowStatus(
    facts: Memo<Facts>,
    state: Memo<CommandState>,
    exit: Memo<Option<String>>,
    offers_output: Memo<bool>,
    began: Timestamp,
) -> impl IntoView {
    let clock = shared().clock;
    let pace = Memo::new(move |_| facts.with(|facts| (facts.is_pending, facts.background)));
    let word = move || match state.get() {
        CommandState::Running => {
            let (is_pending, background) = pace.get();
            Some(running_text(is_pending, background, &clock.elapsed(began)))
        }
        CommandState::Cancelled => Some("Cancelled".to_owned()),
        CommandState::Succeeded | CommandState::Failed | CommandState::Unknown => None,
    };
    let ending = part(move || (!offers_output.get()).then(|| view! { <Exit facts exit /> }));
    view! { <span class="shell__status">{part(move || word().map(|text| view! { <span>{text}</span> }))} {ending}</span> }
}

/// That the command runs although it was cancelled, and the way to end it (S-025).
#[component]
fn RunsOn(message: RwSignal<MessageView>) -> impl IntoView {
    let act = Act::new();
    let (session_id, message_id) =
        message.with_untracked(|message| (message.session_id, message.id));
    let end = move |_| {
        act.send_then(Request::CommandEnd { session_id, message_id }, || browser::focus(FIELD));
    };
    view! {
        <div class="shell__survivor" role="status">
            <span>"Its process still runs."</span>
            <button
                class="button"
                type="button"
                disabled=move || act.is_pending.get()
                on:click=end
            >
                {icon(Icon::Stop)}
                "End process"
            </button>
            <Problem text=act.error />
        </div>
    }
}

/// How the command ended. It stands once in a row.
#[component]
fn Exit(facts: Memo<Facts>, exit: Memo<Option<String>>) -> impl IntoView {
    let signal = Memo::new(move |_| {
        facts.with(|facts| facts.output.signal.as_ref().map(ToString::to_string))
    });
    part(move || {
        exit.get().map(|text| {
            let signal = signal.get().map(|signal| {
                view! { <span class="shell__signal">{format!("Signal {signal}")}</span> }
            });
            view! {
                {signal}
                <span class="shell__exit">{text}</span>
            }
        })
    })
}

/// The output's disclosure: closed until it is opened, and nothing is asked for before.
#[component]
fn Output(
    message: RwSignal<MessageView>,
    facts: Memo<Facts>,
    state: Memo<CommandState>,
    exit: Memo<Option<String>>,
) -> impl IntoView {
    let (session_id, id) = message.with_untracked(|message| (message.session_id, message.id));
    let driver = OutputDriver::new(session_id, id);
    let region_id = format!("output-{id}");
    let controls = region_id.clone();
    let button = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        if state.get().is_terminal() {
            driver.turned_terminal();
        }
    });
    Effect::new(move |had_answer: Option<bool>| {
        let has_answer = driver.has_answer();
        if has_answer && had_answer == Some(false) {
            request_animation_frame(move || reveal(button));
        }
        has_answer
    });
    on_cleanup(move || driver.close());
    let toggle = move |_: ev::MouseEvent| {
        let stay = stay_in_place(button);
        driver.toggle(state.get_untracked().is_terminal());
        stay();
    };
    let words = part(move || facts.with(|facts| output_text(state.get(), &facts.output)));
    let region = part(move || {
        driver.is_open().then(|| {
            let label = facts.with_untracked(|facts| format!("Output of {}", facts.command));
            view! { <OutputRegion driver id=region_id.clone() label /> }
        })
    });
    view! {
        <button
            class="shell__toggle"
            type="button"
            aria-expanded=move || driver.is_open().to_string()
            aria-controls=move || driver.is_open().then(|| controls.clone())
            node_ref=button
            on:click=toggle
        >
            <span>{words}</span>
            <Exit facts exit />
        </button>
        {region}
    }
}

/// Notes where the button stands. What it returns puts it back there once the page has changed:
/// the log keeps to its end, so what opens would push the button away from under the pointer.
fn stay_in_place(button: NodeRef<html::Button>) -> impl FnOnce() {
    let top = move || Some(placed(button)?.0.get_bounding_client_rect().top());
    let before = top();
    move || {
        request_animation_frame(move || {
            if let (Some(before), Some(after), Some((_, log))) = (before, top(), placed(button)) {
                scroll(&log, after - before);
            }
        });
    }
}

/// Scrolls to the output that has come under the button.
fn reveal(button: NodeRef<html::Button>) {
    let Some((button, log)) = placed(button) else { return };
    let Some(output) = button.next_element_sibling() else { return };
    let (top, frame) = (button.get_bounding_client_rect().top(), log.get_bounding_client_rect());
    let bottom = output.get_bounding_client_rect().bottom();
    scroll(&log, reveals_by(top, bottom, frame.top(), frame.bottom()));
}

/// The button and its log, while they are on the page.
fn placed(button: NodeRef<html::Button>) -> Option<(HtmlButtonElement, Element)> {
    let button = button.try_get_untracked()??;
    let log = button.closest(".chat__log").ok()??;
    Some((button, log))
}

fn scroll(log: &Element, by: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "positions on a page are small")]
    let by = by.round() as i32;
    log.set_scroll_top(log.scroll_top() + by);
}
