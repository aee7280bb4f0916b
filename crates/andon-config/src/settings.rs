//! The configuration after all layers: typed, complete, valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::command::TestCommand;
use super::response::{Perpetual, Response};
use super::setting::Words;
use super::source::SettingOrigin;
use super::value::SourceValue;
use andon_core::domain::context::CachedTokens;
use andon_core::domain::identity::IdentityRules;
use andon_core::domain::ids::EntryId;
use andon_core::domain::paths::PathRules;
use andon_core::domain::response::AckMode;
use andon_core::domain::scopes::{REST, Scope, Scopes};
use andon_core::domain::settings::RuleSettings;
use andon_core::domain::time::Span;
use andon_core::domain::workflow::Workflow;
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

/// What a hook does when Andon itself fails (docs/exit-codes.md).
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

/// `[guard]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// What answers a halt.
    pub ack: AckMode,
    /// The ledger whose witnesses do, where only a signature acknowledges.
    pub ledger: Option<EntryId>,
    /// Whose commits are refused.
    pub applies_to: AppliesTo,
    /// What a hook does when Andon itself fails.
    pub on_internal_error: OnInternalError,
    /// Whether the loop is meant to run for ever.
    pub perpetual: Perpetual,
    /// The pause after which a new run begins.
    pub session_gap: Span,
}

/// What runs that were made elsewhere are worth (docs/concepts.md: a run counts only if it was the configured
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

/// What a commit does whose tests did not run.
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

/// Whether a passing run must have run all tests that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FullRuns {
    /// Fewer tests are worth a warning.
    Wanted,
    /// Fewer tests prove nothing (`test.full = true`).
    Required,
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

/// `[test.scopes.<name>]`: a part of the code with tests of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeSettings {
    /// Name, paths and needs.
    pub scope: Scope,
    /// What runs the tests of the scope.
    pub command: TestCommand,
    /// Globs of report files, from the repository root; valid.
    pub reports: Vec<String>,
    /// How long a run may take; `None` for no limit.
    pub timeout: Option<Span>,
}

/// All of `[test.scopes]`.
#[derive(Debug, Clone, Default)]
pub struct TestScopes {
    /// Which code belongs to which scope.
    pub scopes: Arc<Scopes>,
    /// How the tests of each are run, by name.
    pub settings: Vec<ScopeSettings>,
}

impl TestScopes {
    /// How the tests of scope `name` are run.
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

/// `[test]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSettings {
    /// What a commit does whose tests did not run.
    pub at_commit: AtCommit,
    /// What runs the tests.
    pub command: Option<TestCommand>,
    /// What output and reports are read as; `None` (`format = "auto"`) to recognise them.
    pub format: Option<Format>,
    /// Whether a passing run of a part of the tests proves anything.
    pub full: FullRuns,
    /// What runs made elsewhere are worth.
    pub handed_in: HandedInRuns,
    /// Globs of report files, from the repository root; valid.
    pub reports: Vec<String>,
    /// The runner, for better reports; `None` leaves the command as it is.
    pub runner: Option<Runner>,
    /// Parts of the code with tests of their own; empty without any.
    pub scopes: TestScopes,
    /// How long a run may take; `None` (`timeout = "none"`) for no limit.
    pub timeout: Option<Span>,
}

/// `[paths]`: valid globs, from the repository root.
#[derive(Debug, Clone)]
pub struct PathSettings {
    /// `docs` and `ignore`, compiled.
    pub rules: PathRules,
    /// Documentation.
    pub docs: Vec<String>,
    /// Neither code nor documentation.
    pub ignore: Vec<String>,
    /// The declared API.
    pub api: Vec<String>,
}

/// The effective configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// `[guard]`.
    pub guard: Guard,
    /// `[test]`.
    pub test: TestSettings,
    /// `[paths]`.
    pub paths: PathSettings,
    /// `[rules]`: every rule of the registry.
    pub rules: RuleSettings,
    /// `usage.cached`
    pub cached: CachedTokens,
    /// `[normalize]`: names and patterns, in the order they apply; each compiles.
    pub normalize: Vec<(String, String)>,
    /// `[on_stall]`, `[advisor]`, `[fallback]`, `[notify]`.
    pub response: Response,
    /// `[identity]`.
    pub identity: IdentityRules,
    /// `[workflow]`; empty without one.
    pub workflow: Arc<Workflow>,
    /// What was said, by dotted key.
    pub(super) values: BTreeMap<String, SourceValue>,
}

impl Config {
    /// The configuration as the tests of scope `name` have it: what they read is all the code that there is, and their command
    /// is the test command. [`REST`] has `test.command`. `None` where there is no such scope.
    #[must_use]
    pub fn of_scope(&self, name: &str) -> Option<Self> {
        let declared = &self.test.scopes;
        let mut config = self.clone();
        config.paths.rules = self.paths.rules.of_scope(declared.scopes.view(name)?);
        config.test.scopes = TestScopes::default();
        if name != REST {
            let own = declared.get(name)?;
            config.test.command = Some(own.command.clone());
            config.test.timeout = own.timeout;
            config.test.reports.extend(own.reports.iter().cloned());
        }
        Some(config)
    }

    /// What runs the tests of scope `name`; of [`REST`], `test.command`.
    pub fn command_of_scope(&self, name: &str) -> Option<&TestCommand> {
        if name == REST {
            return self.test.command.as_ref();
        }
        self.test.scopes.get(name).map(|own| &own.command)
    }

    /// Who said the value of the dotted `key`, such as `rules.iteration-cap.max`.
    pub fn origin(&self, key: &str) -> SettingOrigin {
        self.values.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone())
    }
}
