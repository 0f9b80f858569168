//! The findings of an answer in sentences: what decides, who is faster, the largest gap, slow repetitions, failures.

use std::collections::BTreeSet;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use indexmap::{IndexMap, IndexSet};

use super::answer::{CLIFF, NEGATIVE_OVERHEAD, STANDS_OUT, painted};
use super::case::{CaseView, measured, share};
use super::names::{distinct, grouped};
use super::table::TableFormat;
use super::units;
use super::verdict::{Against, Claim, Verdict, diagnoses, times_text};
use crate::model::plain::undecorated;
use crate::model::{LOOP, LOOPS, OWN, Quantity, Record};
use crate::stats::SlowSamples;

const FAILED: Style = AnsiColor::Red.on_default().bold();

/// Maximum failures in sentences; the others are counted.
const REPORTED: usize = 5;

/// All findings but the decisions, without codes for colours.
pub(super) fn plain_sentences(form: &'static TableFormat, cases: &[CaseView]) -> Vec<String> {
    let all = decided_by_loop(form, cases).into_iter().chain(sentences(form, cases, true));
    all.map(|sentence| strip_str(&sentence).to_string()).collect()
}

/// The cases in which one hand-written loop is faster than the other method, and another loop slower.
pub(super) fn decided_by_loop(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let of_case = |case: &CaseView| {
        let Claim::OfLoops(claims) = form.answer.claim(case) else { return None };
        let won = |claim: &Claim| claim.winner().map(|(faster, ..)| LOOPS.contains(&faster));
        let has = |result| claims.iter().any(|claim| won(claim) == Some(result));
        let texts: Vec<String> =
            claims.iter().filter(|claim| won(claim).is_some()).map(Claim::text).collect();
        (has(true) && has(false))
            .then(|| format!("{}, {}: {}", case.name().replace("  ", " "), case.side(), texts.join(", but ")))
    };
    // The decision about a single case says it.
    let all: Vec<String> = cases.iter().filter(|_| cases.len() > 1).filter_map(of_case).collect();
    listed("The loop decides", &all)
}

