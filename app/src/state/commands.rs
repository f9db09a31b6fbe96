//! Slash commands, as they are offered while one is written (K-043).

use model::AgentCommand;

/// The most that are offered at once.
const SHOWN: usize = 8;

/// The commands that a draft may mean: it is a slash and the begin of a name, and nothing behind.
/// Names that begin so come before those that have it inside.
pub fn matching(commands: &[AgentCommand], draft: &str) -> Vec<AgentCommand> {
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
    first.chain(inside).take(SHOWN).collect()
}

/// The draft that a command makes.
pub fn completed(command: &AgentCommand) -> String {
    format!("/{} ", command.name)
}

/// The place after a step up or down, round the ends.
pub const fn moved(at: usize, count: usize, down: bool) -> usize {
    if count == 0 {
        return 0;
    }
    if down { (at + 1) % count } else { (at + count - 1) % count }
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
        assert_eq!(names("/"), ["replan", "plan", "Status", "mcp"]);
        assert_eq!(names("/plan"), ["plan", "replan"], "what begins so comes first");
        assert_eq!(names("/st"), ["Status"]);
        for draft in ["", "plan", "/plan now", " /plan", "/x", "/plan\n"] {
            assert!(names(draft).is_empty(), "{draft:?}");
        }
        assert_eq!(completed(&command("plan")), "/plan ");
    }

    #[test]
    fn k_071_steps_go_round_the_ends() {
        assert_eq!((moved(0, 3, true), moved(2, 3, true), moved(0, 3, false)), (1, 0, 2));
        assert_eq!(moved(0, 0, true), 0);
    }
}
