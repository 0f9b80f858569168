//! The verdicts on methods, and the sentences about them.

use super::*;

#[test]
fn a_ratio_whose_interval_holds_1_shows_no_difference() {
    let mut records = against_manual([over("ddt", 80.5e-6, "manual", (1.01, 0.99, 1.02))]);
    let text = table(&records, None);
    assert!(text.contains("undecided: manual, ddt; undecided: ddt, manual\n"), "{text}");
    // Medians that differ do not count if the rounds' ratios do not differ.
    records[1].median_s = Some(160e-6);
    assert_eq!(table(&records, None).lines().last(), text.lines().last());
}

#[test]
fn no_verdict_is_drawn_where_the_halves_of_a_ratio_part() {
    let mut records = against_manual([over("ddt", 160e-6, "manual", (2.0, 1.9, 2.1))]);
    records[1].figures.iter_mut().for_each(|figure| figure.unsteady = Some(true));
    let text = table(&records, None);
    assert!(text.contains("undecided, unsteady: manual, ddt; undecided, unsteady: ddt, manual\n"), "{text}");
    // A method that is much slower changes nothing.
    records.push(over("engine", 90e-6, "manual", (1.1, 1.05, 1.15)));
    let text = table(&records, None);
    assert!(
        text.contains(
            "manual is 1.10 [1.05, 1.15] times as fast as engine; undecided, unsteady: ddt, manual\n"
        ),
        "{text}"
    );
}

#[test]
fn nothing_is_concluded_without_an_interval() {
    let mut records = against_manual([over("ddt", 160e-6, "manual", (2.0, 1.9, 2.1))]);
    records[1].figures.iter_mut().for_each(|figure| figure.low = None);
    records[1].blocks = 5;
    let text = unbroken(&records);
    let verdicts = "undecided, too few rounds of ddt; undecided, too few rounds: ddt, manual\n";
    assert!(text.contains(verdicts), "{text}");
    records.iter_mut().for_each(|record| record.launches = 2);
    let text = unbroken(&records);
    assert!(
        text.contains("undecided, too few launches of ddt; undecided, too few launches: ddt, manual\n"),
        "{text}"
    );
    let answer = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
    assert!(!answer.contains("stands out"), "no ratio was looked at: {answer}");
    // Records from before there were ratios.
    records.iter_mut().for_each(|record| record.fastest = None);
    let verdicts = "Fastest method: undecided, no ratios recorded: ddt, manual\n";
    assert!(unbroken(&records).contains(verdicts));
    records[0].add(
        [(Quantity::OverheadReference, 0.123), (Quantity::Gain, 4.56)]
            .map(|(q, value)| Figure::plain(q, value)),
    );
    let text = table(&records, None);
    assert!(text.contains("12%") && !text.contains("4.56"), "{text}");
}

#[test]
fn a_sentence_without_an_interval_has_its_number() {
    let mut manual = record("manual", Phase::RoundTrip, 80e-6);
    manual.figures = vec![Figure::plain(Quantity::OverheadReference, 0.97).against("reference")];
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&[manual], None, None));
    assert!(
        text.contains("mpich: 97% (no interval) of the time of manual is pack overhead in wrf_x_vec 4x4;"),
        "{text}"
    );
}

#[test]
fn two_estimates_with_disjoint_intervals_are_reported() {
    let with = |pack: (f64, f64)| {
        let mut records = sample();
        let figure = figure(&mut records[2], Quantity::OverheadPack);
        (figure.low, figure.high) = (Some(pack.0), Some(pack.1));
        let answer =
            plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None)).replace("\n  ", " ");
        (answer, unbroken(&records))
    };
    let (answer, table) = with((0.38, 0.44));
    let both = "47% [45, 49] by the reference (ovh), 46% [38, 44] by timed packing (pack%)";
    assert!(
        answer.contains(&format!("disagree, manual of wrf_x_vec 4x4: {both}; see docs/concepts.md#the-two")),
        "{answer}"
    );
    assert!(
        table.contains(&format!("disagree (docs/concepts.md#the-two-pack-overheads): manual {both}\n")),
        "{table}"
    );
    let (answer, table) = with((0.38, 0.45));
    assert!(!answer.contains("disagree") && !table.contains("disagree"));
}

#[test]
fn a_mean_contradicts_the_median_of_its_own_pair() {
    // `engine` is next to `manual`; `ddt` is slower by the median and faster by the mean.
    let mut ddt = over("ddt", 160e-6, "manual", (2.0, 1.9, 2.1));
    ddt.add([ratio_to(Quantity::MeanOver, "manual", (0.5, 0.4, 0.6))]);
    let engine = over("engine", 100e-6, "manual", (1.25, 1.2, 1.3));
    let records = against_manual([ddt, engine]);
    let text = unbroken(&records);
    let pair = "Fastest method: manual is 2.00 [1.90, 2.10] times as fast as ddt, but by the mean ddt is 2.00 [1.67, 2.50] times as fast as manual";
    assert!(text.contains(pair), "{text}");
}

#[test]
fn verdicts_name_the_loops_as_they_are_and_those_tuned() {
    let mut ddt = over("ddt", 80e-6, "ddt", (0.8, 0.75, 0.85));
    *figure(&mut ddt, Quantity::TimeOverFastest) =
        ratio_to(Quantity::TimeOver, "manual_tuned", (1.25, 1.2, 1.3));
    let tuned = over("manual_tuned", 64e-6, "ddt", (1.25, 1.2, 1.3));
    let text = unbroken(&against_manual([ddt, tuned]));
    let verdict = "ddt is 1.25 [1.18, 1.33] times as fast as manual; manual_tuned is 1.25 [1.20, 1.30] times as fast as ddt\n";
    assert!(text.contains(verdict), "{text}");
}

#[test]
fn no_records_have_no_text() {
    assert_eq!(table(&[], None), "No records.\n");
}

#[test]
fn an_answer_that_depends_on_the_loop_says_so_first() {
    let answered = |plain: (f64, f64, f64), tuned: (f64, f64, f64)| {
        let ratio = |name, ratio| ratio_to(Quantity::TimeOver, name, ratio);
        let mut ddt = over("ddt", 20e-6, "manual_tuned", tuned);
        ddt.figures = vec![ratio("manual", plain), ratio("manual_tuned", tuned)];
        let loops = ["manual", "manual_tuned"].map(|name| record(name, Phase::RoundTrip, 22e-6));
        let records = [&loops[..], &[ddt]].concat();
        let text = experiments::of_kind(Kind::PingPong).answer(&records, None, None);
        anstream::adapter::strip_str(&text).to_string().replace("\n  ", " ")
    };
    let (wins, loses, level) = ((1.2, 1.15, 1.25), (0.8, 0.75, 0.85), (1.0, 0.9, 1.1));
    let text = answered(loses, wins);
    let expected = "mpich: depends on the loop: ddt is 1.25 [1.18, 1.33] times as fast as manual; manual_tuned is 1.20 \
                    [1.15, 1.25] times as fast as ddt.";
    assert!(text.starts_with(expected), "{text}");
    for (plain, tuned, advice) in [
        (wins, wins, "pack by hand: saves 3.33 µs of 20.0 µs (manual is 1.20"),
        (loses, loses, "use the datatype: saves 4.40 µs of 22.0 µs (ddt is 1.25"),
        (wins, level, "depends on the loop"),
    ] {
        let text = answered(plain, tuned);
        assert!(text.starts_with(&format!("mpich: {advice}")), "{text}");
    }
}
