use super::*;

#[test]
fn a_sweep_is_over_the_bytes_or_over_what_was_swept() {
    let at =
        |params: &str, bytes| Record { bytes, ..record(&case(Kind::PingPong, "m", params), "ddt", 1e-6) };
    let places = |over: &[Record]| {
        let data = marks_of("time_over_size", &results(over, &[]));
        data.into_iter()
            .map(|d| (d.panel.clone(), d.x_name.clone(), d.x_number().unwrap()))
            .collect::<Vec<_>>()
    };
    let of = |panel: &str, name: &str, x| (panel.to_owned(), name.to_owned(), x);
    assert_eq!(
        places(&[at("nx=1 ny=2", 80), at("nx=1 ny=4", 160)]),
        [of("nas_lu_y", "bytes", 80.0), of("nas_lu_y", "bytes", 160.0)]
    );
    assert_eq!(
        places(&[at("n=1 stride=2", 80), at("n=1 stride=4", 80)]),
        [of("nas_lu_y", "stride", 2.0), of("nas_lu_y", "stride", 4.0)]
    );
    let both = ["n=1 s=2", "n=2 s=2", "n=3 s=2", "n=1 s=4", "n=2 s=4", "n=3 s=4"];
    let both: Vec<Record> =
        both.iter().zip([1, 2, 3, 1, 2, 3]).map(|(params, bytes)| at(params, bytes)).collect();
    let panels: Vec<_> = places(&both).into_iter().map(|(panel, _, x)| (panel, x)).collect();
    assert_eq!(panels[..3], [1.0, 2.0, 3.0].map(|x| ("nas_lu_y s=2".to_owned(), x)));
    assert_eq!(panels[3..], [1.0, 2.0, 3.0].map(|x| ("nas_lu_y s=4".to_owned(), x)));
    assert!(places(&both[..1]).is_empty(), "nothing was swept");
    // Sets with names differ in several parameters at once.
    let set = |name: &str, record: Record| Record {
        case: Case { set: name.into(), ..(*record.case).clone() }.into(),
        ..record
    };
    let sets = [set("s", at("nx=1 ny=1", 8)), set("l", at("nx=2 ny=2", 16))];
    assert_eq!(places(&sets), [of("nas_lu_y", "bytes", 8.0), of("nas_lu_y", "bytes", 16.0)]);
}

#[test]
fn two_swept_parameters_are_the_axes_of_a_map_per_method() {
    let at = |method: &str, params: &str, value: f64| {
        let case = case(Kind::PingPong, "mpich", params);
        let figures = vec![Figure::with_interval(Quantity::TimeOver, value, (0.5, 2.0)).against("manual")];
        Record { figures, ..record(&case, method, 1e-6) }
    };
    let grid = ["nx=1 ny=2", "nx=1 ny=4", "nx=8 ny=2", "nx=8 ny=4"];
    let over: Vec<Record> =
        grid.iter().flat_map(|params| [at("ddt", params, 1.5), at("ddt_to_packed", params, 9.0)]).collect();
    let places = |over: &[Record]| {
        let of = |d: Datum| (d.panel.clone(), d.x_number().unwrap(), d.y.unwrap().parse::<f64>().unwrap());
        marks_of("time_over_manual", &results(over, &[])).into_iter().map(of).collect::<Vec<_>>()
    };
    let panel = "ddt, nas_lu_y".to_owned();
    let expected = [(1.0, 2.0), (1.0, 4.0), (8.0, 2.0), (8.0, 4.0)];
    assert_eq!(
        places(&over),
        expected.map(|(x, y)| (panel.clone(), x, y)),
        "of what an application could use"
    );
    assert!(places(&over[..4]).is_empty(), "one parameter is not a map");
    let picture = drawn("time_over_manual", &over[..6]);
    assert!(picture.caption.contains("1 of 4 cells are empty"), "{}", picture.caption);
    assert!(picture.svg.contains(">~1.50<") && picture.svg.contains(">no value<"), "{}", picture.svg);
    let diagonal = [at("ddt", grid[0], 1.5), at("ddt", grid[3], 1.5)];
    assert!(places(&diagonal).is_empty(), "half of the cells are not a map");
    let named =
        |record: Record| Record { case: Case { set: "s".into(), ..(*record.case).clone() }.into(), ..record };
    assert_eq!(places(&over.iter().cloned().map(named).collect::<Vec<_>>()).len(), 4);
}

#[test]
fn partitions_are_over_bytes_or_over_their_size() {
    let at = |bytes: u32, partitions: u32| {
        let case =
            case(Kind::Partitioned, "mpich", &format!("bytes={bytes} partitions={partitions} threads=1"));
        let figures = vec![Figure::with_interval(Quantity::Gain, 1.5, (1.4, 1.6)).against("single")];
        Record { figures, ..record(&case, "many", 1e-6) }
    };
    let axes = |over: &[Record]| {
        let cells = marks_of("gain_over_grid", &results(over, &[]));
        assert_eq!(cells.len(), over.len());
        (cells[0].x_name.clone(), cells[0].panel.clone())
    };
    let sizes = [1024, 2048, 4096, 8192].map(|bytes| [2, 4, 8].map(|n| at(bytes, n))).concat();
    assert_eq!(axes(&sizes), ("bytes".to_owned(), "many, nas_lu_y".to_owned()));
    let parts = [64, 4096, 65536].map(|size| [2, 4, 8].map(|n| at(size * n, n))).concat();
    assert_eq!(axes(&parts), ("partition_bytes".to_owned(), "many, nas_lu_y".to_owned()));
}

#[test]
fn partitions_are_placed_by_their_size_beside_the_model() {
    let at = |partitions: u32, model: Option<f64>| {
        let case = case(Kind::Partitioned, "mpich", &format!("bytes=1024 partitions={partitions} threads=1"));
        let mut figures = vec![Figure::with_interval(Quantity::Gain, 1.5, (1.4, 1.6)).against("single")];
        figures.extend(model.map(|model| Figure::plain(Quantity::GainModel, model).against("equation 4")));
        Record { figures, ..record(&case, "many", 1e-6) }
    };
    let over = [at(4, Some(2.0)), at(16, None)];
    let data = marks_of("gain_over_partition", &results(&over, &[]));
    let places: Vec<_> = data.iter().map(|d| (d.quantity.as_str(), d.x_number(), d.value)).collect();
    let expected = [("gain", Some(256.0), 1.5), ("gain", Some(64.0), 1.5), ("gain_model", Some(256.0), 2.0)];
    assert_eq!(places, expected);
    assert!(drawn("gain_over_partition", &over).svg.contains(">many, model<"));
    assert!(marks_of("gain_over_partition", &results(&over[..1], &[])).is_empty(), "one size is not a line");
}
