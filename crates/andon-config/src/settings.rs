//! The configuration after all layers: typed, complete, valid.

use std::sync::Arc;

use super::keys::{Guard, PathSettings, TestSettings};
use super::value::{TestCommand, Values};
use super::{setting::Words, source::SettingOrigin};
use andon_core::domain::effect::{Bell, OnStall, Program, Provider};
use andon_core::domain::scopes::{REST, Scope, Scopes};
use andon_core::domain::{
    context::CachedTokens, identity::IdentityRules, settings::RuleSettings, time::Span, workflow::Workflow,
};
use andon_core::history::Fold;
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
    /// `agents.waits`
    pub waits: Vec<String>,
    /// `[normalize]`: names and patterns, in the order they apply; each compiles.
    pub normalize: Vec<(String, String)>,
    /// `[on_stall]`, `[advisor]`, `[fallback]`, `[notify]`.
    pub response: Response,
    /// `[identity]`.
    pub identity: IdentityRules,
    /// `[workflow]`; empty without one.
    pub workflow: Arc<Workflow>,
    pub(super) values: Values,
}

impl Config {
    /// A fold over no facts yet, under this configuration.
    pub fn fold(&self) -> Fold {
        let fold = Fold::new(self.guard.session_gap).in_workflow(self.workflow.clone());
        fold.counting(self.cached).knowing(&self.test.known_red)
    }

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
            config.test.format = own.format.or(config.test.format);
            config.test.scopes.of = Some(name.to_owned());
            config.test.reports.extend(own.reports.iter().cloned());
        }
        Some(config)
    }

    /// Returns whether a commit that touches scope `name` asks for its tests.
    pub fn is_asked_at_commit(&self, name: &str) -> bool {
        self.test.scopes.get(name).is_none_or(|own| own.at == ScopeAt::Commit)
    }

    /// The test command of scope `name`; of [`REST`], `test.command`.
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

/// The four sections. Programs come from the user's own configuration only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// `on_stall.policy`
    pub on_stall: OnStall,
    /// `on_stall.command`, with `on_stall.timeout`.
    pub on_stall_program: Option<Program>,
    /// `advisor.command`, with `advisor.timeout`.
    pub advisor: Option<Program>,
    /// `fallback.providers`
    pub providers: Vec<Provider>,
    /// `notify.command`, with its five seconds.
    pub notify: Option<Program>,
    /// `notify.bell`
    pub bell: Bell,
    /// `notify.again`; `None` for never.
    pub again: Option<Span>,
}
