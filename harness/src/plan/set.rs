//! Sets single keys of a plan, like a plan file would.

use apps::similar;
use serde::Deserialize;
use toml::{Table, Value};

use super::{Plan, PlanError};

/// Keys that define the experiment: only a command or a file can set them.
const DECIDED: [&str; 7] = ["schema", "experiment", "cases", "sweep", "figure", "quick", "full"];

impl Plan {
    /// Sets a key, such as `seed` or `limits.timeout_s`. A value that is not TOML is a text, and a list of
    /// one value needs no brackets.
    ///
    /// # Errors
    /// If the key does not exist, with the nearest key and all others; or if the plan refuses the value.
    pub fn with_key(&self, key: &str, text: &str) -> Result<Self, PlanError> {
        let refuse = |reason: String| PlanError(format!("--set-plan {key}={text}: {reason}"));
        if DECIDED.contains(&key) {
            return Err(refuse("this key needs a plan file (--plan)".to_owned()));
        }
        let mut table = Table::try_from(self).expect("a plan has only values that TOML has");
        let (tables, last) = key.rsplit_once('.').map_or((None, key), |(tables, last)| (Some(tables), last));
        let mut place = &mut table;
        for name in tables.iter().flat_map(|tables| tables.split('.')) {
            let inner = place.entry(name).or_insert_with(|| Value::Table(Table::new()));
            place = inner.as_table_mut().ok_or_else(|| refuse(format!("{name} does not have keys")))?;
        }
        let value = match (value(text), place.get(last)) {
            (value @ Value::Array(_), Some(Value::Array(_))) => value,
            (only, Some(Value::Array(_))) => Value::Array(vec![only]),
            (value, _) => value,
        };
        place.insert(last.to_owned(), value);
        let plan = Self::deserialize(table).map_err(|error| refuse(reason(error.message(), last)))?;
        Ok(Self { origin: self.origin.clone(), ..plan })
    }
}

/// A text as TOML reads it after `=`, or itself.
fn value(text: &str) -> Value {
    let read = toml::from_str::<Table>(&format!("value = {text}")).ok();
    read.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The parser's message; for an unknown key with the nearest one.
fn reason(message: &str, key: &str) -> String {
    let expected = message.split_once("unknown field").and_then(|(_, rest)| rest.split_once("expected"));
    let Some((_, known)) = expected else { return message.to_owned() };
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let nearest = similar(&known, key).map_or(".".to_owned(), |near| format!("; did you mean {near}?"));
    format!("unknown key{nearest} Keys: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(key: &str, value: &str) -> String {
        Plan::default().with_key(key, value).unwrap_err().to_string()
    }

    #[test]
    fn unknown_keys_and_values_that_the_plan_refuses_are_refused() {
        assert!(refusal("limits.timeout", "7").contains("did you mean timeout_s?"));
        assert!(refusal("seed.x", "7").contains("seed does not have keys"));
        assert!(refusal("seed", "many").contains("many"));
        assert!(refusal("bind", "7").contains("boolean"));
        assert!(refusal("experiment", "halo").contains("plan file"));
    }
}