/// A sentence that names the first of some cases.
pub(crate) fn listed(what: &str, cases: &[String]) -> Option<String> {
    let more = cases.len().saturating_sub(REPORTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown = cases[..cases.len().min(REPORTED)].join(", ");
    (!cases.is_empty()).then(|| format!("{what}: {shown}{more}."))
}

/// Other findings, and the failures. With the largest gap, and those about the figures behind verdicts, if there is room.
pub(super) fn sentences(form: &'static TableFormat, cases: &[CaseView], has_more: bool) -> Vec<String> {
    let shown: Vec<CaseView> = cases.iter().filter(|case| !case.has_too_few_launches()).cloned().collect();
    let mut sentences = Vec::new();
    let has_room = has_more || form.answer.more.is_empty();
    if has_room {
        sentences.extend((form.answer.sentences)(&shown));
    }
    sentences.extend(contiguous(form, &shown));
    sentences.extend(interpreted_loop(form, &shown));
    if has_room || shown.len() == 1 {
        sentences.extend(stands_out(form, &shown));
    }
    sentences.extend(slow_repetitions(form, &shown));
    sentences.extend(failures(cases));
    sentences
}

/// The own layouts and arrays that are one run of bytes.
fn contiguous(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let is_own = |test: &str| test == "subarray" || apps::is_of_layouts(test);
    let is_one = |record: &Record| record.segments == 1 && !record.case.params.contains("receive=");
    let is_it = |case: &&CaseView| is_one(case.first()) && is_own(&case.first().case.test);
    let names = cases.iter().filter(is_it).map(|case| case.name().replace("  ", " "));
    let names: Vec<String> = names.collect::<IndexSet<_>>().into_iter().collect();
    let what = "Contiguous, so send the bytes as they are, without a datatype and without a loop";
    listed(what, &names).filter(|_| form.answer.times.contains(&LOOP))
}

/// How to get a faster loop, if a layout is compared with the interpreted one.
fn interpreted_loop(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let is_it = |case: &CaseView| {
        let has_own = case.methods().any(|record| record.method == OWN);
        apps::is_of_layouts(&case.first().case.test) && !has_own && !case.loops_or_ddt().is_empty()
    };
    let advice = "`loop` is interpreted; a compiled loop is often faster: `ddtbench layout ... --write-loop c > mine.c`, then `--pack mine.c`.";
    (form.answer.times.contains(&LOOP) && cases.iter().any(is_it)).then(|| advice.to_owned())
}

/// The decision on each MPI, in each state of the machine, if short without intervals. These sentences come first.
pub(super) fn decisions(form: &'static TableFormat, cases: &[CaseView], is_short: bool) -> Vec<String> {
    let shown: Vec<CaseView> = cases.iter().filter(|case| !case.has_too_few_launches()).cloned().collect();
    let sides = grouped(&shown, |case| case.side_in_all_states());
    let of_side = |(side, cases): (String, Vec<&CaseView>)| {
        let states = grouped(cases.iter().copied(), |case| case.own_state());
        let has_several = distinct(cases.iter().map(|case| &case.first().case)).len() > 1;
        let each = states.into_iter().map(|(state, cases)| {
            let state = state.map_or_else(String::new, |state| format!("{state}: "));
            let only = match &cases[..] {
                [case] if has_several => format!("only {}: ", case.first().case.test),
                _ => String::new(),
            };
            state + &only + &decision(form, &cases, is_short)
        });
        let failed = failed_methods(form, &cases);
        let begins_with_state = failed.is_empty() && cases.iter().any(|case| case.own_state().is_some());
        let separator = if begins_with_state { ", " } else { ": " };
        format!("{side}{separator}{failed}{}.", each.collect::<Vec<_>>().join("; "))
    };
    sides.into_iter().map(of_side).collect()
}

/// The methods of the verdict that have failed.
fn failed_methods(form: &'static TableFormat, cases: &[&CaseView]) -> String {
    let is_failure = |record: &&Record| {
        let is_asked = form.answer.times.contains(&&*record.method);
        is_asked && !(record.outcome.is_measured() || record.outcome.is_lacking())
    };
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for record in cases.iter().flat_map(|case| case.methods()).filter(is_failure) {
        *counts.entry(&record.method).or_default() += 1;
    }
    let text = |(method, count): (&str, usize)| {
        let method = if method == OWN { "your loop" } else { method };
        let of = if cases.len() > 1 { format!(" in {count} of {}", cases.len()) } else { String::new() };
        format!("{method} failed{of}")
    };
    let failed: Vec<String> = counts.into_iter().map(text).collect();
    if failed.is_empty() { String::new() } else { format!("{} (see below); ", failed.join(", ")) }
}

/// Advice if a method is the faster one, of a loop and a datatype.
fn advice(faster: &str, slower: &str) -> Option<&'static str> {
    let is_loop = |name: &str| LOOPS.contains(&name);
    match faster {
        OWN if slower == DDT => Some("pack by your loop"),
        LOOP if slower == DDT => Some("pack by a loop"),
        loops if is_loop(loops) && slower == DDT => Some("pack by hand"),
        DDT if is_loop(slower) => Some("use the datatype"),
        _ => None,
    }
}

const DDT: &str = "ddt";

/// The decision of a case's claim, with the time that it saves.
fn decision_of(case: &CaseView, claim: &Claim) -> String {
    let saved = || {
        let (faster, slower, times) = claim.winner()?;
        let (advice, saved, ratio) =
            (advice(faster, slower)?, saving(case, slower, times.0)?, times_text(times));
        Some(format!("{advice}: saves {saved} ({faster} is {ratio} times as fast as {slower})"))
    };
    saved().unwrap_or_else(|| claim.text())
}

/// The saved part of the slower method's median, as much as their ratio says.
fn saving(case: &CaseView, slower: &str, ratio: f64) -> Option<String> {
    let median = case.methods().find(|record| record.method == slower)?.median_s?;
    let [saved, of] = [(1.0 - 1.0 / ratio) * median, median].map(units::seconds);
    Some(format!("{saved} of {of}"))
}

