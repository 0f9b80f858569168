//! A comparison as CSV: the figures, and every raw sample. As in [`csv`](super::csv), numbers are in the shortest form
//! that reads back as the same number, and a figure that is missing is an empty cell.

use serde::Serialize;

use super::csv::rows;
use crate::earlier;
use crate::engine::{EngineRecord, EngineResult};
use crate::record::Phase;

/// Records as `engine.csv`: the fields of [`EngineRecord`] in their order.
pub fn records(records: &[EngineRecord], header: bool) -> Vec<u8> {
    rows(records, header)
}

/// The records of an `engine.csv` with its header.
///
/// # Errors
/// If a row does not fit [`EngineRecord`].
pub fn read(bytes: &[u8]) -> Result<Vec<EngineRecord>, csv::Error> {
    let mut records: Vec<EngineRecord> =
        csv::Reader::from_reader(bytes).into_deserialize().collect::<Result<_, _>>()?;
    for record in &mut records {
        earlier::rename_contender(record);
    }
    Ok(records)
}

/// A line of `samples.csv`: a sample of packing and one of unpacking. What is made and freed once per round is in the
/// row of sample 0.
#[derive(Serialize)]
struct Sample<'a> {
    test: &'a str,
    set: &'a str,
    params: &'a str,
    order: &'a str,
    mpi: &'a str,
    cache: &'a str,
    method: &'a str,
    round: usize,
    sample: usize,
    batch: u32,
    create_s: Option<f64>,
    pack_s: Option<f64>,
    unpack_s: Option<f64>,
    free_s: Option<f64>,
    copy_bytes_per_s: f64,
}

/// Every raw sample of a case as `samples.csv`, of failed contenders too, with the rate at which
/// the core copied before the block.
pub fn samples(result: &EngineResult, header: bool) -> Vec<u8> {
    let (case, order) = (&result.case.case, &result.case.order);
    let mut samples = Vec::new();
    for (measured, block) in result.methods.iter().flat_map(|m| m.blocks.iter().map(move |block| (m, block)))
    {
        for sample in 0..block.times.repetitions() {
            let time = |phase: Phase| phase.samples(block).get(sample).copied();
            samples.push(Sample {
                test: &case.test,
                set: &case.set,
                params: &case.params,
                order,
                mpi: &case.mpi,
                cache: &case.cache,
                method: &measured.method,
                round: block.block,
                sample,
                batch: block.batch,
                create_s: time(Phase::Create),
                pack_s: time(Phase::Pack),
                unpack_s: time(Phase::Unpack),
                free_s: time(Phase::Free),
                copy_bytes_per_s: block.before.copy_bytes_per_s,
            });
        }
    }
    rows(samples, header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{self, summary::tests::result};

    #[test]
    fn records_read_back_as_they_were() {
        let all = engine::records(&result("strided", "mpich", 2e-6, 3e-6));
        let mut bytes = records(&all[..4], true);
        bytes.extend(records(&all[4..], false));
        assert_eq!(read(&bytes).unwrap(), all);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("test,set,params,order,mpi,cache,method,phase,bytes,segments,line_bytes,"));
    }

    #[test]
    fn every_sample_is_a_row() {
        let mut result = result("strided", "mpich", 2e-6, 3e-6);
        result.methods.truncate(1);
        result.methods[0].blocks.truncate(1);
        result.methods[0].blocks[0].times[Phase::Pack] = vec![1e-6, 1.25e-6];
        result.methods[0].blocks[0].times[Phase::Unpack] = vec![2e-6];
        let expected = "test,set,params,order,mpi,cache,method,round,sample,batch,create_s,pack_s,unpack_s,free_s,\
            copy_bytes_per_s\n\
            strided,small,count=1000,same,mpich,warm,engine,0,0,4,1e-6,1e-6,2e-6,1e-7,0.0\n\
            strided,small,count=1000,same,mpich,warm,engine,0,1,4,,1.25e-6,,,0.0\n";
        assert_eq!(String::from_utf8(samples(&result, true)).unwrap(), expected);
    }
}
