//! `go test -json`: events of tests inside events of packages, and of builds.
//!
//! A package that has begun and not ended means a cut report. Subtests count by their leaves: the parent counts itself
//! only when it has none, or fails although none of them did. A package that fails without a failing test (`TestMain`,
//! a race found at the end) is an error of the run, as in the text of `go test`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{EventReader, LineUse};
use crate::tally::{Outcome, Tally, Trouble, append, append_line};
use crate::{ReportedPlace, cases::Cases};

/// Packages, and tests of one package, that may be open at one time.
const MAX_OPEN: usize = 100_000;

/// Builds whose output is kept.
const MAX_BUILDS: usize = 256;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Event {
    action: String,
    package: Option<String>,
    import_path: Option<String>,
    test: Option<String>,
    output: Option<String>,
    failed_build: Option<String>,
}

/// The subtests of a test that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Subtests {
    #[default]
    None,
    Passed,
    Failed,
}

#[derive(Debug, Default)]
struct Test {
    output: String,
    subtests: Subtests,
}

#[derive(Debug, Default)]
struct Package {
    tests: BTreeMap<String, Test>,
    failing: u64,
    output: String,
}

/// Reads the events line by line.
#[derive(Default)]
pub(super) struct GoReader {
    packages: BTreeMap<String, Package>,
    builds: BTreeMap<String, String>,
    build_failed: bool,
    overflow: bool,
}

impl GoReader {
    fn of_package(&mut self, said: &mut Cases, name: &str, event: &Event) {
        let printed = event.output.as_deref().unwrap_or_default();
        let Some(package) = self.packages.get_mut(name) else { return };
        match (event.test.as_deref(), event.action.as_str(), Outcome::told("go-json", &event.action)) {
            (Some(id), "run", _) if package.tests.len() < MAX_OPEN || package.tests.contains_key(id) => {
                package.tests.entry(id.to_owned()).or_default();
            }
            (Some(_), "run", _) => self.overflow = true,
            (Some(id), "output", _) => package.print(id, printed),
            (None, "output", _) => self.print(name, printed),
            (Some(id), _, Some(outcome)) => package.end(name, id, outcome, &mut said.tally),
            (None, _, Some(outcome)) => self.end_package(said, name, outcome, event.failed_build.as_deref()),
            (_, _, None) => {}
        }
    }

    fn print(&mut self, name: &str, output: &str) {
        self.plain(output);
        if let Some(package) = self.packages.get_mut(name) {
            append(&mut package.output, output);
        }
    }

    fn build(&mut self, event: Event) {
        if event.action == "build-fail" {
            self.build_failed = true;
        }
        let known = self.builds.len() < MAX_BUILDS;
        if let (Some(path), true) = (event.import_path, known) {
            append(self.builds.entry(path).or_default(), event.output.as_deref().unwrap_or_default());
        }
    }

    fn end_package(&mut self, said: &mut Cases, name: &str, outcome: Outcome, failed_build: Option<&str>) {
        let Some(mut package) = self.packages.remove(name) else { return };
        package.give_up(name, &mut said.tally);
        if outcome == Outcome::Passed && !name.is_empty() {
            said.tally.placed(ReportedPlace::GoPackage(name.to_owned()));
        }
        if outcome != Outcome::Failed || package.failing > 0 {
            return;
        }
        if failed_build.is_some() {
            self.build_failed = true;
        }
        if let Some(path) = failed_build {
            let output = self.builds.get(path).unwrap_or(&package.output);
            return said.tally.ended(name, Outcome::Errored, &first_error(output));
        }
        said.tally.trouble(Trouble::GaveUp);
        let error = first_error(&package.output);
        let why = if error.is_empty() { "failed without a failing test" } else { &error };
        said.tally.run_error(&if name.is_empty() { why.to_owned() } else { format!("{name}: {why}") });
    }
}

impl EventReader for GoReader {
    /// A line between the events: Go before 1.24 says so that a package did not build.
    fn plain(&mut self, line: &str) {
        if is_build_failure(line) {
            self.build_failed = true;
        }
    }

