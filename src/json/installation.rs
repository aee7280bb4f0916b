//! `install`, `uninstall`, `doctor`.

use std::borrow::Cow;

use serde::Serialize;

use crate::view::status::LostHooks;

/// `andon/install@1`.
#[derive(Debug, Serialize)]
pub struct InstallJson<'a> {
    pub schema: &'static str,
    pub changed: bool,
    pub push_set: Option<&'a str>,
    pub fetch_added: Vec<FetchJson<'a>>,
    pub hooks_dir: Cow<'a, str>,
    pub hooks: Vec<HookJson<'a>>,
    pub mode: &'static str,
    pub mode_because: Option<&'a str>,
    pub files: Vec<Cow<'a, str>>,
    pub display_ref_added: bool,
    pub config_written: bool,
    pub test_command: Option<&'a str>,
    pub test_command_doubt: Option<String>,
    pub remarks: &'a [String],
    /// What has to be done yet before git starts Andon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<&'a LostHooks>,
}

/// `andon/install-plan@1`: what `andon install --dry-run` found.
#[derive(Debug, Serialize)]
pub struct InstallPlanJson<'a> {
    pub schema: &'static str,
    pub mode: &'static str,
    pub mode_because: Option<&'a str>,
    pub steps: Vec<InstallStepJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<&'a LostHooks>,
}

/// One change: a file or a key, by what is done to it.
#[derive(Debug, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum InstallStepJson<'a> {
    Write {
        path: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'a, str>>,
    },
    Rename {
        from: Cow<'a, str>,
        to: Cow<'a, str>,
    },
    Insert {
        path: Cow<'a, str>,
        lines: &'a str,
    },
    Remove {
        path: Cow<'a, str>,
    },
    Link {
        path: Cow<'a, str>,
        to: Cow<'a, str>,
    },
    Set {
        key: &'a str,
        value: &'a str,
    },
    Unset {
        key: &'a str,
        value: &'a str,
    },
}

/// A refspec that was added.
#[derive(Debug, Serialize)]
pub struct FetchJson<'a> {
    pub key: &'a str,
    pub refspec: &'a str,
}

/// The result for a hook; `dir` where hooks of several directories are listed.
#[derive(Debug, Serialize)]
pub struct HookJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<Cow<'a, str>>,
    pub hook: &'static str,
    pub state: String,
}

/// `andon/uninstall@1`.
#[derive(Debug, Serialize)]
pub struct UninstallJson<'a> {
    pub schema: &'static str,
    pub complete: bool,
    pub hooks: Vec<HookJson<'a>>,
    pub files: Vec<Cow<'a, str>>,
    pub config_hooks: usize,
    /// The files of agents' clients that our hooks were taken out of.
    pub clients: Vec<Cow<'a, str>>,
    pub display_refs: &'a [String],
    pub fetch_removed: usize,
    pub purged: Option<PurgedJson<'a>>,
    pub remarks: &'a [String],
}

/// What `--purge` deleted.
#[derive(Debug, Serialize)]
pub struct PurgedJson<'a> {
    /// Refs that the remotes have still, as far as is known here.
    pub left_at_remotes: Vec<RemoteRefJson<'a>>,
    pub records: usize,
    pub ledger_entries: usize,
    pub folders: Vec<Cow<'a, str>>,
}

/// A ref of Andon's at a remote.
#[derive(Debug, Serialize)]
pub struct RemoteRefJson<'a> {
    pub remote: &'a str,
    #[serde(rename = "ref")]
    pub name: &'a str,
}