/// How often each of two methods is faster, on one MPI in one state.
fn decision(form: &'static TableFormat, cases: &[&CaseView], is_short: bool) -> String {
    let claims: Vec<Claim> = cases.iter().map(|case| form.answer.claim(case)).collect();
    let compares = !claims.iter().any(|claim| matches!(claim, Claim::Diagnosis { .. }));
    if let Some(known) = without_verdict(form, cases).filter(|_| compares) {
        return known;
    }
    if let ([claim], [case]) = (&claims[..], cases) {
        return decision_of(case, claim);
    }
    // Pairs of a faster and a slower method, the number of cases, and the most certain large factor with its case.
    type Pair<'a> = ((&'a str, &'a str), usize, ((f64, f64, f64), &'a CaseView<'a>));
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (claim, &case) in claims.iter().zip(cases) {
        let Some((faster, slower, times)) = claim.winner() else { continue };
        match pairs.iter_mut().find(|pair| pair.0 == (faster, slower)) {
            // By the near ends of the intervals, because a wide one may reach anywhere.
            Some(pair) => {
                (pair.1, pair.2) = (pair.1 + 1, if times.1 > pair.2.0.1 { (times, case) } else { pair.2 })
            }
            None => pairs.push(((faster, slower), 1, (times, case))),
        }
    }
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.1));
    // With the set, if there are several.
    let name = |case: &CaseView| {
        let test = &case.first().case.test;
        let is_other = |other: &&CaseView| other.first().case.test == *test && other.set() != case.set();
        if cases.iter().any(is_other) { case.name().replace("  ", " ") } else { test.clone() }
    };
    let mut parts: Vec<String> = pairs
        .iter()
        .map(|((faster, slower), count, (most, case))| {
            let (of, test) = (claims.len(), name(case));
            let factor = match is_short {
                true => format!("{faster} {}x", times(most.0)),
                false => format!("{faster} is {} times as fast as {slower}", times_text(*most)),
            };
            match advice(faster, slower) {
                Some(advice) => {
                    let saved = saving(case, slower, most.0);
                    let saved = saved.map_or_else(String::new, |saved| format!(", saving {saved}"));
                    format!("{advice} in {count} of {of} ({test}: {factor}{saved})")
                }
                None => format!("{faster} is faster than {slower} in {count} of {of} ({test}: {factor})"),
            }
        })
        .collect();
    parts.extend(diagnoses(&claims));
    let count = |is: &dyn Fn(&Claim) -> bool| claims.iter().filter(|claim| is(claim)).count();
    let open = |of: Verdict| count(&|claim| matches!(claim, Claim::Open { verdict, .. } if *verdict == of));
    let rest = [
        (count(&|claim| matches!(claim, Claim::OfLoops(_))), "depends on the loop"),
        (count(&|claim| matches!(claim, Claim::MeanDiffers { .. })), "median and mean disagree"),
        (open(Verdict::Undecided), Verdict::Undecided.name()),
        (open(Verdict::NotCompared), Verdict::NotCompared.name()),
    ];
    let rest = rest.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(rest.map(|(count, what)| format!("{what} in {count}")));
    parts.join("; ")
}

