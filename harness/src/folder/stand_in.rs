//! Stands in for `summary` and `report::csv` until they are there.

/// Records.
pub mod summary {
    use crate::record::{CaseResult, Phase, Record};

    /// One row per method.
    pub fn records(case: &CaseResult) -> Vec<Record> {
        let record = |m: &crate::record::Measured| {
            let c = case.case.clone();
            let mut all: Vec<f64> = m.blocks.iter().flat_map(|b| b.round_trip_s.clone()).collect();
            all.sort_by(f64::total_cmp);
            Record {
                test: c.test,
                set: c.set,
                params: c.params,
                mpi: c.mpi,
                ranks: c.ranks,
                cache: c.cache,
                method: m.method.clone(),
                phase: Phase::RoundTrip,
                pair: "all".into(),
                bytes: case.message.bytes,
                segments: case.message.segments,
                n: all.len(),
                blocks: m.blocks.len(),
                blocks_other_state: 0,
                batch: 1,
                median_s: all.get(all.len() / 2).copied(),
                median_low_s: None,
                median_high_s: None,
                mean_s: None,
                min_s: None,
                p90_s: None,
                p99_s: None,
                overhead_reference: None,
                overhead_reference_low: None,
                overhead_reference_high: None,
                overhead_pack: None,
                bandwidth_bytes_per_s: None,
                state_latency_s: None,
                outcome: m.outcome.label().into(),
                detail: m.outcome.detail().map(str::to_owned),
            }
        };
        case.methods.iter().map(record).collect()
    }
}

/// Tables.
pub mod report {
    pub use crate::report::ddtbench_format;
    /// CSV.
    pub mod csv {
        use crate::record::{CaseResult, Record};

        fn rows<T: serde::Serialize>(rows: impl IntoIterator<Item = T>, header: bool) -> Vec<u8> {
            let mut out = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
            rows.into_iter().for_each(|row| out.serialize(row).unwrap());
            out.into_inner().unwrap()
        }
        #[derive(serde::Serialize)]
        struct Row<'a> {
            test: &'a str,
            params: &'a str,
            method: &'a str,
            block: usize,
            seconds: Option<f64>,
        }
        /// Samples.
        pub fn samples(case: &CaseResult, header: bool) -> Vec<u8> {
            let blocks = case.methods.iter().flat_map(|m| &m.blocks);
            let all = blocks.flat_map(|b| b.round_trip_s.iter().map(move |s| (b, *s)));
            rows(
                all.map(|(b, s)| Row {
                    test: &case.case.test,
                    params: &case.case.params,
                    method: &b.method,
                    block: b.block,
                    seconds: Some(s),
                }),
                header,
            )
        }
        /// Blocks.
        pub fn blocks(case: &CaseResult, header: bool) -> Vec<u8> {
            let blocks = case.methods.iter().flat_map(|m| &m.blocks);
            rows(
                blocks.map(|b| Row {
                    test: &case.case.test,
                    params: &case.case.params,
                    method: &b.method,
                    block: b.block,
                    seconds: b.create_s,
                }),
                header,
            )
        }
        /// Records.
        pub fn summary(records: &[Record], header: bool) -> Vec<u8> {
            rows(records, header)
        }
        /// Back.
        pub fn read_summary(bytes: &[u8]) -> Result<Vec<Record>, csv::Error> {
            csv::Reader::from_reader(bytes).into_deserialize().collect()
        }
    }
}
