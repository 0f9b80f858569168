//! Tables as files.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Processor;

/// Increased if classes, ways or trials change, so that older tables are measured again.
const TABLE: u32 = 5;

/// The choices for one processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Model of the processor.
    pub processor: String,
    /// Its microcode.
    pub microcode: String,
    /// The C library.
    pub library: String,
    /// Version of ddtbench and of the classes.
    pub version: String,
    pub rows: Vec<Row>,
}

/// The choice for one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `engine`, or `loops` for the tuned loops.
    pub part: String,
    pub class: String,
    /// `pack` or `unpack`.
    pub direction: String,
    /// The chosen way.
    pub way: String,
    /// The mean of its speeds with warm and cold caches.
    pub bytes_per_s: f64,
    /// The fastest of the other ways, with its speed.
    pub next: Option<(String, f64)>,
    /// The way that is shipped.
    pub shipped: String,
}

impl Row {
    /// Whether another way than the shipped one was chosen.
    pub fn is_changed(&self) -> bool {
        self.way != self.shipped
    }
}

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct TableError {
    path: PathBuf,
    reason: String,
}

fn version() -> String {
    format!("{}.{TABLE}", env!("CARGO_PKG_VERSION"))
}

impl Table {
    /// An empty table.
    pub fn new(processor: &Processor, rows: Vec<Row>) -> Self {
        let Processor { model, microcode, library } = processor.clone();
        Self { processor: model, microcode, library, version: version(), rows }
    }

    /// The file for a processor in a folder of tables.
    pub fn path(folder: &Path, processor: &Processor) -> PathBuf {
        folder.join(processor.file_name(&version()))
    }

    /// The table for a processor; `None` without a file.
    ///
    /// # Errors
    /// If the file is damaged, or for another processor, C library or version.
    pub fn read(folder: &Path, processor: &Processor) -> Result<Option<Self>, TableError> {
        let path = Self::path(folder, processor);
        let failed = |reason: String| TableError { path: path.clone(), reason };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        let table: Self = serde_json::from_str(&text).map_err(|error| failed(format!("damaged: {error}")))?;
        match table == Self::new(processor, table.rows.clone()) {
            true => Ok(Some(table)),
            false => Err(failed(format!(
                "for {} (microcode {}, {}, version {}), not for this processor and version",
                table.processor, table.microcode, table.library, table.version
            ))),
        }
    }

    /// Writes the table, at once, because other processes may read it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path, processor: &Processor) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        // Readable for others, because the folder may be shared.
        let readable = fs::Permissions::from_mode(0o666);
        let mut part = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
        part.write_all((serde_json::to_string_pretty(self)? + "\n").as_bytes())?;
        part.persist(Self::path(folder, processor))?;
        Ok(())
    }

    /// The choices that differ from the shipped ones, such as `engine, one run of 1 to 1024 bytes, pack: memcpy`.
    pub fn changes(&self) -> impl Iterator<Item = String> {
        let changed = self.rows.iter().filter(|row| row.is_changed());
        changed.map(|Row { part, class, direction, way, .. }| format!("{part}, {class}, {direction}: {way}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(microcode: &str) -> Processor {
        Processor {
            model: "a model".to_owned(),
            microcode: microcode.to_owned(),
            library: "glibc 2.36".to_owned(),
        }
    }

    fn row() -> Row {
        Row {
            part: "engine".to_owned(),
            class: "one run".to_owned(),
            direction: "pack".to_owned(),
            way: "memcpy".to_owned(),
            bytes_per_s: 1e9,
            next: Some(("32-byte vectors".to_owned(), 9e8)),
            shipped: "memcpy".to_owned(),
        }
    }

    #[test]
    fn a_table_is_read_as_written_and_only_for_its_processor() {
        let folder = tempfile::tempdir().unwrap();
        let (here, updated) = (processor("1"), processor("2"));
        assert!(Table::read(folder.path(), &here).unwrap().is_none());
        let table = Table::new(&here, vec![row()]);
        table.write(folder.path(), &here).unwrap();
        assert_eq!(Table::read(folder.path(), &here).unwrap(), Some(table));
        let other = Row { way: "32-byte vectors".to_owned(), ..row() };
        let changes: Vec<_> = Table::new(&here, vec![row(), other]).changes().collect();
        assert_eq!(changes, ["engine, one run, pack: 32-byte vectors"]);
        assert!(Table::read(folder.path(), &updated).unwrap().is_none());
    }

    #[test]
    fn damaged_and_foreign_files_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let (here, other) = (processor("1"), processor("2"));
        let path = Table::path(folder.path(), &here);
        let reason = || Table::read(folder.path(), &here).unwrap_err().to_string();
        for text in ["", "{", "[]", "{\"rows\": []}"] {
            fs::write(&path, text).unwrap();
            assert!(reason().contains("damaged: "), "{}", reason());
        }
        Table::new(&here, vec![row()]).write(folder.path(), &here).unwrap();
        let cut = fs::read_to_string(&path).unwrap();
        fs::write(&path, &cut[..cut.len() / 2]).unwrap();
        assert!(reason().contains("damaged: "), "{}", reason());
        let foreign = serde_json::to_string(&Table::new(&other, vec![row()])).unwrap();
        fs::write(&path, foreign).unwrap();
        assert!(reason().contains("for a model (microcode 2, glibc 2.36, version "), "{}", reason());
    }
}
