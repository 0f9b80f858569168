//! Texts of made-up comparisons: `texts.txt` has the sentences, the table and the decision of each of them, and its JUnit where that matters.

use crate::compare::made::{comparisons, in_states, row};
use crate::compare::{ComparisonRow, Comparisons, Estimate, GateResult, PhaseChange, StateMet, Verdict};
use crate::model::Phase;
use crate::report::case::Disturbance;
use crate::report::compared::Compared;
use crate::report::made::expect_texts;
use crate::stats::launches::SlowGroup;
use Verdict::{Broken, Faster, FewerCopies, MoreCopies, NotCompared, Repaired};
use Verdict::{Same, SameOrFaster, SameOrSlower, Slower, Undecided};

/// Without the explanation of columns.
pub(super) fn text(made: &Comparisons, width: Option<u16>) -> String {
    let Compared { sections, decisions, .. } = made.compared();
    let sections = sections.into_iter().filter(|section| !section.is_answer).collect();
    let text = Compared { sections, decisions, ..Compared::default() }.text(width);
    format!("{}\n{:?}: {}", text.trim_end(), made.gate(), made.decision())
}

fn changed(mut made: Comparisons, change: impl FnOnce(&mut Comparisons)) -> Comparisons {
    change(&mut made);
    made
}

/// States of the machine with their latencies in seconds, and the launches of each side.
fn met(states: &[(f64, [usize; 2])]) -> Vec<StateMet> {
    let of = |(state, &(latency_s, launches)): (usize, &(f64, [usize; 2]))| StateMet {
        state,
        latency_s,
        launches: launches.to_vec(),
    };
    states.iter().enumerate().map(of).collect()
}

const NEAR_AND_FAR: [(f64, [usize; 2]); 2] = [(33e-9, [13, 13]), (160e-9, [13, 12])];

/// A row that is the same in near launches, and has this change in far ones.
fn far(test: &str, ratio: f64, verdict: Verdict) -> ComparisonRow {
    let same = row(test, "ddt", 8, 1.0, Same);
    in_states(&same, &[(33e-9, None), (160e-9, Some((ratio, verdict)))])
}

fn with_states(rows: Vec<ComparisonRow>, states: &[(f64, [usize; 2])]) -> Comparisons {
    changed(comparisons(rows), |made| made.comparisons[0].states = met(states))
}

/// A row of `ddt` with the change relative to its control, next to that control.
fn controlled(ratio: f64, verdict: Verdict, over: Verdict, is_beyond: bool) -> Comparisons {
    let mut row_of = row("a", "ddt", 1, ratio, verdict);
    let change = &mut row_of.changes[0];
    change.control = Some("manual".to_owned());
    change.over_control = change.time.clone().map(|time| Estimate { verdict: over, ..time });
    change.time.as_mut().unwrap().beyond = is_beyond;
    comparisons(vec![row_of, row("a", "manual", 1, 2.57, Slower)])
}

/// A row with a time and a mean, and the verdict on both.
fn by_mean(time: (f64, Verdict), mean: (f64, Verdict), verdict: Verdict) -> ComparisonRow {
    let mut by_mean = row("a", "ddt", 1, time.0, time.1);
    let change = &mut by_mean.changes[0];
    change.mean = row("a", "ddt", 1, mean.0, mean.1).changes.remove(0).time;
    (change.new_mean_s, change.verdict, by_mean.verdict) = (Some(1.02e-5 * mean.0), verdict, verdict);
    by_mean
}

