//! Finds shared memory that killed MPI programs have left behind. It takes memory until it is removed.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use procfs::process::{FDTarget, MMapPath, all_processes};

/// Linux stores POSIX shared memory here.
const FOLDER: &str = "/dev/shm";

/// Prefixes of segments: of MPICH, of Open MPI's transports and windows, of Intel MPI, and of the libraries
/// that they use (PSM, UCX, libfabric).
const NAMES: &str = "mpich_shm_ mpich_shar_tmp vader_segment. sm_segment. osc_rdma. osc_sm. Intel_MPI_ psm2_shm. \
     psm3_shm. ucx_shm_posix_ fi_shm_";

/// A segment that no process uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Leftover {
    path: PathBuf,
    bytes: u64,
}

/// A message about segments that we may remove: created by an MPI, owned by this user, used by no process.
pub fn message() -> Option<String> {
    // SAFETY: `geteuid` cannot fail and touches no memory.
    let user = unsafe { libc::geteuid() };
    sentence(&left_in(Path::new(FOLDER), user, &used))
}

/// A message with the command that removes them; `None` without any.
fn sentence(left: &[Leftover]) -> Option<String> {
    if left.is_empty() {
        return None;
    }
    /// Maximum number of segments in the command.
    const NAMED: usize = 4;
    let mib = left.iter().map(|left| left.bytes).sum::<u64>() as f64 / f64::from(1 << 20);
    let segments = match left.len() {
        1 => "a segment".to_owned(),
        count => format!("{count} segments"),
    };
    let names: Vec<String> = left.iter().map(|left| left.path.display().to_string()).collect();
    // A pattern would also match segments that another MPI program creates later.
    let remedy = match (common(left), left.len() > NAMED) {
        (_, false) => format!("; this frees them: rm {}", names.join(" ")),
        (Some(patterns), true) => {
            format!("; this frees them while no MPI program runs: rm {}", patterns.join(" "))
        }
        (None, true) => {
            let first = names[..NAMED - 1].join(", ");
            format!(
                ", such as {first}; other programs use segments with such names, so remove them when these have ended"
            )
        }
    };
    Some(format!(
        "killed MPI programs left {segments} of shared memory ({mib:.0} MiB) on this machine{remedy}"
    ))
}

/// Patterns for all of them, if they match no other file.
fn common(left: &[Leftover]) -> Option<Vec<String>> {
    let folder = left.first()?.path.parent()?;
    let begins = |path: &Path, name: &str| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
    };
    let all: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let mut patterns = Vec::new();
    for name in NAMES.split_whitespace().filter(|name| left.iter().any(|left| begins(&left.path, name))) {
        let is_left = |path: &PathBuf| left.iter().any(|left| left.path == *path);
        if !all.iter().filter(|path| begins(path, name)).all(is_left) {
            return None;
        }
        patterns.push(format!("{}*", folder.join(name).display()));
    }
    Some(patterns)
}

/// The segments in a folder. `used` returns the files there that processes use.
fn left_in(folder: &Path, user: u32, used: &dyn Fn(&Path) -> HashSet<PathBuf>) -> Vec<Leftover> {
    let is_of_mpi = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        NAMES.split_whitespace().any(|begin| name.starts_with(begin))
    };
    let mut left: Vec<Leftover> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_of_mpi(path))
        .filter_map(|path| {
            let facts = path.symlink_metadata().ok()?;
            // Allocated blocks of 512 bytes count, not the length of the file.
            (facts.is_file() && facts.uid() == user).then(|| Leftover { path, bytes: facts.blocks() * 512 })
        })
        .collect();
    // Checked after listing the files, so that files created meanwhile are not included.
    if !left.is_empty() {
        let used = used(folder);
        left.retain(|left| !used.contains(&left.path));
    }
    left.sort();
    left
}

/// The files of a folder that processes have mapped or opened.
fn used(folder: &Path) -> HashSet<PathBuf> {
    let mut used = HashSet::new();
    // Unreadable processes belong to other users, who cannot open our files.
    for process in all_processes().into_iter().flatten().flatten() {
        let mapped = process.maps().into_iter().flatten().filter_map(|map| match map.pathname {
            MMapPath::Path(path) => Some(path),
            _ => None,
        });
        used.extend(mapped.filter(|path| path.starts_with(folder)));
        let open = process.fd().into_iter().flatten().flatten().filter_map(|file| match file.target {
            FDTarget::Path(path) => Some(path),
            _ => None,
        });
        used.extend(open.filter(|path| path.starts_with(folder)));
    }
    used
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn what_no_process_uses_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, user) = (folder.path(), folder.path().metadata().unwrap().uid());
        let write = |name: &str| fs::write(folder.join(name), vec![1; 10_000]).unwrap();
        ["mpich_shm_1_0", "mpich_shm_2_0", "sm_segment.host.0.a", "somebody's"].into_iter().for_each(write);
        let left = || left_in(folder, user, &used);
        let names = |left: &[Leftover]| -> Vec<String> {
            left.iter().map(|left| left.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(&left()), ["mpich_shm_1_0", "mpich_shm_2_0", "sm_segment.host.0.a"]);
        assert!(left().iter().all(|left| left.bytes >= 10_000));
        let open = File::open(folder.join("mpich_shm_2_0")).unwrap();
        assert_eq!(names(&left()), ["mpich_shm_1_0", "sm_segment.host.0.a"]);
        drop(open);
        assert_eq!(left_in(folder, user + 1, &used), [], "another user's");
    }

    #[test]
    fn one_that_is_mapped_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mpich_shm_1_0");
        fs::write(&file, vec![1; 4096]).unwrap();
        let open = File::open(&file).unwrap();
        // SAFETY: a new mapping of a page that is only read, and its address is used only here.
        let page = unsafe {
            use std::os::fd::AsRawFd;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, open.as_raw_fd(), 0)
        };
        assert_ne!(page, libc::MAP_FAILED);
        drop(open);
        assert!(used(folder.path()).contains(&file));
        // SAFETY: the mapping was made above, and nothing refers to it.
        assert_eq!(unsafe { libc::munmap(page, 4096) }, 0);
        assert!(!used(folder.path()).contains(&file));
    }

    #[test]
    fn the_sentence_has_a_command_that_removes_these_and_no_others() {
        assert_eq!(sentence(&[]), None);
        let folder = tempfile::tempdir().unwrap();
        let left: Vec<Leftover> = (0..6)
            .map(|i| {
                let path = folder.path().join(format!("mpich_shm_{i}_0"));
                fs::write(&path, "").unwrap();
                Leftover { path, bytes: 1 << 20 }
            })
            .collect();
        let text = sentence(&left).unwrap();
        let pattern = format!("rm {}/mpich_shm_*", folder.path().display());
        assert!(text.contains("6 segments") && text.contains("6 MiB") && text.ends_with(&pattern), "{text}");
        assert!(text.contains("while no MPI program runs"), "{text}");
        // The seventh is in use.
        fs::write(folder.path().join("mpich_shm_7_0"), "").unwrap();
        let text = sentence(&left).unwrap();
        assert!(text.contains("mpich_shm_2_0; other") && !text.contains('*'), "{text}");
        assert!(!text.contains("mpich_shm_3_0") && !text.contains("rm "), "{text}");
        assert!(sentence(&left[..1]).unwrap().starts_with("killed MPI programs left a segment of"));
    }
}
