//! Which commits are judged, and by which configuration.

use super::{Violation, violation};
use crate::adapter::framework;
use crate::config::{self, Config, Layer, MAX_BYTES, Source};
use crate::domain::findings::Level;
use crate::domain::ids::{CommitId, Oid};
use crate::domain::paths::CONFIG_FILE;
use crate::git::{Blob, Repo};
use crate::ops::context::Context;
use crate::ops::error::OpsError;

/// What the caller asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// `RANGE`
    pub range: Option<String>,
    /// `--from-ref` and `--to-ref`
    pub refs: Option<(String, String)>,
    /// The commit that is said to be the squash of the range.
    pub squash: Option<String>,
    /// Whether the cache may be believed.
    pub cached: Cached,
}

/// Whether facts that an earlier run left in the git directory are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cached {
    /// No: everything is derived from the commits. Whoever can edit a record can edit a cache.
    #[default]
    Derived,
    /// Yes, because somebody said so.
    Believed,
}

/// A resolved range.
pub(super) struct Range {
    /// As it is shown.
    pub shown: String,
    /// The commit whose configuration counts; `None` when the range has no base.
    pub base: Option<CommitId>,
    /// The newest commit.
    pub tip: CommitId,
    /// Oldest first.
    pub commits: Vec<CommitId>,
}

/// Finds the range: the argument, the two refs, or what the pre-commit framework names.
pub(super) fn spelled(ctx: &Context, asked: &Asked) -> Result<String, OpsError> {
    if let Some(range) = &asked.range {
        return Ok(range.clone());
    }
    let (from, to) =
        asked.refs.clone().or_else(|| framework::from_to(&ctx.vars)).ok_or_else(|| OpsError::Usage {
            what: "which commits are to be judged?".to_owned(),
            help: "andon check origin/main..HEAD, or --from-ref A --to-ref B".to_owned(),
        })?;
    // The framework names a new branch's base as the zero id.
    Ok(if from.parse::<Oid>().is_ok_and(|id| id.is_zero()) { to } else { format!("{from}..{to}") })
}

/// git reads an empty side as HEAD; here it is a variable of the CI that was not set, and `..HEAD` would judge
/// nothing and pass.
fn refuse_empty(range: &str) -> Result<(), OpsError> {
    if !range.trim().is_empty() && !range.trim_start().starts_with("..") {
        return Ok(());
    }
    Err(OpsError::Usage {
        what: format!("the range {range:?} has no base: is a variable empty?"),
        help: "name both sides: andon check origin/main..HEAD".to_owned(),
    })
}

/// Resolves a range as git spells it.
pub(super) fn resolve(repo: &Repo, range: &str) -> Result<Range, OpsError> {
    refuse_empty(range)?;
    let commits = repo.range(range)?;
    let (base, tip) = match range.split_once("...").or_else(|| range.split_once("..")) {
        Some((from, to)) => {
            let side = |text: &str| repo.resolve(if text.is_empty() { "HEAD" } else { text });
            let (from, to) = (side(from)?, side(to)?);
            (repo.merge_base(from, to)?.or(Some(from)), to)
        }
        None => (None, repo.resolve(range)?),
    };
    Ok(Range { shown: range.to_owned(), base, tip, commits })
}

/// The configuration of the base side: what a range changes about its own guard does not count in it. A range
/// that brings `andon.toml` in the first place is judged by what it brings.
pub(super) fn configuration(repo: &Repo, range: &Range) -> Result<(Config, Vec<Violation>), OpsError> {
    let at_base = range.base.map(|base| source(repo, base)).transpose()?.flatten();
    let at_tip = source(repo, range.tip)?;
    let mut violations = Vec::new();
    let used = match (&at_base, &at_tip) {
        (Some(base), Some(tip)) if base.text != tip.text => {
            let message = format!("{CONFIG_FILE} changed in this range; the one of its base was used");
            let help = format!("git diff {} {} -- {CONFIG_FILE}", short(range.base), range.tip.short());
            violations.push(violation(None, "config-changed", Level::Warn, message, &help));
            at_base
        }
        (Some(_), None) => {
            let message = format!("{CONFIG_FILE} was removed in this range; the one of its base was used");
            let help = format!("git checkout {} -- {CONFIG_FILE}", short(range.base));
            violations.push(violation(None, "config-removed", Level::Block, message, &help));
            at_base
        }
        (Some(_), Some(_)) => at_base,
        (None, _) => at_tip,
    };
    Ok((config::load(used.as_slice())?, violations))
}

fn short(id: Option<CommitId>) -> String {
    id.map_or_else(|| "BASE".to_owned(), |id| id.short())
}

/// `andon.toml` as a commit has it.
pub(super) fn source(repo: &Repo, commit: CommitId) -> Result<Option<Source>, OpsError> {
    let tree = repo.tree_of(commit)?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes())? else { return Ok(None) };
    let name = format!("{}:{CONFIG_FILE}", commit.short());
    match repo.read_blob(blob, MAX_BYTES)? {
        Blob::Content(text) => Ok(Some(Source { layer: Layer::Repository, name, text })),
        Blob::TooLarge(size) => Err(OpsError::Usage {
            what: format!("{name} has {size} bytes; at most {MAX_BYTES} are read"),
            help: "make it smaller".to_owned(),
        }),
    }
}
