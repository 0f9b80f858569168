//! The original's parameter sets: bytes of the message, contiguous runs and bytes of the arrays.
//!
//! The numbers are those of DDTBench 1.2 itself: message bytes as in the `bytes` column of its output, runs counted
//! in the order of the array, arrays as it allocates them on one rank.

use ddtbench_apps::{Context, MicroApp, Side, WireOrder};

/// Test, set, message bytes, runs (of the send side), bytes of all arrays.
const ORIGINAL: &[(&str, &str, u64, usize, usize)] = &[
    ("wrf_y", "2x2", 90_804, 987, 3_055_104),
    ("wrf_y", "3x3", 75_012, 987, 2_032_452),
    ("wrf_y", "4x4", 63_168, 987, 1_498_176),
    ("wrf_y", "5x5", 55_272, 987, 1_211_760),
    ("wrf_y", "8x8", 43_428, 987, 837_216),
    ("wrf_x", "2x2", 173_712, 14_476, 3_055_104),
    ("wrf_x", "4x4", 102_648, 8554, 1_498_176),
    ("wrf_x", "8x8", 63_168, 5264, 837_216),
    ("milc_su3_zd", "16x16x16x16", 98_304, 32, 1_572_864),
    ("milc_su3_zd", "8x16x16x16", 49_152, 32, 786_432),
    ("milc_su3_zd", "8x8x8x16", 24_576, 32, 196_608),
    ("milc_su3_zd", "8x8x8x8", 12_288, 16, 98_304),
    ("nas_lu_x", "12x12", 480, 1, 7840),
    ("nas_lu_y", "12x12", 480, 12, 7840),
    ("nas_lu_x", "33x33", 1320, 1, 49_000),
    ("nas_lu_y", "33x33", 1320, 33, 49_000),
    ("nas_lu_x", "64x64", 2560, 1, 174_240),
    ("nas_lu_y", "64x64", 2560, 64, 174_240),
    ("nas_lu_x", "102x102", 4080, 1, 432_640),
    ("nas_lu_y", "102x102", 4080, 102, 432_640),
    ("nas_lu_x", "162x162", 6480, 1, 1_075_840),
    ("nas_lu_y", "162x162", 6480, 162, 1_075_840),
    ("nas_lu_x", "408x408", 16_320, 1, 6_724_000),
    ("nas_lu_y", "408x408", 16_320, 408, 6_724_000),
    ("nas_lu_x", "1020x1020", 40_800, 1, 41_779_360),
    ("nas_lu_y", "1020x1020", 40_800, 1020, 41_779_360),
    ("nas_mg_x", "34x18x18", 2048, 256, 88_128),
    ("nas_mg_y", "34x18x18", 4096, 16, 88_128),
    ("nas_mg_z", "34x18x18", 4096, 16, 88_128),
    ("nas_mg_x", "130x66x66", 32_768, 4096, 4_530_240),
    ("nas_mg_y", "130x66x66", 65_536, 64, 4_530_240),
    ("nas_mg_z", "130x66x66", 65_536, 64, 4_530_240),
    ("nas_mg_x", "258x130x130", 131_072, 16_384, 34_881_600),
    ("nas_mg_y", "258x130x130", 262_144, 128, 34_881_600),
    ("nas_mg_z", "258x130x130", 262_144, 128, 34_881_600),
    ("nas_mg_x", "514x258x258", 524_288, 65_536, 273_711_168),
    ("nas_mg_y", "514x258x258", 1_048_576, 256, 273_711_168),
    ("nas_mg_z", "514x258x258", 1_048_576, 256, 273_711_168),
    ("lammps_full", "3534_3062", 195_968, 18_372, 422_144),
    ("lammps_full", "2597_2243", 143_552, 13_458, 309_760),
    ("lammps_full", "1907_1662", 106_368, 9972, 228_416),
    ("lammps_atomic", "4084_243", 11_664, 972, 207_696),
    ("lammps_atomic", "2157_145", 6960, 580, 110_496),
    ("lammps_atomic", "1217_114", 5472, 456, 63_888),
    ("specfem3d_oc", "88881_3225", 12_900, 3225, 355_524),
    ("specfem3d_oc", "38585_1897", 7588, 1897, 154_340),
    ("specfem3d_oc", "12857_877", 3508, 877, 51_428),
    ("specfem3d_oc", "3697_493", 1972, 493, 14_788),
    ("specfem3d_cm", "834917_51153_11797_3009", 177_672, 14_806, 10_632_840),
    ("specfem3d_cm", "396849_22477_7125_1729", 106_248, 8854, 5_031_912),
    ("specfem3d_cm", "152001_7209_3801_801", 55_224, 4602, 1_910_520),
    ("specfem3d_cm", "39929_1225_1957_245", 26_424, 2202, 493_848),
    ("specfem3d_mt", "3x2x7600", 91_200, 7600, 182_400 + 91_200),
    ("specfem3d_mt", "3x2x6400", 76_800, 6400, 153_600 + 76_800),
    ("specfem3d_mt", "3x2x5600", 67_200, 5600, 134_400 + 67_200),
    ("specfem3d_mt", "3x2x6200", 74_400, 6200, 148_800 + 74_400),
    ("fft2d", "256", 524_288, 256, 1_048_576),
    ("fft2d", "512", 2_097_152, 512, 4_194_304),
    ("fft2d", "768", 4_718_592, 768, 9_437_184),
    ("fft2d", "1024", 8_388_608, 1024, 16_777_216),
    ("fft2d", "1536", 18_874_368, 1536, 37_748_736),
];

