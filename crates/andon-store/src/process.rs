//! The processes above this one, as Linux reports them: git above a hook, and an agent above a command of a person. A
//! process id is reused; together with the start time it is unique while the machine runs.

use std::path::Path;

use andon_core::command_words::{self, ShellLine};
use serde::{Deserialize, Serialize};

use super::file;

/// How many processes above the hook are looked at: shells, a framework and its interpreter come between.
const MAX_ABOVE: usize = 10;
/// Most git processes that are named: an alias or a rebase runs git from git.
const MAX_NAMED: usize = 4;
/// How many processes above a command of a person are looked at.
const MAX_HIGH: usize = 64;
/// Largest environment that is looked through, in bytes.
const MAX_ENVIRONMENT: u64 = 1 << 20;
/// More than any `stat` of a process holds, in bytes.
const MAX_STAT: u64 = 4096;

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitProcess {
    /// Its id.
    pub pid: u32,
    /// When it was started, in the system's ticks since boot.
    pub started: u64,
}

/// The git processes from `parent` upwards, the nearest first; none where the system does not tell.
pub fn git_above(parent: u32) -> Vec<GitProcess> {
    let mut found = Vec::new();
    let mut next = parent;
    for _ in 0..MAX_ABOVE {
        if next <= 1 || found.len() == MAX_NAMED {
            break;
        }
        let Ok(Some(stat)) = file::read(Path::new(&format!("/proc/{next}/stat")), MAX_STAT) else { break };
        let Some(seen) = parse(&stat) else { break };
        if seen.is_git {
            found.push(seen.process);
        }
        next = seen.parent;
    }
    found
}

/// The process that a line of `/proc/PID/stat` describes, where it is one of git.
pub fn of_stat(stat: &[u8]) -> Option<GitProcess> {
    parse(stat).filter(|seen| seen.is_git).map(|seen| seen.process)
}

/// Whether the process still runs, and not another one under its number.
pub fn is_running(process: &GitProcess) -> bool {
    let stat = file::read(Path::new(&format!("/proc/{}/stat", process.pid)), MAX_STAT).ok().flatten();
    stat.and_then(|stat| of_stat(&stat)).is_some_and(|now| now == *process)
}

/// The same of a process of any program.
pub fn runs(process: &GitProcess) -> bool {
    let stat = file::read(Path::new(&format!("/proc/{}/stat", process.pid)), MAX_STAT).ok().flatten();
    stat.and_then(|stat| parse(&stat)).is_some_and(|now| now.process == *process)
}

/// Looks through the environments with which the processes from `parent` upwards were started, the nearest first, until
/// `look` finds something. What may not be read is passed over; nothing is found where the system does not tell.
pub fn in_environments_above<T>(parent: u32, mut look: impl FnMut(u32, &[u8]) -> Option<T>) -> Option<T> {
    let mut next = parent;
    for _ in 0..MAX_HIGH {
        if next <= 1 {
            break;
        }
        let of = |what: &str, max| file::read(Path::new(&format!("/proc/{next}/{what}")), max).ok().flatten();
        if let Some(found) = of("environ", MAX_ENVIRONMENT).and_then(|bytes| look(next, &bytes)) {
            return Some(found);
        }
        next = of("stat", MAX_STAT).and_then(|stat| parse(&stat))?.parent;
    }
    None
}

/// The processes from `parent` upwards, the nearest first.
pub fn above(parent: u32) -> Vec<GitProcess> {
    facts_above(parent).map(|seen| seen.process).collect()
}

fn facts_above(parent: u32) -> impl Iterator<Item = ProcessFacts> {
    let of = |id: u32| {
        let stat = file::read(Path::new(&format!("/proc/{id}/stat")), MAX_STAT).ok().flatten();
        stat.filter(|_| id > 1).and_then(|stat| parse(&stat))
    };
    std::iter::successors(of(parent), move |seen| of(seen.parent)).take(MAX_HIGH)
}

/// The program that started a hook whose parent is `parent`, past the shells that ran it as a command line; none where that
/// is a shell in which somebody types, or that runs a script: a person may share it.
pub fn starter(parent: u32) -> Option<GitProcess> {
    let command_line = |id: u32| {
        let bytes = file::read(Path::new(&format!("/proc/{id}/cmdline")), MAX_ENVIRONMENT).ok().flatten();
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let words: Vec<&str> = text.split('\0').collect();
        ShellLine::of_words(&words).is_some()
    };
    let found = facts_above(parent).find(|seen| !(seen.is_shell && command_line(seen.process.pid)))?;
    (!found.is_shell).then_some(found.process)
}

struct ProcessFacts {
    is_git: bool,
    is_shell: bool,
    parent: u32,
    process: GitProcess,
}

/// `PID (NAME) STATE PPID ...`, the start as the 22nd field. The name may hold anything, brackets too.
fn parse(stat: &[u8]) -> Option<ProcessFacts> {
    let text = String::from_utf8_lossy(stat);
    let (head, rest) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once('(')?;
    let pid = pid.trim().parse().ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    let process = GitProcess { pid, started };
    let is_git = name == "git" || name.starts_with("git-");
    let is_shell = command_words::is_shell(name);
    Some(ProcessFacts { is_git, is_shell, parent, process })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let tail = "4 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0";
        for (name, is_git) in
            [("git", true), ("git-commit", true), ("a) (git", false), ("gitk", false), ("sh", false)]
        {
            let stat = format!("12 ({name}) S 4 {} 99887 1 2\n", &tail[2..]);
            let seen = parse(stat.as_bytes()).unwrap();
            assert_eq!((seen.is_git, seen.parent), (is_git, 4), "{name}");
            let process = GitProcess { pid: 12, started: 99_887 };
            assert_eq!(of_stat(stat.as_bytes()), is_git.then_some(process), "{name}");
        }
        for bad in ["", "12", "12 (git", "12 (git) S", "12 (git) S x", "12 (git) S 4 5"] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn environments_are_looked_through_upwards() {
        let own = std::process::id();
        let has_path = |id: u32, bytes: &[u8]| bytes.windows(5).any(|part| part == b"PATH=").then_some(id);
        assert_eq!(in_environments_above(own, has_path), Some(own));
        let above = |id: u32, _: &[u8]| (id != own).then_some(id);
        assert_eq!(in_environments_above(own, above), Some(andon_git::platform::processes::parent_id()));
        assert_eq!(in_environments_above(own, |_, _| None::<u32>), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_starts_a_hook_is_above_it() {
        let own = std::process::id();
        let starter = starter(own).unwrap();
        assert_eq!(starter.pid, own, "a program is its own starter");
        assert_eq!(above(own).first(), Some(&starter));
    }

    #[test]
    fn nobody_is_above_the_first_process() {
        assert_eq!(git_above(0), []);
        assert_eq!(git_above(1), []);
        assert_eq!(git_above(u32::MAX), []);
        assert_eq!(in_environments_above(u32::MAX, |id, _| Some(id)), None);
    }
}
