//! Lists of findings as TOML: known ones, which do not fail a run, and those to be tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use apps::Layouts;
use common::conformance::{Case, FaultKind, Operation};
use datatypes::{Construction, Definitions, Layout};
use serde::{Deserialize, Serialize};

use super::finding::{Finding, Hit, distinct_hits};

/// Items of a message at most; tests need memory for them.
const MOST_ITEMS: u32 = 100_000;

/// Findings of one or several MPIs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingList {
    /// The findings. Lists can be appended to each other, so that an empty one has no entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finding: Vec<ListedFinding>,
}

/// A finding in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedFinding {
    /// The MPI and the version in which it was found, such as `MPICH 5.0.2`: it is tried on all versions. Without it, it is of any MPI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<String>,
    /// The operation.
    pub operation: String,
    /// How it fails.
    pub kind: FaultKind,
    /// The simplest layout.
    pub layout: String,
    /// The number of the case, which makes its data and tags.
    #[serde(default)]
    pub case: u64,
    /// Items in the message.
    pub items: u32,
    /// Whether data ends at a page that cannot be accessed; otherwise it begins behind one.
    #[serde(default)]
    pub at_end: bool,
    /// How the datatype is made.
    #[serde(default, skip_serializing_if = "Construction::is_usual")]
    pub construction: Construction,
    /// Whether the layout may have more than the fault needs, because the time was over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The fault in words, of which only the place of a crash is compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Other operations that fail with this layout, and how; missing if not all were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<BTreeMap<String, FaultKind>>,
    /// Findings that probably have the same cause, and hits of other classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<ListedFinding>,
}

/// Findings or layouts to try again.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// Findings, each with its operation.
    Findings(FindingList),
    /// Layouts with their numbers of items, by all operations.
    Layouts(Vec<(Layout, u32)>),
}

impl Replayed {
    /// Reads a list of findings, or layouts in the text form.
    ///
    /// # Errors
    /// If the file cannot be read, or is neither.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = text(path)?;
        let is_list = text.contains("[[finding]]") || text.trim().is_empty();
        if is_list {
            return FindingList::parse(&text, path).map(Self::Findings);
        }
        let layouts = Layouts::typed(&text, &Definitions::default())
            .with_context(|| format!("{} is neither a list of findings nor a layout", path.display()))?;
        let items = |count: i64| u32::try_from(count).ok().filter(|items| *items <= MOST_ITEMS);
        let counted = layouts.iter().map(|counted| {
            let items =
                items(counted.count).with_context(|| format!("{} copies: too many", counted.count))?;
            Ok((counted.layout.clone(), items))
        });
        counted.collect::<anyhow::Result<_>>().map(Self::Layouts)
    }
}

/// The text of a file with findings or layouts.
fn text(path: &Path) -> anyhow::Result<String> {
    let place = path.display();
    ensure!(
        path.exists(),
        "file not found: {place}; a list of findings is `findings.toml` in the folder of an earlier `ddtbench conform`"
    );
    std::fs::read_to_string(path).with_context(|| format!("cannot read {place}"))
}

impl FindingList {
    /// Reads a list.
    ///
    /// # Errors
    /// If the file cannot be read, or an entry is not a finding.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        Self::parse(&text(path)?, path)
    }

    fn parse(text: &str, path: &Path) -> anyhow::Result<Self> {
        let place = path.display();
        let list: Self =
            toml::from_str(text).with_context(|| format!("{place} is not a list of findings"))?;
        for (i, listed) in list.finding.iter().enumerate() {
            listed.finding().with_context(|| format!("{place}: finding {}", i + 1))?;
        }
        Ok(list)
    }

    /// The findings of an MPI with this name and version, those of other versions among them: they may have been repaired.
    pub fn of_mpi(&self, mpi: &str) -> Vec<Finding> {
        let is_of = |listed: &&ListedFinding| {
            listed.mpi.as_ref().is_none_or(|of| without_version(of) == without_version(mpi))
        };
        // Each was read successfully before.
        self.finding.iter().filter(is_of).filter_map(|listed| listed.finding().ok()).collect()
    }

    /// The hit of each finding, each once: another version may have them, too.
    pub fn all(&self) -> Vec<Hit> {
        distinct_hits(self.finding.iter().filter_map(|listed| listed.hit().ok()))
    }

    /// Adds findings of an MPI.
    pub fn add<'a>(&mut self, mpi: &str, findings: impl IntoIterator<Item = &'a Finding>) {
        self.finding.extend(findings.into_iter().map(|of| ListedFinding::from_finding(Some(mpi), of)));
    }
}

/// The name of an MPI: `Open MPI` of `Open MPI 5.0.11`.
fn without_version(mpi: &str) -> &str {
    mpi.rsplit_once(' ')
        .filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
        .map_or(mpi, |(name, _)| name)
}

impl ListedFinding {
    fn from_finding(mpi: Option<&str>, finding: &Finding) -> Self {
        let Finding { hit, others, is_complete, similar, .. } = finding;
        // The others are not tried again, so that those that depend on cases before them must not be listed.
        let similar = similar.iter().filter(|similar| similar.is_reproduced);
        Self {
            mpi: mpi.map(str::to_owned),
            operation: hit.operation.name.to_owned(),
            kind: hit.kind,
            layout: hit.layout.to_text(),
            case: hit.case,
            items: hit.items,
            at_end: hit.at_end,
            construction: hit.construction,
            unfinished: hit.is_unfinished,
            detail: hit.detail.clone(),
            others: is_complete
                .then(|| others.iter().map(|(operation, kind)| (operation.name.to_owned(), *kind)).collect()),
            similar: similar.map(|similar| Self::from_finding(None, similar)).collect(),
        }
    }

