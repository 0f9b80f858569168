//! Date, host and command of a run, for pages and pictures.

use serde_json::Value;

/// The circumstances of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// When it began, to the minute, without the time zone.
    pub date: String,
    /// The host.
    pub host: String,
    /// Its processor and hardware threads.
    pub machine: String,
    /// The command line.
    pub command: String,
    /// Notes on its results: settings that were added, differences between its parts.
    pub notes: Vec<String>,
}

impl Account {
    /// All of it in one line.
    pub fn text(&self) -> String {
        let Self { date, host, machine, command, .. } = self;
        format!("{date}, {host}: {machine}; command: {command}")
    }
}

/// The accounts in one or more texts of `environment.json`. Empty for a run without it.
pub fn accounts(environments: &str) -> Vec<Account> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let account = |account: Value| {
        let machine = &account["machine"];
        let arguments = account["command_line"].as_array().cloned().unwrap_or_default();
        let program = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = arguments.iter().map(text).enumerate();
        let arguments: Vec<String> =
            arguments.map(|(i, word)| if i == 0 { program(&word) } else { word }).collect();
        Account {
            date: text(&account["date"]).chars().take(16).collect::<String>().replace('T', " "),
            host: text(&machine["host"]),
            machine: format!("{}, {} hardware threads", text(&machine["cpu_model"]), machine["cpus"]),
            command: arguments.join(" "),
            notes: account["notes"].as_array().into_iter().flatten().map(text).collect(),
        }
    };
    serde_json::Deserializer::from_str(environments).into_iter().map_while(Result::ok).map(account).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_described_by_its_date_host_and_command() {
        let text = r#"{"date": "2026-11-22T19:53:33+00:00", "command_line": ["/x/ddtbench", "figure", "cmb-5"],
            "machine": {"host": "h", "cpu_model": "c", "cpus": 2}, "notes": ["A=1 was set."]}"#;
        let all = accounts(&format!("{text}{text}"));
        assert_eq!((all.len(), &all[1].notes[..]), (2, &["A=1 was set.".to_owned()][..]));
        assert_eq!(
            all[0].text(),
            "2026-11-22 19:53, h: c, 2 hardware threads; command: ddtbench figure cmb-5"
        );
        assert!(accounts("").is_empty());
    }
}
