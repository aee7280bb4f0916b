//! The choices that keys have by name, and what the scopes of the tests say.

use std::sync::Arc;

use super::setting::Words;
use super::value::TestCommand;
use andon_core::domain::scopes::{Scope, Scopes};
use andon_core::domain::time::Span;
use testreport::Format;

/// Whose commits are refused (docs/concepts.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AppliesTo {
    /// Everyone's.
    Everyone,
    /// Those with an agent's markers, trailers or node; others are recorded only.
    Agents,
}

impl Words for AppliesTo {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Everyone, "everyone"), (Self::Agents, "agents")];
}

/// The behaviour of a hook when Andon itself fails (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnInternalError {
    /// Warns and lets the commit pass.
    Warn,
    /// Refuses the commit.
    Block,
}

impl Words for OnInternalError {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Warn, "warn"), (Self::Block, "block")];
}

/// The worth of runs that were made elsewhere (docs/concepts.md: a run counts only if it was the configured
/// `test.command`, and for such a run that is only a claim).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandedInRuns {
    /// They are kept and shown, and prove nothing.
    Record,
    /// They count as runs of `test.command`, marked as handed in.
    Count,
}

impl Words for HandedInRuns {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Record, "record"), (Self::Count, "count")];
}

/// The gate for a commit whose tests did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtCommit {
    /// It is refused.
    Refuse,
    /// The gate runs them on what is committed.
    Run,
}

impl Words for AtCommit {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Refuse, "refuse"), (Self::Run, "run")];
}

/// The worth of a passing run that ran fewer tests than are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FullRuns {
    /// Fewer tests are worth a warning.
    Wanted,
    /// Fewer tests prove nothing (`test.full = true`).
    Required,
}

impl Words for FullRuns {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Wanted, "false"), (Self::Required, "true")];
}

/// A test runner whose reports Andon knows how to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Runner {
    /// `cargo test`
    Cargo,
    /// `cargo nextest run`
    Nextest,
    /// `pytest`
    Pytest,
    /// `jest`
    Jest,
    /// `vitest`
    Vitest,
    /// `go test`
    Go,
    /// `npm test` and its kind: pass on to another runner.
    Npm,
    /// `phpunit`
    Phpunit,
    /// `ctest`
    Ctest,
    /// A test program of Google Test.
    Gtest,
}

impl Runner {
    /// Its name.
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(one, _)| *one == self).map_or("", |(_, name)| name)
    }
}

impl Words for Runner {
    const WORDS: &'static [(Self, &'static str)] = &[
        (Self::Cargo, "cargo"),
        (Self::Nextest, "nextest"),
        (Self::Pytest, "pytest"),
        (Self::Jest, "jest"),
        (Self::Vitest, "vitest"),
        (Self::Go, "go"),
        (Self::Npm, "npm"),
        (Self::Phpunit, "phpunit"),
        (Self::Ctest, "ctest"),
        (Self::Gtest, "gtest"),
    ];
}

/// The doors that ask for the tests of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeAt {
    /// Each commit that touches it.
    Commit,
    /// Push, completion and check alone: they are slow.
    Push,
}

impl Words for ScopeAt {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Commit, "commit"), (Self::Push, "push")];
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

/// All of `[test.scopes]`.
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

/// The intention that the loop runs for ever (docs/spec-map.md, signals and escalation: section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Perpetual {
    /// A pause halts it.
    No,
    /// A pause is cleared, an escalation only tells.
    Yes,
}

impl Words for Perpetual {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::No, "false"), (Self::Yes, "true")];
}
