//! The processes above this one, as Linux reports them: git above a hook, and an agent above a command of a person. A
//! process id is reused; together with the start time it is unique while the machine runs.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::file;
use andon_core::command_words::{self, ShellLine};
use andon_git::platform::process_stat::ProcessStat;

/// The number of processes above the hook that are looked at: shells, a framework and its interpreter come between.
const MAX_ABOVE: usize = 10;
/// Most git processes that are named: an alias or a rebase runs git from git.
const MAX_NAMED: usize = 4;
/// The number of processes above a command of a person that are looked at.
const MAX_HIGH: usize = 64;
/// Largest environment that is looked through, in bytes.
const MAX_ENVIRONMENT: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitProcess {
    /// Its id.
    pub pid: u32,
    /// When it was started, in the system's ticks since boot.
    pub started: u64,
}

impl From<ProcessStat> for GitProcess {
    fn from(ProcessStat { pid, started, .. }: ProcessStat) -> Self {
        Self { pid, started }
    }
}

/// The git processes from `parent` upwards, the nearest first; none where the system does not tell.
pub fn git_above(parent: u32) -> Vec<GitProcess> {
    stats_above(parent).take(MAX_ABOVE).filter(is_git).take(MAX_NAMED).map(GitProcess::from).collect()
}

fn is_git(stat: &ProcessStat) -> bool {
    stat.name == "git" || stat.name.starts_with("git-")
}

/// The process that a line of `/proc/PID/stat` describes, where it is one of git.
pub fn of_stat(stat: &[u8]) -> Option<GitProcess> {
    ProcessStat::parse(stat).filter(is_git).map(GitProcess::from)
}

/// True if the process still runs, and not another one under its number.
pub fn is_running(process: &GitProcess) -> bool {
    ProcessStat::of(process.pid).is_some_and(|now| GitProcess::from(now) == *process)
}

/// Looks through the environments with which the processes from `parent` upwards were started, the nearest first, until
/// `look` finds something. What may not be read is passed over; nothing is found where the system does not tell.
pub fn in_environments_above<T>(parent: u32, mut look: impl FnMut(u32, &[u8]) -> Option<T>) -> Option<T> {
    stats_above(parent).find_map(|stat| look(stat.pid, &proc_file(stat.pid, "environ")?))
}

/// The processes from `parent` upwards, the nearest first.
pub fn above(parent: u32) -> Vec<GitProcess> {
    stats_above(parent).map(GitProcess::from).collect()
}

fn stats_above(parent: u32) -> impl Iterator<Item = ProcessStat> {
    let of = |id: u32| Some(id).filter(|id| *id > 1).and_then(ProcessStat::of);
    std::iter::successors(of(parent), move |stat| of(stat.parent)).take(MAX_HIGH)
}

fn proc_file(pid: u32, name: &str) -> Option<Vec<u8>> {
    file::read(Path::new(&format!("/proc/{pid}/{name}")), MAX_ENVIRONMENT).ok()?
}

/// The program that started a hook whose parent is `parent`, past the shells that ran it as a command line; none where that
/// is a shell in which somebody types, or that runs a script: a person may share it.
pub fn starter(parent: u32) -> Option<GitProcess> {
    let runs_a_line = |stat: &ProcessStat| {
        let line = proc_file(stat.pid, "cmdline").unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        ShellLine::of_words(&line.split('\0').collect::<Vec<_>>()).is_some()
    };
    let found = stats_above(parent).find(|stat| !(is_shell(stat) && runs_a_line(stat)))?;
    Some(found).filter(|found| !is_shell(found)).map(GitProcess::from)
}

fn is_shell(stat: &ProcessStat) -> bool {
    command_words::is_shell(&stat.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_told_by_its_name() {
        for (name, is_git) in
            [("git", true), ("git-commit", true), ("a) (git", false), ("gitk", false), ("sh", false)]
        {
            let stat = format!("12 ({name}) S 4 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99887 1 2\n");
            let process = GitProcess { pid: 12, started: 99_887 };
            assert_eq!(of_stat(stat.as_bytes()), is_git.then_some(process), "{name}");
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