    fn finding(&self) -> anyhow::Result<Finding> {
        let others = self.others.iter().flatten().map(|(name, kind)| Ok((Operation::find(name)?, *kind)));
        let others = others.collect::<Result<_, String>>().map_err(anyhow::Error::msg)?;
        let similar = self.similar.iter().map(Self::finding).collect::<anyhow::Result<_>>()?;
        let known = Finding { is_known: true, cases: BTreeSet::new(), ..Finding::new(self.hit()?) };
        Ok(Finding { others, similar, is_complete: self.others.is_some(), ..known })
    }

    fn hit(&self) -> anyhow::Result<Hit> {
        let layout: Layout = self.layout.parse().with_context(|| format!("layout {:?}", self.layout))?;
        ensure!(self.items <= MOST_ITEMS, "items = {}: must be at most {MOST_ITEMS}", self.items);
        let case = Case::with_layout(self.case, layout, self.items, self.at_end);
        let operation = Operation::find(&self.operation).map_err(anyhow::Error::msg)?;
        let (kind, detail, construction) = (self.kind, self.detail.clone(), self.construction);
        let untried = Hit { is_unfinished: self.unfinished, ..Hit::untried(&case) };
        Ok(Hit { operation, kind, detail, construction, ..untried })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[[finding]]\nmpi = \"MPICH 5.0.2\"\noperation = \"pack\"\nkind = \"wrong_data\"\n\
        layout = \"vector(2, 1, -1, byte)\"\nitems = 1\n";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn read(text: &str) -> anyhow::Result<FindingList> {
        FindingList::read(file(text).path())
    }

    #[test]
    fn a_list_is_of_some_mpis() {
        let list = read(LIST).unwrap();
        let of = ["MPICH 5.0.2", "MPICH 5.1b1", "MPICH", "Open MPI 5.0.2"].map(|mpi| list.of_mpi(mpi).len());
        assert_eq!(of, [1, 1, 1, 0]);
        let twice = read(&[LIST, &LIST.replace("5.0.2", "5.0.3")].concat()).unwrap();
        assert_eq!((twice.finding.len(), twice.all().len()), (2, 1));
        let text = toml::to_string(&list).unwrap();
        assert_eq!(read(&text).unwrap(), list);
        let any = read(&LIST.replace("mpi = \"MPICH 5.0.2\"\n", "")).unwrap();
        assert_eq!(any.of_mpi("Open MPI 5").len(), 1);
        assert_eq!(read("").unwrap(), FindingList::default());
        assert_eq!(toml::to_string(&FindingList::default()).unwrap(), "");
    }

    #[test]
    fn a_finding_is_listed_with_other_operations_and_similar_findings() {
        let similar =
            "[[finding.similar]]\noperation = \"send\"\nkind = \"crash\"\nlayout = \"byte\"\nitems = 2\n";
        let text = format!("{LIST}[finding.others]\nunpack = \"hang\"\n{similar}");
        let findings = read(&text).unwrap().of_mpi("MPICH 5.0.2");
        let names = |finding: &Finding| finding.operations().iter().map(|of| of.name).collect::<Vec<_>>();
        assert_eq!(names(&findings[0]), ["pack", "unpack"]);
        assert_eq!(names(&findings[0].similar[0]), ["send"]);
        let is_of = |name: &str| findings[0].is_of(&[Operation::find(name).unwrap()]);
        assert_eq!(["unpack", "send"].map(is_of), [true, false]);
        let is_complete = |finding: &Finding| finding.is_complete;
        assert_eq!([&findings[0], &findings[0].similar[0]].map(is_complete), [true, false]);
        let mut list = FindingList::default();
        list.add("MPICH 5.0.2", &findings);
        assert_eq!(read(&toml::to_string(&list).unwrap()).unwrap(), list);
        assert!(format!("{:#}", read(&text.replace("unpack =", "unpak =")).unwrap_err()).contains("unpak"));
    }

    #[test]
    fn findings_and_layouts_are_tried_again() {
        let read = |text: &str| Replayed::read(file(text).path());
        assert!(matches!(read(LIST).unwrap(), Replayed::Findings(list) if list.finding.len() == 1));
        let layouts = read("3 * vector(2, 1, 3, double) @ 64\n + int32\n").unwrap();
        let expected = [("vector(2, 1, 3, double)", 3), ("int32", 1)]
            .map(|(text, items)| (text.parse().unwrap(), items));
        assert_eq!(layouts, Replayed::Layouts(expected.to_vec()));
        let error = format!("{:#}", read("vectr(2)").unwrap_err());
        assert!(
            error.contains("neither a list of findings nor a layout: ") && error.contains("vector"),
            "{error}"
        );
        let error = Replayed::read(Path::new("nosuch.toml")).unwrap_err().to_string();
        assert!(error.contains("nosuch.toml; a list of findings is `findings.toml`"), "{error}");
    }

    #[test]
    fn a_wrong_entry_is_refused_with_its_place() {
        let refused = |from: &str, to: &str| format!("{:#}", read(&LIST.replace(from, to)).unwrap_err());
        let text = refused("vector(2, 1, -1, byte)", "vector(2, 1, byte)");
        assert!(text.contains("finding 1") && text.contains("the stride"), "{text}");
        assert!(refused("\"pack\"", "\"pak\"").contains("pack"));
        assert!(refused("items = 1", "items = 1\ncolour = 2").contains("colour"));
    }
}