/// The tests that a row of [`ORIGINAL`] stands for: WRF has two descriptions of the same bytes.
fn names(row: &str) -> Vec<String> {
    if row.starts_with("wrf") {
        vec![format!("{row}_vec"), format!("{row}_sa")]
    } else {
        vec![row.to_owned()]
    }
}

fn build(name: &str, set: &str) -> MicroApp {
    let test = ddtbench_apps::find(name).unwrap();
    test.build(&test.set(set).unwrap(), Context::default()).unwrap()
}

#[test]
fn messages_runs_and_arrays_are_as_large_as_the_originals() {
    for &(row, set, message_bytes, runs, array_bytes) in ORIGINAL {
        for name in names(row) {
            let app = build(&name, set);
            let message = app.message(Side::Send, WireOrder::Ddt);
            let arrays: usize = app.arrays.iter().map(|spec| spec.bytes()).sum();
            assert_eq!(message.size(), message_bytes, "{name} {set}: message");
            assert_eq!(app.message_bytes(), message_bytes, "{name} {set}: message");
            assert_eq!(arrays, array_bytes, "{name} {set}: arrays");
            let segments = message.segments().count();
            if name.starts_with("lammps") || matches!(name.as_str(), "specfem3d_oc" | "specfem3d_cm") {
                // Two random indices may happen to be neighbours, which merges their runs; it is rare.
                assert!(segments <= runs && segments * 100 > runs * 99, "{name} {set}: {segments} runs");
            } else {
                assert_eq!(segments, runs, "{name} {set}: runs");
            }
        }
    }
}

#[test]
fn every_set_of_the_original_is_here_and_no_other_is_called_default() {
    for test in ddtbench_apps::TESTS.iter().filter(|test| test.original_name.is_some()) {
        let here: Vec<&str> = test.sets_of(ddtbench_apps::Preset::Default).map(|set| set.name).collect();
        let original: Vec<&str> = ORIGINAL
            .iter()
            .filter(|row| names(row.0).iter().any(|name| name == test.name))
            .map(|row| row.1)
            .collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(here), sorted(original), "{}", test.name);
    }
}

#[test]
fn fft_receives_in_cells_of_one_complex_number() {
    for (set, cells) in [("256", 32_768), ("512", 131_072), ("768", 294_912), ("1536", 1_179_648)] {
        assert_eq!(build("fft2d", set).message(Side::Receive, WireOrder::Ddt).segments().count(), cells);
    }
}