/// The results if no case has two comparable methods, and what to measure for a verdict. `None` if one has.
fn without_verdict(form: &'static TableFormat, cases: &[&CaseView]) -> Option<String> {
    let names: BTreeSet<&str> =
        cases.iter().flat_map(|case| case.methods()).filter(|r| measured(r)).map(|r| &*r.method).collect();
    if names.is_empty() || cases.iter().any(|case| compared(form, case) > 1) {
        return None;
    }
    let overheads = names.iter().filter_map(|name| {
        let of = |case: &&CaseView| {
            let record = case.methods().find(|record| record.method == *name)?;
            let shown = share(record, Quantity::OverheadReference);
            Some((record.value(Quantity::OverheadReference)?, shown))
        };
        let mut shares: Vec<_> = cases.iter().filter_map(of).collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let text = |[share, interval]: &[String; 2]| match interval.as_str() {
            "" => format!("{share} (no interval)"),
            _ => format!("{share} {interval}"),
        };
        let (least, most) = (text(&shares.first()?.1), text(&shares.last()?.1));
        let shares = if least == most { least } else { format!("{least} to {most}") };
        Some(format!("{shares} of the time of {name} is pack overhead"))
    });
    let overheads: Vec<String> = overheads.collect();
    let of = match cases {
        [one] => format!(" in {}", one.name().replace("  ", " ")),
        _ => format!(" in {} cases", cases.len()),
    };
    let known = match &overheads[..] {
        // A reference without an interval has no meaning yet.
        [] => {
            let is_reference = |name: &&str| (form.method)(name).is_some_and(|method| method.is_reference);
            let own: Vec<&str> = names.iter().copied().filter(|name| !is_reference(name)).collect();
            let alone = if own.is_empty() { names.into_iter().collect() } else { own };
            format!("only {} was measured", alone.join(", "))
        }
        _ => format!("{}{of}", overheads.join("; ")),
    };
    // Layouts have no hand-written loops.
    let is_layout = cases.iter().all(|case| apps::is_of_layouts(&case.first().case.test));
    let wanted =
        form.answer.methods.iter().map(|&name| if is_layout && name == "manual" { LOOP } else { name });
    let wanted: Vec<&str> = wanted.collect();
    // Methods that failed are not suggested.
    let is_asked_for =
        |name: &str| cases.iter().any(|case| case.methods().any(|record| record.method == name));
    let missing: Vec<&str> = wanted.iter().copied().filter(|method| !is_asked_for(method)).collect();
    let advice = match (&wanted[..], &missing[..]) {
        ([], _) => "; for a verdict, measure a second method".to_owned(),
        (_, []) => String::new(),
        (all, missing) => {
            format!("; for a verdict, measure {} too: -m {}", missing.join(" and "), all.join(","))
        }
    };
    Some(known + &advice)
}

/// The number of comparable methods of a case: methods for contiguous bytes do not move arrays.
fn compared(form: &'static TableFormat, case: &CaseView) -> usize {
    let is_reference =
        |record: &&Record| (form.method)(&record.method).is_some_and(|method| method.is_reference);
    case.methods().filter(|record| measured(record) && !is_reference(record)).count()
}

