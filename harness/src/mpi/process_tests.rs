//! Tests with shells instead of launchers.

use super::*;

fn shell(script: &str) -> Running {
    let args = vec!["-c".to_owned(), script.to_owned()];
    Running::start(&command_line("/bin/sh", args)).unwrap()
}

fn command_line(program: &str, args: Vec<String>) -> CommandLine {
    let (env, without) = (Default::default(), vec![]);
    CommandLine { program: program.into(), args, env, without, signals_are_codes: false }
}

/// All lines and the end.
fn watch(running: &mut Running) -> (Vec<Line>, ExitDescription) {
    let mut lines = Vec::new();
    loop {
        match running.next(Duration::from_secs(20)) {
            Next::Line(line) => lines.push(line),
            Next::Exited(exit) => return (lines, exit),
            other => panic!("{other:?} after {lines:?}"),
        }
    }
}

#[test]
fn lines_and_the_exit_code() {
    let (mut lines, exit) = watch(&mut shell("printf 'one\\r\\ntwo'; printf 'b\\377d\\n' >&2; exit 3"));
    lines.sort_by_key(|line| matches!(line, Line::Err(_)));
    let expected = [Line::Out("one".into()), Line::Out("two".into()), Line::Err("b\u{fffd}d".into())];
    assert_eq!(lines, expected);
    assert_eq!(exit.to_string(), "exit code 3");
}

#[test]
fn exits_as_text() {
    let (_, exit) = watch(&mut shell("kill -SEGV $$"));
    assert_eq!(exit.to_string(), "ended by signal 11, SIGSEGV (segmentation fault)");
    assert_eq!(exit.signal(), Some(libc::SIGSEGV));
    for (code, signals_are_codes) in [(139, false), (139, true), (11, true)] {
        let mut running = shell(&format!("exit {code}"));
        running.signals_are_codes = signals_are_codes;
        let (_, exit) = watch(&mut running);
        assert_eq!(exit.to_string(), format!("exit code {code}, usually SIGSEGV (segmentation fault)"));
        assert_eq!(exit.signal(), Some(libc::SIGSEGV));
        assert!(!exit.success());
    }
    for code in [0, 1, 2, 3, 7, 11, 127, 255] {
        let (_, exit) = watch(&mut shell(&format!("exit {code}")));
        assert_eq!((exit.to_string(), exit.signal()), (format!("exit code {code}"), None));
    }
}

#[test]
fn an_end_that_the_system_has_forgotten_is_not_success() {
    let mut running = shell("exit 0");
    // As the system does if SIGCHLD is ignored.
    let pid = running.child.id().cast_signed();
    // SAFETY: the call accepts a null pointer if the status is not needed.
    assert_eq!(unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) }, pid);
    let (_, exit) = watch(&mut running);
    assert!(!exit.success());
    assert_eq!(exit.to_string(), "ended in an unknown way");
}

#[test]
fn long_lines_come_whole() {
    let (lines, _) = watch(&mut shell("head -c 20000000 /dev/zero | tr '\\0' x; echo"));
    assert!(matches!(&lines[..], [Line::Out(line)] if line.len() == 20_000_000));
}

#[test]
fn nothing_survives_a_kill() {
    // A child, a grandchild in its own session, an orphan, and one that ignores SIGTERM.
    let mut running = shell(
        "sleep 100 & setsid sh -c 'sleep 100 & sleep 100' & (setsid sleep 100 &) ; \
         sh -c 'trap \"\" TERM; sleep 100; sleep 100' & echo ready; wait",
    );
    assert_eq!(running.next(Duration::from_secs(10)), Next::Line(Line::Out("ready".into())));
    while running.members().len() < 8 {
        thread::sleep(Duration::from_millis(10));
    }
    running.kill();
    assert_eq!(running.members(), Vec::<i32>::new());
    // A shell may report that its child was terminated.
    let end = std::iter::repeat_with(|| running.next(Duration::from_secs(5)))
        .find(|next| !matches!(next, Next::Line(_)));
    assert!(matches!(end, Some(Next::Exited(_))), "{end:?}");
    assert!(matches!(running.next(Duration::ZERO), Next::Exited(_)));
}

#[test]
fn an_orphan_does_not_hold_up_the_end() {
    let mut running = shell("setsid sleep 100000 & exit 7");
    let (_, exit) = watch(&mut running);
    assert_eq!(exit.code, Some(7));
    assert_eq!(running.members(), Vec::<i32>::new());
}

#[test]
fn a_command_that_does_not_exist() {
    let line = command_line("/no/such/mpiexec", vec![]);
    let error = Running::start(&line).unwrap_err().to_string();
    assert!(error.contains("/no/such/mpiexec"), "{error}");
}
