//! Slash commands, as they are offered while one is written (K-043).

use model::AgentCommand;

use super::suggestion::Suggestion;

/// The most that are offered at once.
const SHOWN: usize = 8;

/// The commands that a draft may mean: it is a slash and the begin of a name, and nothing behind.
/// Names that begin so come before those that have it inside.
pub fn matching(commands: &[AgentCommand], draft: &str) -> Vec<Suggestion> {
    let Some(begin) = draft.strip_prefix('/').filter(|rest| !rest.contains(char::is_whitespace))
    else {
        return Vec::new();
    };
    let begin = begin.to_lowercase();
    let names = |test: fn(&str, &str) -> bool| {
        let begin = begin.clone();
        commands.iter().filter(move |command| test(&command.name.to_lowercase(), &begin)).cloned()
    };
    let first = names(|name, begin| name.starts_with(begin));
    let inside = names(|name, begin| !name.starts_with(begin) && name.contains(begin));
    first.chain(inside).take(SHOWN).map(|command| suggestion(command, draft)).collect()
}

fn suggestion(command: AgentCommand, draft: &str) -> Suggestion {
    Suggestion {
        insert: format!("/{} ", command.name),
        name: format!("/{}", command.name),
        hint: command.hint,
        text: command.description,
        replaces: 0..draft.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str) -> AgentCommand {
        AgentCommand { name: name.into(), description: String::new(), hint: None }
    }

    fn names(draft: &str) -> Vec<String> {
        let commands = ["replan", "plan", "Status", "mcp"].map(command);
        matching(&commands, draft).into_iter().map(|command| command.name).collect()
    }

    #[test]
    fn k_043_a_slash_and_the_begin_of_a_name_offer_commands() {
        assert_eq!(names("/"), ["/replan", "/plan", "/Status", "/mcp"]);
        assert_eq!(names("/plan"), ["/plan", "/replan"], "what begins so comes first");
        assert_eq!(names("/st"), ["/Status"]);
        for draft in ["", "plan", "/plan now", " /plan", "/x", "/plan\n"] {
            assert!(names(draft).is_empty(), "{draft:?}");
        }
        assert_eq!(matching(&[command("plan")], "/p")[0].accepted("/p"), "/plan ");
    }
}