fn times(value: f64) -> String {
    let text = times_text((value, value, value));
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// An explanation of overheads below 0, if one is shown to be below.
pub(super) fn negative_overheads(cases: &[CaseView]) -> Option<String> {
    let is_negative = |record: &Record| {
        record
            .figure(Quantity::OverheadReference)
            .and_then(|figure| figure.high)
            .is_some_and(|high| high < 0.0)
    };
    cases.iter().flat_map(CaseView::methods).any(is_negative).then(|| NEGATIVE_OVERHEAD.to_owned())
}

/// The method with the largest ratio to the fastest of its case. `None` if none is certainly large.
fn stands_out(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let mut all: Vec<(Against, &CaseView)> = Vec::new();
    for case in cases {
        let is_whole = |name: &str| (form.method)(name).is_some_and(|method| method.array_to_array);
        let ratios = case.methods().filter(|record| is_whole(&record.method));
        let ratios = ratios
            .filter_map(|record| Against::from_record(record, record.figure(Quantity::TimeOverFastest)));
        all.extend(ratios.map(|ratio| (ratio, case)));
    }
    all.retain(|(ratio, _)| !ratio.unsteady && ratio.low >= STANDS_OUT);
    // Sorted by the lower end, because a wide interval may reach anywhere.
    all.sort_by(|a, b| b.0.low.total_cmp(&a.0.low));
    let (ratio, case) = all.first()?;
    let fastest = case.methods().find_map(|record| record.fastest.as_deref()).unwrap_or_default();
    let more = match all.len() - 1 {
        0 => String::new(),
        more => {
            let results = if more == 1 { "result is" } else { "results are" };
            format!(" {more} other {results} at least {STANDS_OUT} times slower than the fastest method.")
        }
    };
    let what = format!(
        "{} of {}{} takes {} times as long as {fastest}.",
        ratio.name,
        case.name().replace("  ", " "),
        other_conditions(case, cases),
        times_text((ratio.value, ratio.low, ratio.high)),
    );
    Some(format!("Largest gap: {}{more}", painted(CLIFF, &what)))
}

/// The conditions of a case, unless all cases have them.
fn other_conditions(case: &CaseView, cases: &[CaseView]) -> String {
    let (place, conditions) = (case.place(), case.conditions());
    if cases.iter().all(|other| other.conditions() == conditions) {
        return String::new();
    }
    let is_one_place = cases.iter().all(|other| other.place() == place);
    format!(" ({})", case.state().filter(|_| is_one_place).unwrap_or(&conditions))
}

/// Slow repetitions are reported if they take this fraction of the time. Without a fault, it was at most 6%
/// in the median launch of any method, also while other programs ran.
pub(super) const SLOW_TIME: f64 = 0.1;

/// Fewer slow repetitions may be a single random event.
const SLOW_LEAST: f64 = 3.0;

/// The method whose slow repetitions in undisturbed blocks take the largest fraction of its time in most
/// launches, which no median shows. `None` if that is small.
fn slow_repetitions(form: &TableFormat, cases: &[CaseView]) -> Option<String> {
    let is_slow = |record: &&Record| {
        let slow = record.slow().filter(|_| measured(record));
        slow.is_some_and(|slow| slow.time >= SLOW_TIME && slow.samples * record.n as f64 >= SLOW_LEAST)
    };
    let mut all: Vec<(&Record, SlowSamples, &CaseView)> = Vec::new();
    for case in cases {
        all.extend(case.methods().filter(is_slow).filter_map(|record| Some((record, record.slow()?, case))));
    }
    all.sort_by(|a, b| b.1.time.total_cmp(&a.1.time));
    let (record, slow, case) = all.first()?;
    let is_reference = |name: &str| (form.method)(name).is_some_and(|method| method.is_reference);
    let of_references = all[1..].iter().any(|(record, ..)| is_reference(&record.method));
    let more = match all.len() - 1 {
        0 => String::new(),
        more => {
            format!("; and {more} more{}", if of_references { ", contiguous messages too" } else { "" })
        }
    };
    let what = format!(
        "{} of {}{}: 1 in {:.0} repetitions takes {} times as long, {} of the time",
        record.method,
        case.name().replace("  ", " "),
        other_conditions(case, cases),
        1.0 / slow.samples,
        times(slow.times_as_long()?),
        units::percent(slow.time),
    );
    Some(format!("Slow at times: {}{more}.", painted(CLIFF, &what)))
}

/// The failures: a line for each outcome of the same methods on the same MPI, with the cases that have it.
fn failures(cases: &[CaseView]) -> Vec<String> {
    type Failure<'a> = (String, Vec<&'a str>, (&'static str, String));
    let mut lines: IndexMap<Failure<'_>, Vec<String>> = IndexMap::new();
    for case in cases {
        for (outcome, methods) in case.failures() {
            let name = case.name().replace("  ", " ").trim_end().to_owned();
            let ended = (outcome.label(), undecorated(outcome.detail().unwrap_or_default()));
            lines.entry((case.side(), methods, ended)).or_default().push(name);
        }
    }
    let line = |((mpi, methods, (label, detail)), names): (Failure<'_>, Vec<String>)| {
        let what = painted(FAILED, &format!("{} {label}", methods.join(", ")));
        let cases = match &names[..] {
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
            [] => String::new(),
        };
        format!("{cases}, {mpi}: {what}: {detail}")
    };
    let mut all: Vec<String> = lines.into_iter().map(line).collect();
    let more = all.len().saturating_sub(REPORTED);
    all.truncate(REPORTED);
    if more > 0 {
        all.push(format!("{more} more without times: --details shows them."));
    }
    all
}