    fn line(&mut self, said: &mut Cases, line: &str) -> LineUse {
        if !line.contains("\"Action\":") {
            return LineUse::NotMine;
        }
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            return LineUse::Broken;
        };
        if event.action.starts_with("build-") {
            said.recognised = true;
            self.build(event);
            return LineUse::Mine;
        }
        // `go tool test2json` without `-p` knows no package.
        let name = match event.package.as_deref() {
            Some(name) => name,
            None if is_without_package(line, &event) => "",
            None => return LineUse::NotMine,
        };
        said.recognised = true;
        if self.packages.len() >= MAX_OPEN && !self.packages.contains_key(name) {
            self.overflow = true;
        } else {
            self.packages.entry(name.to_owned()).or_default();
            self.of_package(said, name, &event);
        }
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if self.build_failed {
            said.tally.trouble(Trouble::BuildFailed);
            for output in self.builds.values() {
                said.tally.run_error(&first_error(output));
            }
        }
        if let Some((name, _)) = self.packages.first_key_value() {
            let text = format!("packages without a result: {}, the first is {name:?}", self.packages.len());
            said.cut(text);
        }
        for (name, mut package) in std::mem::take(&mut self.packages) {
            package.give_up(&name, &mut said.tally);
        }
        if self.overflow {
            said.too_many(MAX_OPEN);
        }
    }
}

impl Package {
    fn print(&mut self, test: &str, output: &str) {
        if let Some(test) = self.tests.get_mut(test) {
            append(&mut test.output, output);
        }
    }

    fn end(&mut self, package: &str, name: &str, outcome: Outcome, tally: &mut Tally) {
        let test = self.tests.remove(name).unwrap_or_default();
        let failed = outcome == Outcome::Failed;
        let subtests = if failed { Subtests::Failed } else { Subtests::Passed };
        let mut path = name;
        while let Some((parent, _)) = path.rsplit_once('/') {
            if let Some(parent) = self.tests.get_mut(parent) {
                parent.subtests = parent.subtests.max(subtests);
                break;
            }
            path = parent;
        }
        self.failing += u64::from(failed);
        let counts = match test.subtests {
            Subtests::None => true,
            Subtests::Passed => failed,
            Subtests::Failed => false,
        };
        if counts {
            tally.ended(&full_id(package, name), outcome, &first_error(&test.output));
        }
    }

    /// The tests that began and never ended; of those in one another the innermost.
    fn give_up(&mut self, package: &str, tally: &mut Tally) {
        let tests = std::mem::take(&mut self.tests);
        for (name, test) in &tests {
            let below = format!("{name}/");
            let inner = tests.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below));
            if !inner && test.subtests != Subtests::Failed {
                self.failing += 1;
                tally.ended(&full_id(package, name), Outcome::Errored, &first_error(&test.output));
            }
        }
    }
}

/// `package::TestName`, or the name alone where the package is not known.
fn full_id(package: &str, test: &str) -> String {
    if package.is_empty() { test.to_owned() } else { [package, "::", test].concat() }
}

/// True for the event of a test that names no package: it has no key that other events would have.
fn is_without_package(line: &str, event: &Event) -> bool {
    const ACTIONS: [&str; 11] =
        ["start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "attr", "artifacts"];
    const KEYS: [&str; 9] =
        ["Time", "Action", "Test", "Elapsed", "Output", "OutputType", "Key", "Value", "Path"];
    let keys = serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap_or_default();
    ACTIONS.contains(&event.action.as_str()) && keys.keys().all(|key| KEYS.contains(&key.as_str()))
}

/// `FAIL example.com/p [build failed]`, with a tab.
fn is_build_failure(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with("FAIL\t") && (line.ends_with(" [build failed]") || line.ends_with(" [setup failed]"))
}

/// The output of a test without what the runner prints around it, up to the stack of a panic.
fn first_error(output: &str) -> String {
    let mut error = String::new();
    for line in output.lines() {
        let start = line.trim_start();
        if start.starts_with("goroutine ") {
            break;
        }
        let frame =
            ["=== ", "--- ", "FAIL\t", "# ", "exit status "].iter().any(|mark| start.starts_with(mark));
        if !frame && !matches!(start.trim_end(), "" | "FAIL" | "PASS") {
            append_line(&mut error, line);
        }
    }
    error
}

#[cfg(test)]
mod tests;
