//! The figures of papers: a plan file for each, with its sweeps and its picture. They are compiled in, so
//! that an installed program has them, and written for copying and editing.

use apps::similar;

use super::Plan;

/// The name of each figure and the text of its plan file.
macro_rules! figures {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../figures/", $name, ".toml")))),*]
    };
}

/// All figures, in the order of papers and numbers: names and plan files.
pub const FIGURES: &[(&str, &str)] = figures![
    "ddtbench-5" "ddtbench-6"
    "cmb-5" "cmb-6" "cmb-7"
    "hlrs-3" "hlrs-4" "hlrs-5" "hlrs-6"
    "pcomm-4" "pcomm-5" "pcomm-6" "pcomm-7" "pcomm-8"
    "nbc-6" "nbc-7" "nbc-8" "nbc-9" "nbc-10" "nbc-14" "nbc-23"
    "adefemi-jacobi" "adefemi-life" "adefemi-image"
];

/// The plan file of a figure. Upper and lower case do not matter.
pub fn text(name: &str) -> Option<&'static str> {
    FIGURES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| *text)
}

/// An error for an unknown figure: suggestions, then all figures.
pub fn no_such(name: &str) -> String {
    let names: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = format!("-{}", &name[name.len() - digits..]);
    let with_number: Vec<&str> =
        names.iter().copied().filter(|known| digits > 0 && known.ends_with(&number)).collect();
    let likely = if with_number.is_empty() { Vec::from_iter(similar(&names, name)) } else { with_number };
    let end =
        if likely.is_empty() { ".".to_owned() } else { format!("; did you mean {}?", likely.join(" or ")) };
    format!("{name:?} is not a figure and not a file{end} The figures are {}", names.join(", "))
}

/// The plan of a figure.
///
/// # Panics
/// Never: a test reads all figures.
pub fn plan(name: &str) -> Option<Plan> {
    text(name).map(|text| Plan::parse(text).expect("a figure's plan file is sound"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::plan::CheckedPlan;

    /// All variants of a figure's plan: default, quick, and full if it exists.
    fn plans(name: &str) -> Vec<Plan> {
        let plan = plan(name).unwrap();
        let with =
            |values: &Option<toml::Table>| values.clone().map(|values| plan.clone().with(values).unwrap());
        [Some(plan.clone()), with(&plan.quick), with(&plan.full)].into_iter().flatten().collect()
    }

    fn checked(mut plan: Plan) -> CheckedPlan {
        plan.limit_to_cores(8);
        plan.check().unwrap()
    }

    #[test]
    fn every_file_is_a_figure_whose_cases_can_be_measured() {
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("figures")).unwrap();
        assert_eq!(files.count(), FIGURES.len());
        for (name, _) in FIGURES {
            let plan = plan(name).unwrap();
            let figure = plan.figure.as_ref().unwrap();
            let (_, number) = name.rsplit_once('-').unwrap();
            let is_number = number.parse::<u32>().is_ok();
            assert!(!is_number || figure.title.contains(&format!("figure {number}:")), "{name}");
            assert!(figure.name == *name && !figure.paper.is_empty() && plan.quick.is_some(), "{name}");
            for plan in plans(name) {
                let checked = checked(plan);
                assert!(!checked.cases.is_empty() && checked.left_out().is_empty(), "{name}");
                let again = Plan::parse(&checked.plan.to_toml()).unwrap();
                assert_eq!(again, checked.plan, "{name}: written text reads as the same");
            }
        }
    }

    #[test]
    fn a_number_alone_suggests_the_figures_that_have_it() {
        for (typed, suggested) in [
            ("5", "did you mean ddtbench-5 or cmb-5 or hlrs-5 or pcomm-5? The figures are ddtbench-5, "),
            ("figure-23", "did you mean nbc-23? "),
            ("fig14", "did you mean nbc-14? "),
            ("ddtbnch-99", "did you mean ddtbench-"),
            ("zz", "is not a figure and not a file. The figures are"),
        ] {
            assert!(no_such(typed).contains(suggested), "{}", no_such(typed));
        }
        assert!(plan("HLRS-3").is_some());
    }

    #[test]
    fn the_quick_values_are_fewer_and_the_papers_more() {
        for (name, _) in FIGURES {
            let plan = plan(name).unwrap();
            let starts = |plan: Plan| {
                let checked = checked(plan);
                checked.cases.len() * checked.plan.launches()
            };
            let usual = starts(plan.clone());
            let with = |values: &toml::Table| starts(plan.clone().with(values.clone()).unwrap());
            assert!(plan.quick.as_ref().map(with).unwrap() < usual, "{name}");
            assert!(plan.full.as_ref().map(with).is_none_or(|full| full >= usual), "{name}");
        }
    }
}
