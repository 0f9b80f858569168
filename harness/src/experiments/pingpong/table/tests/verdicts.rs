//! Verdicts on made-up ratios of times: `verdicts.txt` has the first line of the answer, and the end of the table, for each of them.

use super::*;

/// `ddt` relative to `manual`, by medians and by means.
fn ddt(median: (f64, f64, f64), mean: Option<(f64, f64, f64)>) -> Vec<Record> {
    let mut ddt = over("ddt", 160e-6, "manual", median);
    ddt.add(mean.map(|mean| ratio_to(Quantity::MeanOver, "manual", mean)));
    against_manual([ddt])
}

/// `ddt` relative to the loop as it is, and to the tuned one.
fn loops(plain: (f64, f64, f64), tuned: (f64, f64, f64)) -> Vec<Record> {
    let ratio = |name, ratio| ratio_to(Quantity::TimeOver, name, ratio);
    let mut ddt = over("ddt", 20e-6, "manual_tuned", tuned);
    ddt.figures = vec![ratio("manual", plain), ratio("manual_tuned", tuned)];
    let loops = ["manual", "manual_tuned"].map(|name| round_trip(name, 22e-6));
    [&loops[..], &[ddt]].concat()
}

/// Two estimates of the pack overhead, that by packing with this interval.
fn estimates(low: f64, high: f64) -> Vec<Record> {
    let mut records = sample();
    *figure(&mut records[2], Quantity::OverheadPack) =
        Figure::with_interval(Quantity::OverheadPack, 0.46, (low, high));
    records
}

#[test]
fn verdicts_on_made_up_ratios() {
    let (faster, equal, slower) = ((0.2, 0.1, 0.25), (1.0, 0.9, 1.1), (24.0, 20.0, 30.0));
    let (wins, loses) = ((1.2, 1.15, 1.25), (0.8, 0.75, 0.85));
    let twice = || ddt((2.0, 1.9, 2.1), None);
    let unsteady: Change = |records| records[1].figures.iter_mut().for_each(|of| of.unsteady = Some(true));
    let without_interval: Change = |records| {
        records[1].figures.iter_mut().for_each(|figure| figure.low = None);
        records[1].blocks = 5;
    };
    let of_two_launches: Change = |records| records.iter_mut().for_each(|record| record.launches = 2);
    let few = || changed(twice(), without_interval);
    let of_one_mpi: Change = |records| records[1].median_s = Some(5e-3);
    let with_slower: Change = |records| records.push(over("engine", 90e-6, "manual", (1.1, 1.05, 1.15)));
    let before_ratios: Change = |records| {
        records.iter_mut().for_each(|record| record.fastest = None);
        let figures = [(Quantity::OverheadReference, 0.123), (Quantity::Gain, 4.56)];
        records[0].add(figures.map(|(quantity, value)| Figure::plain(quantity, value)));
    };
    let unsteady_mean: Change = |records| figure(&mut records[1], Quantity::MeanOver).unsteady = Some(true);
    let with_engine: Change = |records| records.push(over("engine", 100e-6, "manual", (1.25, 1.2, 1.3)));
    let mut of_loops = over("ddt", 80e-6, "ddt", loses);
    of_loops.figures[0] = ratio_to(Quantity::TimeOver, "manual_tuned", (1.25, 1.2, 1.3));
    let each_loop = against_manual([of_loops, over("manual_tuned", 64e-6, "ddt", (1.25, 1.2, 1.3))]);
    let contradicted: Change =
        |records| records[2].add([ratio_to(Quantity::MeanOver, "manual", (2.0, 1.8, 2.2))]);
    let all = [
        ("ddt takes longer", ddt(slower, None)),
        ("ddt takes less time", ddt((0.5, 0.4, 0.8), None)),
        ("the interval includes 1", ddt((1.01, 0.99, 1.02), None)),
        ("the interval is nearly at 1", ddt((1.004, 1.002, 1.2), None)),
        ("medians that differ do not count", changed(ddt((1.01, 0.99, 1.02), None), of_one_mpi)),
        ("a large ratio has fewer digits", ddt((143.4, 99.0, 201.0), None)),
        ("the halves of the run differ", changed(twice(), unsteady)),
        ("a much slower method changes nothing", changed(changed(twice(), unsteady), with_slower)),
        ("too few rounds", few()),
        ("too few launches", changed(few(), of_two_launches)),
        ("records from before there were ratios", changed(few(), before_ratios)),
        ("means contradict a faster ddt", ddt(faster, Some(slower))),
        ("means contradict equal medians", ddt(equal, Some(slower))),
        ("means agree", ddt(faster, Some(faster))),
        ("means are equal", ddt(faster, Some(equal))),
        ("means differ by little", ddt(faster, Some((1.06, 1.04, 1.08)))),
        ("means are unsteady", changed(ddt(faster, Some(slower)), unsteady_mean)),
        (
            "a mean contradicts the median of its pair",
            changed(ddt((2.0, 1.9, 2.1), Some((0.5, 0.4, 0.6))), with_engine),
        ),
        ("each loop is named", each_loop),
        ("depends on the loop", loops(loses, wins)),
        ("both loops win", loops(wins, wins)),
        ("both loops lose", loops(loses, loses)),
        ("one loop wins, and the other is not shown to differ", loops(wins, equal)),
        ("medians depend on the loop, and a mean contradicts one", changed(loops(loses, wins), contradicted)),
        ("estimates of the overhead disagree", estimates(0.38, 0.44)),
        ("estimates of the overhead may agree", estimates(0.38, 0.45)),
    ];
    let texts = all.iter().map(|(title, records)| {
        let (answer, table) = (answer(records, None).replace("\n  ", " "), table(records, None));
        let [(_, answered), (_, detailed)] =
            [answer.split_once("\nmpich, 2 ranks"), table.split_once("\nwrf_x_vec")].map(Option::unwrap);
        let (decision, _) = answer.split_once("\n").unwrap();
        (*title, format!("{decision}\n{answered}\n{detailed}"))
    });
    expect_texts("experiments/pingpong/table/tests/verdicts.txt", texts);
}
