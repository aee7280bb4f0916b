//! The tests of a project: which there are, which fail, and what a run prints.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::random::Random;
use crate::world::World;

/// One test.
#[derive(Clone)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Whether it is skipped.
    pub skipped: bool,
}

/// All of them.
#[derive(Clone, Default)]
pub struct Suite {
    /// The tests.
    pub tests: Vec<Test>,
    /// Names of those that fail.
    pub failing: BTreeSet<String>,
    /// Whether the code builds.
    pub broken_build: bool,
}

impl Suite {
    /// Tests for `world`, all green.
    pub fn new(random: &mut Random, world: &mut World) -> Self {
        let mut suite = Self::default();
        let count = random.between(8, 120);
        let files: Vec<String> = (0..random.between(1, 5))
            .map(|at| format!("tests/{}_{at}.{}", random.name(), world.language.extension))
            .collect();
        for _ in 0..count {
            let file = random.pick(&files).clone();
            suite.add(random, world, &file);
        }
        suite
    }

    /// A new test in `file`; its name.
    pub fn add(&mut self, random: &mut Random, world: &mut World, file: &str) -> String {
        let name = format!("{}_{}", random.name(), self.tests.len() + random.between(1, 9) * 1000);
        world.add_test(random, file, &name);
        self.tests.push(Test { name: name.clone(), file: file.to_owned(), skipped: false });
        name
    }

    /// A file of tests.
    pub fn file(&self, random: &mut Random) -> String {
        random.pick(&self.tests).file.clone()
    }

    /// Takes a test away.
    pub fn remove(&mut self, world: &mut World, name: &str) {
        if let Some(at) = self.tests.iter().position(|test| test.name == name) {
            let test = self.tests.remove(at);
            world.remove_test(&test.file, &test.name);
        }
        self.failing.remove(name);
    }

    /// Skips a test.
    pub fn skip(&mut self, world: &mut World, name: &str) {
        if let Some(test) = self.tests.iter_mut().find(|test| test.name == name) {
            test.skipped = true;
            world.skip_test(&test.file, &test.name);
        }
        self.failing.remove(name);
    }

    /// Names of tests that run.
    pub fn running(&self) -> Vec<String> {
        self.tests.iter().filter(|test| !test.skipped).map(|test| test.name.clone()).collect()
    }

    /// Some tests that pass now.
    pub fn some(&self, random: &mut Random, count: usize) -> Vec<String> {
        let mut names = self.running();
        names.retain(|name| !self.failing.contains(name));
        random.shuffle(&mut names);
        names.truncate(count);
        names
    }

    /// The event of a run; `code` is filled in later.
    pub fn run(&self, random: &mut Random, world: &World, flaky: &BTreeSet<String>) -> Value {
        let (command, runner) = world.language.command;
        if self.broken_build {
            let error = format!("error[E0{}]: cannot find `{}`", random.between(100, 700), random.name());
            return json!({"type": "test_run", "status": "build_failed", "errors": [error],
                "runner": runner, "command": command});
        }
        let failing: Vec<&String> = self.failing.union(flaky).collect();
        let errors: Vec<String> = failing
            .iter()
            .map(|name| {
                let line = random.between(10, 400);
                let time = random.between(1, 900);
                format!("{name} at tests/all.rs:{line}: left != right after 0.{time:03}s")
            })
            .collect();
        let status = if failing.is_empty() { "passed" } else { "failed" };
        let skipped = self.tests.iter().filter(|test| test.skipped).count();
        json!({"type": "test_run", "status": status, "total": self.tests.len(), "skipped": skipped,
            "failing": failing, "errors": errors, "runner": runner, "command": command})
    }
}
