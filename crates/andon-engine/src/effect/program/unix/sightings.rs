//! Looks in `/proc` for the programs that a command starts while it runs: `make test` does not tell that it calls
//! pytest.
//!
//! A program that began and ended between two looks is not seen, and systems without `/proc` show nothing. Only
//! programs that write to the command's own output, or to it through `tee` and its like, count: what is written
//! elsewhere is not missed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::BTreeSet, fs};

use super::StartedProgram;
use testreport::{KnownRunner, RunnerCall, Stream};

/// Between two looks: at first often, for the tests of a second.
const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(250);

/// Programs that pass on all of what they read.
const PASSING: [&str; 3] = ["tee", "cat", "ts"];

/// Programs that are kept.
const MAX_KEPT: usize = 32;
/// Processes that are looked at at once.
const MAX_PROCESSES: usize = 512;

/// Looks for known runners below a command.
pub(super) struct Sightings {
    pid: i32,
    /// The targets of its standard output and standard error.
    outputs: Vec<PathBuf>,
    seen: BTreeSet<StartedProgram>,
    next: Instant,
    pause: Duration,
}

impl Sightings {
    /// Below the process of that id, which has just started.
    pub(super) fn below(pid: i32) -> Self {
        let outputs = [1, 2].into_iter().filter_map(|fd| output(pid, fd)).collect();
        Self { pid, outputs, seen: BTreeSet::new(), next: Instant::now(), pause: FIRST }
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
            self.seen.extend(self.runner(pid));
        }
        self.pause = self.pause.saturating_mul(5).checked_div(4).unwrap_or(LONGEST).min(LONGEST);
        self.next = now.checked_add(self.pause.max(now.elapsed().saturating_mul(20))).unwrap_or(now);
    }

    /// The programs that were seen.
    pub(super) fn into_seen(self) -> Vec<StartedProgram> {
        self.seen.into_iter().collect()
    }

    /// The input of a program such as `tee` that passes it on to our output is our output as well.
    fn follow(&mut self, pid: i32) {
        let name =
            words(pid).first().and_then(|word| Path::new(word).file_name()?.to_str().map(str::to_owned));
        let passes_on = name.is_some_and(|name| PASSING.contains(&name.as_str()));
        if passes_on
            && output(pid, 1).is_some_and(|output| self.outputs.contains(&output))
            && let Some(input) = output(pid, 0).filter(|input| !self.outputs.contains(input))
        {
            self.outputs.push(input);
        }
    }

    fn runner(&self, pid: i32) -> Option<StartedProgram> {
        let words = words(pid);
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        // A script of Python may be one that starts a runner in itself.
        let call = RunnerCall::of_words(&texts);
        if call.is_none() && !is_python(&texts) {
            return None;
        }
        let fd = if call.map(|call| call.runner.stream()) == Some(Stream::Stdout) { 1 } else { 2 };
        let writes_to_ours = output(pid, fd).is_some_and(|output| self.outputs.contains(&output));
        let directory = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let given = call.map_or_else(Vec::new, |call| variables(pid, call.runner));
        let words = given.into_iter().chain(words).collect();
        writes_to_ours.then_some(StartedProgram { words, directory })
    }
}

/// The name of a program and its arguments; none of one that is gone.
fn words(pid: i32) -> Vec<String> {
    texts(pid, "cmdline")
}

/// The variables of its environment that add words to those of a runner: `SPEC_OPTS=--dry-run`.
fn variables(pid: i32, runner: KnownRunner) -> Vec<String> {
    let names = runner.rows("variable");
    let is_its =
        |text: &String| text.split_once('=').is_some_and(|(name, _)| names.clone().any(|own| own == name));
    texts(pid, "environ").into_iter().filter(is_its).collect()
}

fn texts(pid: i32, file: &str) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn is_python(words: &[&str]) -> bool {
    let name = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
    name.is_some_and(|name| name.starts_with("python"))
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