#[test]
fn texts_of_made_up_comparisons() {
    let verdicts = |verdicts: &[Verdict]| {
        comparisons(verdicts.iter().map(|&verdict| row("a", "ddt", 1, 1.0, verdict)).collect())
    };
    let mut far_only_new = far("a", 1.3, Slower);
    far_only_new.changes.push(in_states(&far_only_new, &[(900e-9, None)]).changes.remove(0));
    let other = &mut far_only_new.changes[2];
    (other.state, other.launches, other.verdict) = (2, (0, 4), NotCompared);
    let mut interval = far("a", 1.3, Slower);
    interval.changes[0].verdict = Undecided;
    let near_interval = |low, high| {
        let mut row = interval.clone();
        let time = row.changes[0].time.as_mut().unwrap();
        (time.low, time.high) = (low, high);
        with_states(vec![row], &NEAR_AND_FAR)
    };
    let mut odd = row("wide", "ddt", 100, 65.2, Slower);
    let time = odd.changes[0].time.as_mut().unwrap();
    (time.low, time.high) = (5.8, 728.8);
    let open = |method: &str| row("a", method, 100, 1.1, Undecided);
    let disturbed = |disturbed, oversubscribed| {
        changed(verdicts(&[Same]), |made| {
            made.comparisons[0].disturbance = Disturbance { disturbed, blocks: 100 };
            made.comparisons[0].oversubscribed = oversubscribed;
        })
    };
    let mut texts: Vec<(&str, String)> = Vec::new();
    let mut add = |title: &'static str, made: &[&Comparisons]| {
        texts.push((title, made.iter().map(|made| text(made, None)).collect::<Vec<_>>().join("\n---\n")));
    };
    let bar = ComparisonRow { note: "a|b".to_owned(), ..row("c", "ddt", 1, 22.4, Undecided) };
    let worst = comparisons(vec![row("a", "ddt", 1, 1.0, Same), row("b", "ddt", 1, 1.5, Slower), bar]);
    add("the worst row comes first", &[&worst]);
    let copied = |test: &str, new, verdict| ComparisonRow {
        copies: Some([128.0, new]),
        changes: Vec::new(),
        ..row(test, "ddt", 1, 1.0, verdict)
    };
    let fewer = comparisons(vec![copied("a", 1.5, FewerCopies), copied("b", 128.0, Same)]);
    let more = changed(fewer.clone(), |made| {
        made.comparisons[0].rows.push(copied("c", 129.0, MoreCopies));
    });
    let timed =
        comparisons(vec![ComparisonRow { copies: Some([1.0, 2.0]), ..row("a", "ddt", 1, 0.5, MoreCopies) }]);
    add("copies are counted, and compared without intervals", &[&fewer, &more, &timed]);
    let several = with_states(vec![far_only_new.clone()], &NEAR_AND_FAR);
    let three = [NEAR_AND_FAR[0], NEAR_AND_FAR[1], (900e-9, [1, 0])];
    add("a row has a line for each state", &[&several, &with_states(vec![far_only_new], &three)]);
    let one = with_states(vec![row("a", "ddt", 1, 1.0, Same)], &NEAR_AND_FAR[..1]);
    let both = with_states(vec![far("a", 1.3, Slower), far("b", 1.0, Same)], &NEAR_AND_FAR);
    add("one state, and two", &[&one, &both]);
    add("intervals of two states that do not overlap", &[&near_interval(0.95, 1.05)]);
    add("intervals of two states that overlap", &[&near_interval(0.7, 1.3)]);
    let states = [(31e-9, [13, 13]), (198e-9, [13, 13])];
    let of_two = changed(with_states(vec![far("a", 1.3, Slower)], &states), |made| {
        let mut other = made.comparisons[0].clone();
        other.states = met(&[(197e-9, [13, 13])]);
        other.rows = vec![in_states(&row("a", "ddt", 1, 1.3, Slower), &[(197e-9, None)])];
        made.comparisons.push(other);
    });
    add("states of several comparisons are named by their latency", &[&of_two]);
    let slow = changed(verdicts(&[Slower]), |made| {
        let slow = SlowGroup { launches: 7, of: 30, times: 3.04 };
        made.comparisons[0].rows[0].changes[0].slow.1 = Some(slow);
    });
    add("launches that form a second group", &[&slow]);
    let conditions = changed(verdicts(&[Slower]), |made| {
        made.comparisons[0].conditions = "FI_PROVIDER: tcp and not set".to_owned();
    });
    add("conditions that differ", &[&conditions]);
    for over in [Slower, Faster, Same, Undecided] {
        add("a change that the control shares", &[&controlled(2.60, Slower, over, true)]);
    }
    add("the control has changed the other way", &[&controlled(0.5, Faster, Same, true)]);
    add("a change that may be little", &[&controlled(2.60, Slower, Same, false)]);
    let mut methods = vec![row("c_3000", "ddt", 3000, 22.4, Slower), row("d_4000", "ddt", 4000, 1.5, Slower)];
    methods.extend(
        [("a_100", "ddt"), ("b_200", "ddt"), ("a_100", "mpi_pack")]
            .map(|(test, method)| row(test, method, 100, 1.0, Same)),
    );
    methods.push(row("a", "put_ddt", 100, 1.0, Broken));
    add("methods, the worst first", &[&comparisons(methods)]);
    let small = |method: &str, ratio| row("big_8192", method, 8192, ratio, Faster);
    let faster = comparisons(vec![small("ddt", 0.0042), small("manual", 0.78)]);
    let both = vec![row("a", "ddt", 1, 23.3, Slower), row("a", "manual", 1, 3.0, Slower), small("ddt", 0.5)];
    add("changes of several rows, and none", &[&faster, &comparisons(both), &verdicts(&[Same])]);
    let odd = comparisons(vec![odd, row("sure", "ddt", 100, 38.0, Slower)]);
    add("a single odd launch, with a wide interval", &[&odd]);
    let open = vec![open("ddt"), row("a", "manual", 100, 1.0, Same), open("engine"), open("engine")];
    add("methods that are undecided share a line", &[&comparisons(open)]);
    for (title, all) in [
        ("the gate: same, faster, repaired", &[Same, Faster, Repaired][..]),
        ("the gate: same, same or faster", &[Same, SameOrFaster]),
        ("the gate: same, undecided", &[Same, Undecided]),
        ("the gate: same, same or slower, undecided", &[Same, SameOrSlower, Undecided]),
        ("the gate: slower and broken win over undecided", &[Slower, Broken, Undecided]),
        ("the gate: no rows", &[]),
        ("the gate: not compared", &[NotCompared]),
    ] {
        add(title, &[&verdicts(all)]);
    }
    add("a busy machine", &[&disturbed(25, false), &disturbed(0, true), &disturbed(54, true)]);
    let late = comparisons(vec![by_mean((1.0, Same), (2.8, Slower), Slower)]);
    add("a later mean", &[&late]);
    let faster = by_mean((0.83, Faster), (3.04, Slower), Slower);
    add("a later mean of a faster method", &[&comparisons(vec![faster, row("b", "ddt", 1, 1.0, Same)])]);
    add("a much later mean", &[&comparisons(vec![by_mean((2.0, Slower), (900.0, Slower), Slower)])]);
    add("an earlier mean", &[&comparisons(vec![by_mean((6.27, Slower), (0.04, Faster), Slower)])]);
    let mut phases = row("a", "ddt", 1, 22.4, Slower);
    phases.changes[0].phases = [(Phase::Pack, 1e-6, 1e-6), (Phase::Communicate, 9e-6, 220e-6)]
        .map(|(phase, base_s, new_s)| PhaseChange { phase, base_s, new_s })
        .to_vec();
    let gate = GateResult { passed: false, text: "gate undecided: nothing was compared".to_owned() };
    let gated = Comparisons { gate: Some(gate), ..comparisons(Vec::new()) };
    let phases = vec![phases, row("b<", "ddt", 1, 1.0, Undecided), row("c", "ddt", 1, 1.0, Same)];
    texts.extend([
        ("a narrow terminal", text(&several, Some(60))),
        ("an explanation of states", several.compared().legend),
        ("an explanation of means", late.compared().legend),
        ("Markdown", [&worst, &late].map(|made| made.compared().markdown()).concat()),
        ("JSON of states", serde_json::to_string_pretty(&several).unwrap()),
        ("JUnit of phases", comparisons(phases).junit().unwrap()),
        ("JUnit of states", several.junit().unwrap()),
        ("JUnit of conditions", conditions.junit().unwrap()),
        ("JUnit of a mean", late.junit().unwrap()),
        ("Markdown of a gate", gated.compared().markdown()),
        ("JUnit of a gate", gated.junit().unwrap()),
    ]);
    expect_texts("compare/tests/texts.txt", texts);
}
