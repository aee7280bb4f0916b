//! The processes that a command has started, for a command that shares our process group: a signal for the group would
//! reach our callers too, and one for the command alone only its `sh`.

use std::{collections::BTreeMap, fs};

use nix::unistd::Pid;

/// The processes below `ancestor` as `/proc` shows them at this moment; none on systems without it.
pub(super) fn find(ancestor: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in entries.flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(pid) = pid else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![ancestor.as_raw()];
    while let Some(parent) = open.pop() {
        // Removed, so that no process is met twice, whatever was read.
        let below = children.remove(&parent).unwrap_or_default();
        found.extend(below.iter().copied().map(Pid::from_raw));
        open.extend(below);
    }
    found
}

/// The parent in `pid (name) state parent ...`; the name may hold anything, closing brackets too.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_stands_after_the_name() {
        assert_eq!(parent_in("12 (a) b) c) S 7 12 12 0"), Some(7));
        for odd in ["", "12", "12 (a", "12 (a)", "12 (a) S", "12 (a) S x"] {
            assert_eq!(parent_in(odd), None, "{odd}");
        }
    }
}
