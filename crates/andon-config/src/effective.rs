//! The configuration after all layers: typed, complete, valid.

use std::sync::Arc;

use super::keys::{Guard, PathSettings, TestSettings};
use super::settings::{ScopeAt, TestScopes};
use super::source::SettingOrigin;
use super::value::{TestCommand, Values};
use andon_core::domain::{
    Bell, CachedTokens, IdentityRules, OnStall, Program, Provider, REST, RuleSettings, Span, Workflow,
};
use andon_core::history::Fold;

/// The effective configuration.
#[derive(Debug, Clone)]
pub struct Config {
    pub guard: Guard,
    pub test: TestSettings,
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
