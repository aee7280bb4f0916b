//! Looks in `/proc` for the programs that a command starts while it runs: `make test` does not tell that it calls
//! pytest.
//!
//! A program that began and ended between two looks is not seen, and systems without `/proc` show nothing. Only
//! runners that write to the command's own output, or to it through `tee` and its like, count: what is written
//! elsewhere is not missed. Of every other program that does work of its own the directory is kept.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::BTreeSet, fs};

use super::StartedProgram;
use testreport::command_words::{is_launcher, program_name};
use testreport::{KnownRunner, Stream};

/// Between two looks: at first often, for tests that take a tenth of a second.
const FIRST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(250);

/// Programs that pass on all of what they read.
const PASSING: [&str; 3] = ["tee", "cat", "ts"];

/// Runners that are kept, and directories of other programs.
const MAX_KEPT: usize = 32;
/// Processes that are looked at at once.
const MAX_PROCESSES: usize = 512;

/// Looks for known runners below a command.
pub(super) struct Sightings {
    pid: i32,
    /// The directory that it was started in.
    top: Option<PathBuf>,
    /// The targets of its standard output and standard error.
    outputs: Vec<PathBuf>,
    seen: BTreeSet<StartedProgram>,
    /// The directories of programs that are no known runner.
    at_work_in: BTreeSet<PathBuf>,
    next: Instant,
    pause: Duration,
}

impl Sightings {
    /// Below the process of that id, which has just started.
    pub(super) fn below(pid: i32) -> Self {
        let outputs = [1, 2].into_iter().filter_map(|fd| output(pid, fd)).collect();
        let (seen, at_work_in) = (BTreeSet::new(), BTreeSet::new());
        Self { pid, top: directory(pid), outputs, seen, at_work_in, next: Instant::now(), pause: FIRST }
    }

    /// The time until the next look.
    pub(super) fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Looks, if it is time.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if self.outputs.is_empty() || now < self.next || self.seen.len() >= MAX_KEPT {
            return;
        }
        let (mut open, mut below) = (vec![self.pid], Vec::new());
        while let Some(pid) = open.pop() {
            if below.len() >= MAX_PROCESSES {
                break;
            }
            below.push(pid);
            open.extend(children(pid));
        }
        for pid in &below {
            self.follow(*pid);
        }
        for pid in below {
            self.note(pid);
        }
        // Short tests here must not be missed beside long work elsewhere.
        let is_elsewhere =
            !self.at_work_in.is_empty() && !self.at_work_in.iter().any(|place| self.is_here(place));
        self.pause = if is_elsewhere { FIRST } else { self.pause };
        self.pause = self.pause.saturating_mul(5).checked_div(4).unwrap_or(LONGEST).min(LONGEST);
        self.next = now.checked_add(self.pause.max(now.elapsed().saturating_mul(20))).unwrap_or(now);
    }

    /// The runners that were seen, and the directories of other programs, without words; none where there are more than are kept.
    pub(super) fn into_seen(self) -> Vec<StartedProgram> {
        let others = Some(self.at_work_in).filter(|places| places.len() < MAX_KEPT).unwrap_or_default();
        let others = others.into_iter().map(|directory| StartedProgram { words: Vec::new(), directory });
        self.seen.into_iter().chain(others).collect()
    }

    /// The input of a program such as `tee` that passes it on to our output is our output as well.
    fn follow(&mut self, pid: i32) {
        let passes_on = words(pid).first().is_some_and(|word| PASSING.contains(&program_name(word)));
        if passes_on
            && output(pid, 1).is_some_and(|output| self.outputs.contains(&output))
            && let Some(input) = output(pid, 0).filter(|input| !self.outputs.contains(input))
        {
            self.outputs.push(input);
        }
    }

    fn note(&mut self, pid: i32) {
        let words = words(pid);
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(directory) = directory(pid) else { return };
        let shows = |fd| output(pid, fd).is_some_and(|output| self.outputs.contains(&output));
        // A script of Python may be one that starts a runner in itself.
        let runner = KnownRunner::of_words(&texts);
        let fd = if runner.map(KnownRunner::stream) == Some(Stream::Stdout) { 1 } else { 2 };
        let is_python = texts.first().is_some_and(|word| program_name(word).starts_with("python"));
        if (runner.is_some() || is_python) && shows(fd) {
            let given = runner.map_or_else(Vec::new, |runner| variables(pid, runner));
            let words = given.into_iter().chain(words.iter().cloned()).collect();
            self.seen.insert(StartedProgram { words, directory: directory.clone() });
        }
        // Helpers of a tool work where it is installed; a shell goes to where the work is.
        let counts = if self.is_here(&directory) { !is_launcher(&texts) } else { shows(1) };
        if counts && !texts.concat().is_empty() && self.at_work_in.len() < MAX_KEPT {
            self.at_work_in.insert(directory);
        }
    }

    fn is_here(&self, directory: &Path) -> bool {
        self.top.as_ref().is_some_and(|top| directory.starts_with(top))
    }
}

fn directory(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The name of a program and its arguments; none of one that is gone.
fn words(pid: i32) -> Vec<String> {
    texts(pid, "cmdline")
}

/// The variables of its environment that add words to those of a runner, or lead to files that do: `SPEC_OPTS=--dry-run`.
fn variables(pid: i32, runner: KnownRunner) -> Vec<String> {
    let names = runner.variables();
    let is_its =
        |text: &String| text.split_once('=').is_some_and(|(name, _)| names.clone().any(|own| own == name));
    texts(pid, "environ").into_iter().filter(is_its).collect()
}

fn texts(pid: i32, file: &str) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The pipe or terminal that a process writes to.
fn output(pid: i32, fd: i32) -> Option<PathBuf> {
    let target = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    let is_shown = target.to_string_lossy().starts_with("pipe:") || target.starts_with("/dev/pts");
    is_shown.then_some(target)
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<i32>>())
        .collect()
}
