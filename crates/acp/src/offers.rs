//! What a session offers, in the forms that agents give it. Lenient: what cannot be read is not
//! offered. Formats: ACP `session/new`, `available_commands_update`, `config_option_update`.

use model::{AgentCommand, AgentOption, Choice, OptionKind, Usage};
use serde_json::Value;

/// The most commands, options and choices of one option.
const MOST: usize = 200;
/// The longest of a name, a value or a description, in bytes.
const LONGEST: usize = 240;

/// The options in the answer to `session/new`, `session/load` or `session/resume`.
pub(crate) fn options(answer: &Value) -> Vec<AgentOption> {
    let mut options = config_options(answer);
    let config = answer.get("configOptions").and_then(Value::as_array);
    // An agent that has both says the same twice.
    let has_category = |name: &str| {
        config.is_some_and(|list| {
            list.iter().any(|option| option.get("category").is_some_and(|it| it == name))
        })
    };
    let modes = [
        ("mode", "Mode", OptionKind::Mode, "/modes", "availableModes", "id", "currentModeId"),
        (
            "model",
            "Model",
            OptionKind::Model,
            "/models",
            "availableModels",
            "modelId",
            "currentModelId",
        ),
    ];
    for (id, name, kind, at, list, key, current) in modes {
        let Some(found) = answer.pointer(at).filter(|_| !has_category(id)) else { continue };
        let choices = choices(found.get(list), key);
        let (Some(value), false) = (text(found, current), choices.is_empty()) else { continue };
        options.push(AgentOption { kind, id: id.into(), name: name.into(), value, choices });
    }
    options
}

/// The options in a `config_option_update`, and in the answer to `session/set_config_option`.
pub(crate) fn config_options(update: &Value) -> Vec<AgentOption> {
    let list = update.get("configOptions").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(config_option).take(MOST).collect()
}

fn config_option(option: &Value) -> Option<AgentOption> {
    let is_select = option.get("type").is_none_or(|kind| kind == "select");
    let id = text(option, "id").filter(|_| is_select)?;
    let choices = choices(option.get("options"), "value");
    let value = text(option, "currentValue")?;
    let name = text(option, "name").unwrap_or_else(|| id.clone());
    (!choices.is_empty()).then_some(AgentOption {
        kind: OptionKind::Config,
        id,
        name,
        value,
        choices,
    })
}

/// Choices, those of groups included.
fn choices(list: Option<&Value>, key: &str) -> Vec<Choice> {
    let mut found = Vec::new();
    for item in list.and_then(Value::as_array).into_iter().flatten() {
        match text(item, key) {
            Some(value) => {
                let name = text(item, "name").unwrap_or_else(|| value.clone());
                found.push(Choice { value, name });
            }
            None => found.extend(choices(item.get("options"), key)),
        }
        if found.len() >= MOST {
            found.truncate(MOST);
            break;
        }
    }
    found
}

/// The commands in an `available_commands_update`.
pub(crate) fn commands(update: &Value) -> Vec<AgentCommand> {
    let list = update.get("availableCommands").and_then(Value::as_array);
    let command = |command: &Value| {
        Some(AgentCommand {
            name: text(command, "name").filter(|name| !name.contains(char::is_whitespace))?,
            description: text(command, "description").unwrap_or_default(),
            hint: command.get("input").and_then(|input| text(input, "hint")),
        })
    };
    list.into_iter().flatten().filter_map(command).take(MOST).collect()
}

/// The mode in a `current_mode_update`.
pub(crate) fn current_mode(update: &Value) -> Option<String> {
    text(update, "currentModeId")
}

/// The figures in a `usage_update`.
pub(crate) fn usage(update: &Value) -> Option<Usage> {
    let number = |key: &str| update.get(key).and_then(Value::as_u64);
    Some(Usage { used: number("used")?, size: number("size").filter(|size| *size > 0)? })
}

/// A text; one that is too long for a value is none, and a longer description is cut.
fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    if text.len() <= LONGEST {
        return Some(text.to_owned());
    }
    (key == "description")
        .then(|| format!("{}\u{2026}", &text[..text.floor_char_boundary(LONGEST)]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn k_042_modes_and_models_are_options_unless_they_are_configured() {
        let modes =
            json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]});
        let models =
            json!({"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]});
        let found = options(&json!({"modes": modes, "models": models}));
        let kinds: Vec<_> = found.iter().map(|option| (option.kind, &*option.value)).collect();
        assert_eq!(kinds, [(OptionKind::Mode, "ask"), (OptionKind::Model, "m")]);

        let config = json!([{"id": "x", "name": "Mode", "category": "mode", "type": "select",
            "currentValue": "plan", "options": [{"value": "plan", "name": "Plan"},
                {"name": "More", "options": [{"value": "go"}]}]},
            {"id": "y", "type": "boolean", "currentValue": true}]);
        let found = options(&json!({"modes": modes, "models": models, "configOptions": config}));
        let kinds: Vec<_> = found.iter().map(|option| (option.kind, &*option.id)).collect();
        assert_eq!(kinds, [(OptionKind::Config, "x"), (OptionKind::Model, "model")]);
        let names: Vec<_> = found[0].choices.iter().map(|choice| &*choice.name).collect();
        assert_eq!(names, ["Plan", "go"]);
    }

    #[test]
    fn k_043_commands_are_bounded_and_need_a_name() {
        let long = "x".repeat(500);
        let found = commands(&json!({"availableCommands": [
            {"name": "plan", "description": long, "input": {"hint": "what"}},
            {"name": "a b"}, {"name": long}, {}, 7]}));
        let [plan] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*plan.name, plan.hint.as_deref()), ("plan", Some("what")));
        assert!(plan.description.len() < 250);
    }

    #[test]
    fn usage_needs_both_figures() {
        assert_eq!(usage(&json!({"used": 5, "size": 10})), Some(Usage { used: 5, size: 10 }));
        for update in [json!({"used": 5}), json!({"used": 5, "size": 0}), json!({"used": "5"})] {
            assert_eq!(usage(&update), None);
        }
    }
}
