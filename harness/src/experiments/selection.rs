//! The selection of cases, as a `[[sweep]]` of a plan or a command line writes it: tests, and lists of values
//! whose product makes the cases.

use apps::{Preset, bytes};
use datatypes::Definitions;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::layout_file;
use super::planned::{FileValue, PlannedCase};
use common::parameter::whole;

/// Maximum cases of a sweep; a larger number is a typo.
const MOST_CASES: usize = 10_000;

/// Tests and lists of values: every combination of one value from each list is a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Names of tests; if empty, all tests of the kind.
    #[serde(rename = "test", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Selects some of their named sets.
    #[serde(with = "preset", skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Named sets instead of the preset. Without a test, each applies to the tests that have it.
    #[serde(rename = "set", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// Additional layouts, or the only ones if no test is named: texts, files, or `-` for standard input.
    #[serde(rename = "layout", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<String>,
    /// Values of names in these layouts and in the lists, such as `n=64`; several of a name, such as `n=16,32`, are a case each.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<String>,
    /// The plan's methods for these cases; all if empty.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// Names of values that must not exceed the cores of a rank on this machine: larger values are left out;
    /// if all are larger, the number of cores replaces them.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub at_most_cores: Vec<String>,
    #[serde(flatten)]
    pub lists: Lists,
}

/// Serialization of presets, which are defined without one.
mod preset {
    use super::*;
    use crate::experiments::list::preset_name;

    const ALL: [Preset; 3] = [Preset::Quick, Preset::Default, Preset::Full];

