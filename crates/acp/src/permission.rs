//! Requests for leave: reading them, and the answer.

use model::PermissionOption;
use serde_json::{Value, json};

/// Names one permission request of one agent process: its JSON-RPC id, whatever its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PermissionKey(pub(crate) Value);

impl From<Value> for PermissionKey {
    fn from(request_id: Value) -> Self {
        Self(request_id)
    }
}

/// The answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// This option was chosen.
    Selected {
        /// The id of the option.
        option_id: String,
    },
    /// The turn was cancelled first.
    Cancelled,
}

impl PermissionOutcome {
    /// The `result` of the response.
    pub(crate) fn into_result(self) -> Value {
        match self {
            Self::Selected { option_id } => {
                json!({"outcome": {"outcome": "selected", "optionId": option_id}})
            }
            Self::Cancelled => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }
}

/// The options of a request; those without an id cannot be chosen and are left out.
pub(crate) fn options(params: &Value) -> Vec<PermissionOption> {
    let listed = params.get("options").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(option).collect()
}

fn option(value: &Value) -> Option<PermissionOption> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let id = text("optionId")?;
    Some(PermissionOption {
        id: id.to_owned(),
        name: text("name").unwrap_or(id).to_owned(),
        kind: text("kind").unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_017_options_that_cannot_be_chosen_are_left_out() {
        let params = json!({"options": [
            {"optionId": "once", "name": "Yes", "kind": "allow_once"}, 5,
            {"name": "no id"}, {"optionId": "x"}
        ]});
        let options = options(&params);
        let ids: Vec<_> = options.iter().map(|o| (o.id.as_str(), o.name.as_str())).collect();
        assert_eq!(ids, [("once", "Yes"), ("x", "x")]);
    }

    #[test]
    fn s_017_a_request_without_options_has_none() {
        for params in [json!(null), json!({}), json!({"options": {}}), json!([])] {
            assert_eq!(options(&params), [], "{params}");
        }
    }
}
