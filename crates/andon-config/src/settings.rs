//! The choices that keys have by name, and what the scopes of the tests say.

use std::sync::Arc;

use super::value::TestCommand;
use andon_core::domain::{Scope, Scopes, Span};
use testreport::Format;

andon_core::named_enum! {
    /// Whose commits are refused (docs/concepts.md).
    pub enum AppliesTo, "whose commits are refused" {
        /// Everyone's.
        Everyone = "everyone",
        /// Those with an agent's markers, trailers or node; others are recorded only.
        Agents = "agents",
    }
}

andon_core::named_enum! {
    /// The behaviour of a hook when Andon itself fails (docs/exit-codes.md).
    pub enum OnInternalError, "what a hook does" {
        /// Warns and lets the commit pass.
        Warn = "warn",
        /// Refuses the commit.
        Block = "block",
    }
}

andon_core::named_enum! {
    /// The worth of runs that were made elsewhere (docs/concepts.md: a run counts only if it was the configured
    /// `test.command`, and for such a run that is only a claim).
    pub enum HandedInRuns, "the worth of a run" {
        /// They are kept and shown, and prove nothing.
        Record = "record",
        /// They count as runs of `test.command`, marked as handed in.
        Count = "count",
    }
}

andon_core::named_enum! {
    /// The gate for a commit whose tests did not run.
    pub enum AtCommit, "what a commit does" {
        Refuse = "refuse",
        /// The gate runs them on what is committed.
        Run = "run",
    }
}

andon_core::named_enum! {
    /// The worth of a passing run that ran fewer tests than are known.
    pub enum FullRuns, "true or false" {
        /// Fewer tests are worth a warning.
        Wanted = "false",
        /// Fewer tests prove nothing (`test.full = true`).
        Required = "true",
    }
}

andon_core::named_enum! {
    /// A test runner whose reports Andon knows how to ask for.
    pub enum Runner, "a test runner" {
        /// `cargo test`
        Cargo = "cargo",
        /// `cargo nextest run`
        Nextest = "nextest",
        Pytest = "pytest",
        Jest = "jest",
        Vitest = "vitest",
        /// `go test`
        Go = "go",
        /// `npm test` and its kind: pass on to another runner.
        Npm = "npm",
        Phpunit = "phpunit",
        Ctest = "ctest",
        /// A test program of Google Test.
        Gtest = "gtest",
    }
}

andon_core::named_enum! {
    /// The doors that ask for the tests of a scope.
    pub enum ScopeAt, "when tests are asked for" {
        /// Each commit that touches it.
        Commit = "commit",
        /// Push, completion and check alone: they are slow.
        Push = "push",
    }
}

/// `[test.scopes.<name>]`: a part of the code with tests of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeSettings {
    /// Name, paths and needs.
    pub scope: Scope,
    pub command: TestCommand,
    pub at: ScopeAt,
    /// `None` for that of `test.format`.
    pub format: Option<Format>,
    /// Globs of report files, from the repository root; valid.
    pub reports: Vec<String>,
    /// `None` for no limit.
    pub timeout: Option<Span>,
}

#[derive(Debug, Clone, Default)]
pub struct TestScopes {
    /// The code of each scope.
    pub scopes: Arc<Scopes>,
    /// The tests of each, by name.
    pub settings: Vec<ScopeSettings>,
    /// The scope that the other settings of `[test]` are of; `None` for the whole.
    pub of: Option<String>,
}

impl TestScopes {
    pub fn get(&self, name: &str) -> Option<&ScopeSettings> {
        self.settings.iter().find(|own| own.scope.name == name)
    }
}

impl PartialEq for TestScopes {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
    }
}

impl Eq for TestScopes {}

andon_core::named_enum! {
    /// The intention that the loop runs for ever (docs/spec-map.md, signals and escalation: section 5).
    pub enum Perpetual, "true or false" {
        /// A pause halts it.
        No = "false",
        /// A pause is cleared, an escalation only tells.
        Yes = "true",
    }
}
