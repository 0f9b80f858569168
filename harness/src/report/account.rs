//! Date, host and command of a run, for pages and pictures.

use serde_json::Value;

use super::names::distinct;
use crate::model::{LOOPS, OWN, Record, mpi_label};

/// The machine, the MPIs and the time of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// When it began, to the minute, without the time zone.
    pub date: String,
    pub host: String,
    /// Its processor and hardware threads.
    pub machine: String,
    pub command: String,
    /// The launcher of each MPI, and the variables that steer it: `mpich: mpiexec FI_PROVIDER=tcp`.
    pub settings: Vec<String>,
    /// How the hand-written loops of each MPI's rank program were compiled, as far as that was recorded.
    pub loops: Vec<String>,
    /// The user's loop, and how it was compiled.
    pub own_loop: Option<String>,
    /// Notes on its results: settings that were added, conditions in which its parts differ.
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
        let quoted = |word: String| match is_plain(&word) {
            true => word,
            false => shlex::try_quote(&word).map(Into::into).unwrap_or(word),
        };
        let arguments = arguments.iter().map(text).enumerate();
        let arguments: Vec<String> =
            arguments.map(|(i, word)| quoted(if i == 0 { program(&word) } else { word })).collect();
        let mpis = || account["mpis"].as_array().into_iter().flatten();
        Account {
            settings: mpis().map(settings).collect(),
            loops: mpis().filter_map(|mpi| compiled(mpi["rank_program"]["build"].as_str()?)).collect(),
            own_loop: account["own_loop"].as_str().map(str::to_owned),
            date: text(&account["date"]).chars().take(16).collect::<String>().replace('T', " "),
            host: text(&machine["host"]),
            machine: format!("{}, {} hardware threads", text(&machine["cpu_model"]), machine["cpus"]),
            command: arguments.join(" "),
            notes: account["notes"].as_array().into_iter().flatten().map(text).collect(),
        }
    };
    serde_json::Deserializer::from_str(environments).into_iter().map_while(Result::ok).map(account).collect()
}

/// How the hand-written loops of these runs were compiled. `None` if that was not recorded, or if no loop was measured.
pub fn loops(accounts: &[Account], records: &[Record]) -> Option<String> {
    let all = distinct(accounts.iter().flat_map(|account| &account.loops));
    let has = |wanted: &dyn Fn(&str) -> bool| records.iter().any(|record| wanted(&record.method));
    let own = distinct(accounts.iter().flat_map(|account| &account.own_loop));
    let all = [
        ("own", own, has(&|method| method == OWN)),
        ("Loops", all, has(&|method| LOOPS[1..].contains(&method))),
    ];
    let sentences = all.into_iter().filter(|(_, texts, is_shown)| *is_shown && !texts.is_empty());
    let sentences = sentences.map(|(name, texts, _)| {
        let texts: Vec<&str> = texts.into_iter().map(String::as_str).collect();
        format!("{name}: {}.", texts.join("; or "))
    });
    Some(sentences.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

/// A build as the rank program reports it, in short: compiler, level and instruction set of the plain loops,
/// and vectors of the tuned ones. `None` if it has another form.
fn compiled(build: &str) -> Option<String> {
    let (compiler, rest) = build.split_once(" (")?;
    let (_, rest) = rest.split_once("), ")?;
    let architecture = rest.split('-').next()?;
    let (_, rest) = rest.split_once(", opt-level ")?;
    let (level, rest) = rest.split_once(", RUSTFLAGS '")?;
    let (flags, tuned) = rest.rsplit_once('\'')?;
    let set = if flags.is_empty() { "baseline".to_owned() } else { format!("with {flags}") };
    let tuned = tuned.replace("tuned loops:", "tuned:").replace(", chosen at run time", "");
    Some(format!("{compiler}, opt-level {level}, {architecture} {set}{tuned}"))
}

/// Whether a shell takes a word as it is; `shlex` would quote commas and equals signs, too.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "+-./:@_=,%".contains(c))
}

fn settings(account: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let label = mpi_label(&text(&account["mpi"]["name"]), &text(&account["variant"]));
    let variables = ["settings", "added_settings"].into_iter().filter_map(|name| account[name].as_object());
    let variables = variables.flatten().map(|(name, value)| format!("{name}={}", text(value)));
    let launcher = Some(text(&account["launcher"])).filter(|launcher| !launcher.is_empty());
    let all = launcher.into_iter().chain(variables).collect::<Vec<_>>().join(" ");
    format!("{label}: {}", if all.is_empty() { "default settings" } else { &all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_each_mpi() {
        let text = r#"{"mpis": [
            {"mpi": {"name": "mpich"}, "variant": "tcp", "settings": {"FI_PROVIDER": "tcp"}, "added_settings": {"A": "1"},
             "launcher": "mpiexec -bind-to core"},
            {"mpi": {"name": "openmpi"}, "variant": ""}]}"#;
        let settings = accounts(text).remove(0).settings;
        assert_eq!(
            settings,
            ["mpich:tcp: mpiexec -bind-to core FI_PROVIDER=tcp A=1", "openmpi: default settings"]
        );
    }

    #[test]
    fn the_loops_of_a_run_are_described_by_the_build_of_its_rank_programs() {
        let build = |flags: &str, tuned: &str| {
            format!(
                r#"{{"rank_program": {{"build": "rustc 1.95.0 (59807616e 2026-04-14), x86_64-unknown-linux-gnu (fxsr,sse,sse2), opt-level 3, RUSTFLAGS '{flags}'{tuned}"}}}}"#
            )
        };
        let text = |mpis: &[String]| {
            let accounts = accounts(&format!(r#"{{"mpis": [{}]}}"#, mpis.join(", ")));
            let record = |method: &str| Record { method: method.to_owned(), ..Record::default() };
            assert_eq!(loops(&accounts, &[record("ddt")]), None);
            loops(&accounts, &[record("manual")])
        };
        let plain = "rustc 1.95.0, opt-level 3, x86_64 baseline";
        assert_eq!(text(&[build("", ""), build("", "")]), Some(format!("Loops: {plain}.")));
        let tuned = "; tuned loops: vectors of 32 bytes, chosen at run time";
        let native = "rustc 1.95.0, opt-level 3, x86_64 with -C target-cpu=native";
        assert_eq!(
            text(&[build("", tuned), build("-C target-cpu=native", "")]),
            Some(format!("Loops: {plain}; tuned: vectors of 32 bytes; or {native}."))
        );
        assert_eq!(text(&["{}".to_owned(), r#"{"rank_program": {"build": "rustc"}}"#.to_owned()]), None);
    }

    #[test]
    fn a_run_is_described_by_its_date_host_and_command() {
        let text = r#"{"date": "2026-11-22T19:53:33+00:00", "command_line": ["/x/ddtbench", "run", "-m", "manual,ddt", "--layout", "vector(8, 1, 4, int)"],
            "machine": {"host": "h", "cpu_model": "c", "cpus": 2}, "notes": ["A=1 was set."]}"#;
        let all = accounts(&format!("{text}{text}"));
        assert_eq!((all.len(), &all[1].notes[..]), (2, &["A=1 was set.".to_owned()][..]));
        assert_eq!(
            all[0].text(),
            "2026-11-22 19:53, h: c, 2 hardware threads; command: ddtbench run -m manual,ddt --layout 'vector(8, 1, 4, int)'"
        );
        assert!(accounts("").is_empty());
    }
}