    pub fn serialize<S: Serializer>(preset: &Option<Preset>, to: S) -> Result<S::Ok, S::Error> {
        preset.map(preset_name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Preset>, D::Error> {
        let name = String::deserialize(from)?;
        let found = ALL.into_iter().find(|preset| preset_name(*preset) == name);
        let wrong = || D::Error::custom(format!("preset {name:?}: must be quick, default or full"));
        found.map(Some).ok_or_else(wrong)
    }
}

/// A list, or its only element.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany<T> {
        One(T),
        Many(Vec<T>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

impl Selection {
    /// The preset, `quick` by default.
    pub fn preset(&self) -> Preset {
        self.preset.unwrap_or(Preset::Quick)
    }

    /// Whether only layouts are given, so that no test is measured.
    pub fn is_of_layouts_only(&self) -> bool {
        !self.layouts.is_empty() && self.tests.is_empty()
    }

    /// The cases of the layouts.
    ///
    /// # Errors
    /// The invalid layout or definition, and valid input.
    pub fn layout_cases(&self) -> Result<Vec<PlannedCase>, String> {
        let definitions = self.definitions()?;
        let reads_input = self.layouts.iter().any(|layout| layout == "-");
        if let (false, [_, ..], Some(first)) = (reads_input, &self.layouts[..], definitions.first()) {
            let text = |layout: &String| std::fs::read_to_string(layout).unwrap_or_else(|_| layout.clone());
            layout_file::has_names(&self.layouts.iter().map(text).collect::<Vec<_>>().join(" "), first)?;
        }
        let cases = |layout: &String| {
            definitions.iter().map(|values| layout_file::case(layout, values)).collect::<Vec<_>>()
        };
        self.layouts.iter().flat_map(cases).collect()
    }

    /// Every combination of one value from each list, with the values that `define` gives to names.
    ///
    /// # Errors
    /// If there are too many, or a definition is invalid.
    pub fn choices<K: Ord>(&self, rank: impl Fn(&str) -> K) -> Result<Vec<Vec<(&str, String)>>, String> {
        let (definitions, choices) = (self.definitions()?, self.lists.product(rank)?);
        let defined = |choice: &Vec<(_, String)>, values: &Definitions| {
            choice.iter().map(|(name, text)| (*name, values.replaced(text))).collect()
        };
        Ok(choices
            .iter()
            .flat_map(|choice| definitions.iter().map(move |values| defined(choice, values)))
            .collect())
    }

    /// Every combination of the values in `define`.
    fn definitions(&self) -> Result<Vec<Definitions>, String> {
        let typed: Vec<String> =
            self.define.iter().flat_map(|text| text.split(',')).map(str::to_owned).collect();
        let lists = Lists::typed(&typed, "n=64").map_err(|error| format!("--define: {error}"))?;
        let texts: Vec<&str> =
            self.lists.0.iter().flat_map(|(_, values)| values).map(String::as_str).collect();
        let read = |choice: Vec<(&str, String)>| {
            let pairs: Vec<String> = choice.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let given = pairs.join(",");
            if given.is_empty() {
                return Ok(Definitions::default());
            }
            let read = Definitions::read(&given).map_err(|error| format!("--define {given}: {error}"))?;
            if self.layouts.is_empty() {
                layout_file::has_names(&texts.join(" "), &read).map_err(|error| format!("-p: {error}"))?;
            }
            Ok(read)
        };
        lists.product(|_| 0)?.into_iter().map(read).collect()
    }

    /// With these layouts. The test `layout`, if it is named too, means these and not its default.
    #[must_use]
    pub fn with_layouts(mut self, layouts: &[String]) -> Self {
        self.tests.retain(|test| layouts.is_empty() || !test.eq_ignore_ascii_case(apps::LAYOUT.name));
        Self { layouts: layouts.to_vec(), ..self }
    }

    /// Replaces tests, sets and lists by those given, by their names in a plan. Given values may exceed the cores.
    pub fn replace(&mut self, given: &Lists) {
        for (name, values) in &given.0 {
            match name.as_str() {
                "test" => self.tests.clone_from(values),
                "set" => self.sets.clone_from(values),
                _ => {
                    self.at_most_cores.retain(|limited| limited != name);
                    self.lists.set(name, values.clone());
                }
            }
        }
    }

    /// Limits values to the cores of a rank.
    pub fn limit_to_cores(&mut self, cores: usize) {
        for name in std::mem::take(&mut self.at_most_cores) {
            let Some(values) = self.lists.get(&name) else { continue };
            let fits = |value: &String| value.parse::<usize>().map_or(true, |value| value <= cores);
            let mut values: Vec<String> = values.into_iter().filter(fits).collect();
            if values.is_empty() {
                values.push(cores.to_string());
            }
            self.lists.set(&name, values);
        }
    }
}

/// Lists of values by the names of parameters. A parameter without a list has its default value.
///
/// A value may be a range: `1KiB..8MiB` has all values from the first to the last, each twice the previous
/// one; `1KiB..8MiB by 8`, each eight times the previous one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists(Vec<(String, Vec<String>)>);

impl Lists {
    /// An empty list counts as none.
    pub fn from_names<N: Into<String>>(lists: impl IntoIterator<Item = (N, Vec<String>)>) -> Self {
        let lists = lists.into_iter().map(|(name, values)| (name.into(), values));
        Self(lists.filter(|(_, values)| !values.is_empty()).collect())
    }

    /// Parses values such as `nx=8,16`, which are already split at commas.
    ///
    /// # Errors
    /// If a value has no name, with a valid `example`, or if a name is given twice.
    pub fn typed(typed: &[String], example: &str) -> Result<Self, String> {
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for text in &whole(typed) {
            let Some((name, value)) = text.split_once('=') else {
                let list = lists.last_mut();
                let wrong = || format!("parameter {text:?}: must be NAME=VALUE, for example {example}");
                list.ok_or_else(wrong)?.1.push(text.trim().to_owned());
                continue;
            };
            if lists.iter().any(|(known, _)| known == name.trim()) {
                return Err(format!(
                    "parameter {text:?}: {name} is given twice; write several values as {name}=A,B"
                ));
            }
            lists.push((name.trim().to_owned(), vec![value.trim().to_owned()]));
        }
        // `shape=102,102,52` would silently be cases with one axis, and `halo=0,2,2,0` cases with one halo for all axes.
        let is_number = |value: &String| value.bytes().all(|byte| byte.is_ascii_digit());
        let is_repeated = |values: &[String]| (1..values.len()).any(|i| values[..i].contains(&values[i]));
        let is_of_axes = |(name, values): &&(String, Vec<String>)| {
            values.len() > 1
                && values.iter().all(is_number)
                && (name == "shape" || name == "halo" && is_repeated(values))
        };
        if let Some((name, values)) = lists.iter().find(is_of_axes) {
            return Err(format!(
                "parameter {name}={}: join the axes of one array by x, such as {}; a comma starts another case",
                values.join(","),
                values.join("x")
            ));
        }
        // `real(8) :: u(4), v(5)` would silently be two cases, the second with another type.
        let is_typed = |value: &&String| {
            let start = value.split_once(['(', '[']).map_or("", |(start, _)| start.trim());
            value.contains("::") || start.contains(' ')
        };
        let declared = lists.iter().filter(|(_, values)| values.iter().any(|value| is_typed(&value)));
        for (name, values) in declared {
            if let Some(bare) = values.iter().find(|value| !is_typed(value)) {
                return Err(format!(
                    "parameter {name}={}: a comma starts another case, and `{bare}` has no type; join the arrays of a message by \
                     +, each with its type, such as double u[4] + double v[5]",
                    values.join(", ")
                ));
            }
        }
        Ok(Self(lists))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The values of a name, with expanded ranges.
    pub fn get(&self, name: &str) -> Option<Vec<String>> {
        let (_, values) = self.0.iter().find(|(known, _)| known == name)?;
        Some(values.iter().flat_map(|value| expanded(value)).collect())
    }

    /// Replaces the values of a name.
    pub fn set(&mut self, name: &str, values: Vec<String>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = values,
            None => self.0.push((name.to_owned(), values)),
        }
        self.0.retain(|(_, values)| !values.is_empty());
    }

    /// Every combination of one value from each list. The list whose name has the largest `rank` changes fastest.
    ///
    /// # Errors
    /// If there are too many.
    pub fn product<K: Ord>(&self, rank: impl Fn(&str) -> K) -> Result<Vec<Vec<(&str, String)>>, String> {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_by_key(|name| rank(name));
        let mut all = vec![Vec::new()];
        for name in names {
            let values = self.get(name).unwrap_or_default();
            if all.len().saturating_mul(values.len()) > MOST_CASES {
                return Err(format!("{name} makes more than {MOST_CASES} cases"));
            }
            let with = |given: &Vec<_>, value: &String| [given.clone(), vec![(name, value.clone())]].concat();
            all = all.iter().flat_map(|given| values.iter().map(move |value| with(given, value))).collect();
        }
        Ok(all)
    }
}

impl Serialize for Lists {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ListVisitor;
        impl<'de> Visitor<'de> for ListVisitor {
            type Value = Lists;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("values or lists of values, by their names")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Lists, A::Error> {
                #[derive(Deserialize)]
                struct Values(#[serde(deserialize_with = "one_or_many")] Vec<FileValue>);
                let mut lists = Vec::new();
                while let Some((name, Values(values))) = map.next_entry::<String, Values>()? {
                    lists.push((name, values.into_iter().map(String::from).collect()));
                }
                Ok(Lists::from_names(lists))
            }
        }
        from.deserialize_map(ListVisitor)
    }
}

/// The values of a range. Any other text is one value.
fn expanded(text: &str) -> Vec<String> {
    let (range, factor) = text.split_once(" by ").unwrap_or((text, "2"));
    let ends = range.split_once("..").and_then(|(from, to)| Some((bytes(from.trim())?, bytes(to.trim())?)));
    match (ends, bytes(factor.trim())) {
        (Some((from @ 1.., to)), Some(factor @ 2..)) => {
            let next = |value: &u64| value.checked_mul(factor);
            let values = std::iter::successors(Some(from), next).take_while(|value| *value <= to);
            values.map(|value| value.to_string()).collect()
        }
        _ => vec![text.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::parameter::joined;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn several_values_of_a_name_are_a_case_each() {
        let made = |typed: &[&str]| {
            let lists = Lists::typed(&owned(typed), "nx=162")?;
            let all = lists.product(|_| 0)?;
            Ok::<_, String>(all.into_iter().map(joined).collect::<Vec<_>>())
        };
        assert_eq!(made(&[]).unwrap(), [""]);
        assert_eq!(made(&["a=1", " 2", "b = x", "y"]).unwrap(), ["a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"]);
        // A layout contains commas.
        let cut = ["send=vector(8", "1", "[2", "3]", "double)", " double", "b=1"];
        assert_eq!(made(&cut).unwrap(), ["send=vector(8,1,[2,3],double) b=1", "send=double b=1"]);
        let many = ["a=1..1TiB", "b=1..1TiB", "c=1..1TiB", "d=1..1TiB"];
        assert!(made(&many).unwrap_err().contains("more than"));
    }

    #[test]
    fn the_test_layout_with_layouts_means_these() {
        let tests = |layouts: &[&str]| {
            let named = Selection { tests: owned(&["nas_lu_y", "Layout"]), ..Selection::default() };
            named.with_layouts(&owned(layouts)).tests
        };
        assert_eq!(tests(&["vector(4,1,2,double)"]), ["nas_lu_y"]);
        assert_eq!(tests(&[]), ["nas_lu_y", "Layout"]);
    }

    #[test]
    fn names_in_values_have_each_defined_value() {
        let choices = |params: &[&str], define: &[&str]| -> Result<Vec<_>, String> {
            let lists = Lists::typed(&owned(params), "nx=162")?;
            let selection = Selection { lists, define: owned(define), ..Selection::default() };
            Ok(selection.choices(|_| 0)?.into_iter().map(joined).collect())
        };
        let shape = "shape=double n[n][m + 2][x]";
        assert_eq!(
            choices(&[shape, "face=x+", "width=w"], &["n=4,5,m=2*n", "w=1"]).unwrap(),
            ["4][8", "5][10"].map(|n| format!("shape=double n[{n} + 2][x] face=x+ width=1"))
        );
        assert_eq!(choices(&["a=(x)", "b=x+"], &["x=2..4"]).unwrap(), ["a=(2) b=x+", "a=(4) b=x+"]);
    }

    #[test]
    fn a_range_is_written_out() {
        assert_eq!(expanded("1KiB..8KiB"), ["1024", "2048", "4096", "8192"]);
        assert_eq!(expanded("256 .. 4MiB by 128"), ["256", "32768", "4194304"]);
        assert_eq!(expanded("500..3000"), ["500", "1000", "2000"]);
        for other in ["64KiB", "kde:../traces/mine.csv", "0..8", "1..8 by 1", "linear"] {
            assert_eq!(expanded(other), [other]);
        }
    }

    #[test]
    fn values_are_limited_to_cores_unless_they_are_given() {
        let text = "threads = \"1..16\"\nvcis = 32\nat_most_cores = [\"threads\", \"vcis\"]\n";
        let read: Selection = toml::from_str(text).unwrap();
        let limited = |mut selection: Selection| {
            selection.limit_to_cores(3);
            ["threads", "vcis"].map(|name| selection.lists.get(name).unwrap().join(" "))
        };
        assert_eq!(limited(read.clone()), ["1 2", "3"]);
        let mut given = read;
        given.replace(&Lists::from_names([("threads", owned(&["8"]))]));
        assert_eq!(limited(given), ["8", "3"]);
    }

    #[test]
    fn a_selection_survives_its_text() {
        let text = "test = [\"stencil7\", \"stencil27\"]\npreset = \"default\"\ncompute_us = 4194.304\nthreads = 8\n";
        let read: Selection = toml::from_str(text).unwrap();
        assert_eq!((read.tests.len(), read.preset), (2, Some(Preset::Default)));
        assert_eq!(read.lists.get("compute_us").unwrap(), ["4194.304"]);
        let again: Selection = toml::from_str(&toml::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
