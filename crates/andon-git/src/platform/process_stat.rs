//! A process as Linux describes it in `/proc/PID/stat`; other systems have nothing like it.

use std::path::Path;

use crate::files::read_plain;

/// More than the file of any process holds, in bytes.
const MAX_STAT: u64 = 4096;

/// A process. Ids are used again; together with the start an id is unique while the machine runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its id.
    pub pid: u32,
    /// The name of its program, cut by the system.
    pub name: String,
    /// Its state: `R`, `S`, `T` where it was stopped, ...
    pub state: char,
    /// The id of the process that it belongs to.
    pub parent: u32,
    /// When it was started, in the system's ticks since boot.
    pub started: u64,
}

impl ProcessStat {
    /// The process with this id, where it is there and the system tells.
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(&read_plain(Path::new(&format!("/proc/{pid}/stat")), MAX_STAT).ok()??)
    }

    /// Reads `PID (NAME) STATE PPID ...`, with the start as the 22nd field. The name may hold anything, brackets too.
    pub fn parse(stat: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stat);
        let (head, rest) = text.rsplit_once(')')?;
        let (pid, name) = head.split_once('(')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { pid: pid.trim().parse().ok()?, name: name.to_owned(), state, parent, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        for name in ["git", "a) (git", "", "x y"] {
            let stat = format!("12 ({name}) S 4 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99887 1 2\n");
            let read = ProcessStat { pid: 12, name: name.to_owned(), state: 'S', parent: 4, started: 99_887 };
            assert_eq!(ProcessStat::parse(stat.as_bytes()), Some(read), "{name}");
        }
        for bad in ["", "12", "12 (git", "12 (git) S", "12 (git) S x", "12 (git) S 4 5"] {
            assert!(ProcessStat::parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
