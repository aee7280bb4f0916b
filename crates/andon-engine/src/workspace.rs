//! A repository with its configuration: what every verb starts from.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, rc::Rc};

use crate::effect::{AndonDir, Site};
use crate::{Context, OpsError, Result, context, text::Style};
use andon_config::{self as config, Config, ConfigErrors, OnInternalError};
use andon_core::domain::{Level, OverlayEntry, PathClass, PathRules, Timestamp, Tracking, TreeId};
use andon_core::{change::normalize::Normalizer, detect};
use andon_git::{Overlay, Repo};
use andon_store::Fingerprinter;

/// The setting of `andon.toml` for errors of Andon's own, even where no repository can be opened: `"warn"` if it cannot
/// be read either.
pub fn on_internal_error(ctx: &Context) -> OnInternalError {
    let root = match Repo::open(&ctx.cwd, &ctx.repo_env) {
        Ok(repo) => repo.workdir().map(Path::to_owned),
        Err(_) => ctx
            .repo_env
            .work_tree
            .as_ref()
            .map(|top| ctx.cwd.join(top))
            .or_else(|| ctx.cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned)),
    };
    let sources = root.and_then(|root| config::read_sources(&root, ctx.user_config.as_deref()).ok());
    let config = sources.and_then(|sources| config::load(&sources).ok());
    config.map_or(OnInternalError::Warn, |config| config.guard.on_internal_error)
}

/// An opened repository and the configuration that holds in it.
pub struct Workspace {
    /// The repository that git itself would use from the working directory.
    pub repo: Rc<Repo>,
    /// The effective configuration.
    pub config: Config,
    /// The errors of the configuration, when the defaults replace it.
    pub config_errors: Option<ConfigErrors>,
    /// When it was opened, by the clock of this process.
    pub opened: Timestamp,
    /// git or Andon was called from below the top of the working tree.
    pub below_top: bool,
    /// True if untracked files are no code: everything beside the checkout was brought there for the tests.
    pub tracked_alone: bool,
    /// Variables that tests need in addition to those that they inherit.
    pub variables: Vec<(OsString, OsString)>,
}

impl Workspace {
    /// A repository with a configuration that is known.
    pub fn at(repo: impl Into<Rc<Repo>>, config: Config, opened: Timestamp) -> Self {
        let (repo, below_top, tracked_alone, variables) = (repo.into(), false, false, Vec::new());
        Self { repo, config, config_errors: None, opened, below_top, tracked_alone, variables }
    }

    /// Opens the repository of the context. A wrong configuration is an error.
    pub fn open(ctx: &Context) -> Result<Self> {
        let mut workspace = Self::open_lenient(ctx)?;
        workspace.config_errors.take().map_or(Ok(workspace), |errors| Err(errors.into()))
    }

    /// Opens the repository of the context. A wrong configuration leaves the defaults, and its errors are kept: for
    /// hooks that must record in any case.
    pub fn open_lenient(ctx: &Context) -> Result<Self> {
        let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
        let root = repo.workdir().unwrap_or(repo.git_dir());
        let loaded = config::read_sources(root, ctx.user_config.as_deref())
            .map_err(ConfigErrors::from)
            .and_then(|sources| config::load(&sources));
        let (mut config, config_errors) = match loaded {
            Ok(config) => (config, None),
            Err(errors) => (config::load(&[])?, Some(errors)),
        };
        // As its document has it: the escalation alone, by one variable.
        if ctx.var("ANDON_ESCALATE").is_some_and(|value| value == "0")
            && let Some(escalation) = config.rules.get_mut(detect::CO_OCCURRENCE.id)
        {
            escalation.level = Level::Off;
        }
        let below_top = match ctx.var("GIT_PREFIX") {
            Some(prefix) => !prefix.is_empty(),
            None => repo.workdir().is_some_and(|top| ctx.cwd != top && ctx.cwd.starts_with(top)),
        };
        Ok(Self { config_errors, below_top, ..Self::at(repo, config, ctx.now) })
    }

    /// The same as the tests of scope `name` see it ([`Config::of_scope`]); `None` where there is no such scope.
    pub fn of_scope(&self, name: &str) -> Option<Self> {
        Some(Self {
            below_top: self.below_top,
            tracked_alone: self.tracked_alone,
            variables: self.variables.clone(),
            ..Self::at(Rc::clone(&self.repo), self.config.of_scope(name)?, self.opened)
        })
    }

    /// `.andon/` of this working tree; `None` in a bare repository.
    pub fn andon_dir(&self) -> Option<AndonDir> {
        self.repo.workdir().map(AndonDir::below)
    }

    /// The place for the effects of a decision.
    pub fn site<'a>(&'a self, ctx: &Context) -> Site<'a> {
        Site {
            repo: &self.repo,
            andon_dir: self.andon_dir(),
            ack: self.config.guard.ack,
            style: Style::of_a_file(context::local),
            response: &self.config.response,
            transcript: ctx.var("ANDON_TRANSCRIPT").map(PathBuf::from),
            at: ctx.now,
        }
    }

    /// The top of the working tree, or an error that says there is none.
    pub fn top(&self) -> Result<&Path> {
        self.repo.workdir().ok_or_else(|| OpsError::NoWorkTree(self.repo.git_dir().to_owned()))
    }

    /// The working tree as differences from HEAD, without untracked files that `test.reports` names: what a run
    /// leaves behind is not the code that it ran on.
    pub fn overlay(&self) -> Result<Overlay> {
        let mut overlay = self.repo.worktree_overlay()?;
        if self.tracked_alone {
            overlay.entries.retain(|entry| entry.tracking == Tracking::Tracked);
        }
        // The configuration was refused if one of these were no glob.
        if let Ok(reports) = PathRules::new(&[], &self.config.test.reports) {
            let left_behind = |entry: &OverlayEntry| {
                entry.tracking == Tracking::Untracked && reports.class(&entry.path) == PathClass::Ignored
            };
            overlay.entries.retain(|entry| !left_behind(entry));
        }
        Ok(overlay)
    }

    /// Fingerprints of code under the project's path rules.
    pub fn fingerprinter(&self) -> Fingerprinter<'_> {
        Fingerprinter::new(&self.repo, &self.config.paths.rules)
    }

    /// HEAD's tree; `None` before the first commit.
    pub fn head_tree(&self) -> Result<Option<TreeId>> {
        Ok(self.repo.head()?.commit().map(|head| self.repo.tree_of(head)).transpose()?)
    }

    /// True if the path is one of the code, by the project's rules.
    pub fn is_code(&self, path: &[u8]) -> bool {
        self.config.paths.rules.class(path) == PathClass::Code
    }

    /// The normalizer with the project's patterns.
    pub fn normalizer(&self) -> Result<Normalizer> {
        Ok(Normalizer::new(&self.config.normalize)?)
    }
}
