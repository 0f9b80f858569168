use super::*;

fn orders() -> impl Iterator<Item = WriteOrder> {
    let texts = "linear reverse random strided:1 strided:7 strided:16 burst:1 burst:5 burst:16 neighbourhood";
    texts.split(' ').map(|text| text.parse().unwrap())
}

/// Every byte, in the order in which the bytes are written.
fn bytes_written(order: WriteOrder, bytes: usize, partitions: usize, seed: u64) -> Vec<usize> {
    let shuffled = |mut blocks: Vec<Vec<usize>>| {
        let mut random = Pcg64::seed_from_u64(seed);
        for place in (0..blocks.len()).rev() {
            let drawn = random.random_range(0..=place as u64);
            blocks.swap(place, drawn as usize);
        }
        blocks.concat()
    };
    let all: Vec<usize> = (0..bytes).collect();
    let blocks = |size: usize| all.chunks(size).map(<[usize]>::to_vec).collect::<Vec<_>>();
    match order {
        WriteOrder::Linear => all,
        WriteOrder::Reverse => all.into_iter().rev().collect(),
        WriteOrder::Random => shuffled(blocks(1)),
        WriteOrder::Burst { bytes: size } => shuffled(blocks(size as usize)),
        WriteOrder::Strided { bytes: stride } => {
            (0..stride as usize).flat_map(|first| (first..bytes).step_by(stride as usize)).collect()
        }
        WriteOrder::Neighbourhood => {
            let rows = (1..).take_while(|rows| rows * rows <= partitions).last().unwrap();
            let columns = (1..).find(|columns| rows * columns >= partitions).unwrap();
            let cells = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
            cells.filter(|&p| p < partitions).flat_map(|p| partition(bytes as u64, partitions, p)).collect()
        }
    }
}

/// Partitions ordered by when their last byte is written, determined byte by byte; those without bytes first.
fn oracle(order: WriteOrder, bytes: usize, partitions: usize, seed: u64) -> Vec<usize> {
    let mut missing: Vec<usize> =
        (0..partitions).map(|p| partition(bytes as u64, partitions, p).len()).collect();
    let mut ready: Vec<usize> = (0..partitions).filter(|&p| missing[p] == 0).collect();
    for byte in bytes_written(order, bytes, partitions, seed) {
        let is_holder = |&p: &usize| partition(bytes as u64, partitions, p).contains(&byte);
        let p = (0..partitions).find(is_holder).unwrap();
        missing[p] -= 1;
        if missing[p] == 0 {
            ready.push(p);
        }
    }
    ready
}

#[test]
fn every_order_is_that_of_the_last_bytes_found_byte_by_byte() {
    for order in orders() {
        for bytes in [0, 1, 2, 7, 16, 48, 63, 64, 65, 100] {
            for partitions in [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 30, 64, 70] {
                for seed in [1, 0xC0_FFEE] {
                    let found = order.permutation(bytes as u64, partitions, seed);
                    let expected = oracle(order, bytes, partitions, seed);
                    assert_eq!(found, expected, "{order}, {bytes} bytes in {partitions}, seed {seed}");
                }
            }
        }
        // Those of large messages are permutations too.
        for (bytes, partitions) in [(8 << 20, 1), (8 << 20, 128), ((8 << 20) + 1, 1000), (3 << 30, 37)] {
            let mut found = order.permutation(bytes, partitions, 1);
            found.sort_unstable();
            assert!(found.into_iter().eq(0..partitions), "{order}, {bytes} bytes in {partitions}");
        }
    }
}

#[test]
fn partitions_are_the_message_and_each_byte_has_one() {
    for bytes in [0, 1, 10, 64, 1000] {
        for partitions in [1, 3, 8, 64, 100] {
            let ranges: Vec<_> = (0..partitions).map(|p| partition(bytes, partitions, p)).collect();
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((ranges[0].start, ranges[partitions - 1].end), (0, bytes as usize));
            let sizes = || ranges.iter().map(ExactSizeIterator::len);
            assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            for byte in 0..bytes {
                let p = holder(bytes, partitions, byte);
                assert!(ranges[p].contains(&(byte as usize)), "byte {byte} of {bytes} in {partitions}");
            }
        }
    }
    // Products do not overflow.
    assert_eq!(partition(1 << 40, 1 << 30, (1 << 30) - 1), (1 << 40) - (1 << 10)..1 << 40);
}

#[test]
fn texts_round_trip_and_are_named_if_wrong_and_the_seed_decides_random_orders_only() {
    for order in orders() {
        assert_eq!(order.to_string().parse(), Ok(order));
        assert!(order.permutation(64, 0, 1).is_empty());
        let [first, same, other] = [1, 1, 2].map(|seed| order.permutation(6400, 64, seed));
        let is_random = matches!(order, WriteOrder::Random | WriteOrder::Burst { .. });
        assert_eq!((first == same, first != other), (true, is_random), "{order}");
    }
    assert_eq!("strided".parse(), Ok(WriteOrder::Strided { bytes: 16384 }));
    assert_eq!("burst".parse(), Ok(WriteOrder::Burst { bytes: 1024 }));
    for text in ["", "liner", "strided:", "strided:0", "burst:1k", "burst:-1", "linear:4", "random:"] {
        let error = text.parse::<WriteOrder>().unwrap_err();
        assert!(error.contains(&format!("{text:?}")), "{error}");
    }
}
