//! Compares the agent's configuration, session and role with those pinned: checked in the tree that is to be committed,
//! and only where something was pinned.

use crate::{Context, OpsError, Result, Workspace, asking};
use andon_config::Config;
use andon_core::detect;
use andon_core::domain::{Claims, CommitId, Files, Maker, Mismatch, TreeId, identity};
use andon_git::Repo;
use andon_store::ConfigFiles;

/// True if the rule is on and something was pinned.
pub fn is_asked(config: &Config) -> bool {
    detect::IDENTITY_DRIFT.active(&config.rules).is_some() && config.identity.is_declared()
}

/// The differences of the tree that is to be committed from what was pinned.
pub(crate) fn of_candidate(ctx: &Context, ws: &Workspace, tree: TreeId) -> Result<Vec<Mismatch>> {
    if !is_asked(&ws.config) {
        return Ok(Vec::new());
    }
    let mut found = of_tree(&ws.repo, &ws.config, tree)?;
    let actor = ctx.actor();
    let node = match node(ctx, ws)? {
        Some(node) => node,
        None => actor.node_name(),
    };
    let claims = Claims { session: actor.session.as_deref(), node: &node };
    found.extend(identity::unbound(&ws.config.identity, claims));
    Ok(found)
}

/// The differences of a tip that is pushed from what it pins itself, but for those that the remote has.
pub(crate) fn of_tip(ws: &Workspace, tip: CommitId, known: Option<TreeId>) -> Result<Vec<Mismatch>> {
    let Some(config) = asking::config_at(&ws.repo, tip).filter(is_asked) else { return Ok(Vec::new()) };
    let of = |tree| of_tree(&ws.repo, &config, tree);
    let mut found = of(ws.repo.tree_of(tip)?)?;
    let before = if found.is_empty() { Vec::new() } else { known.map_or(Ok(Vec::new()), of)? };
    found.retain(|one| !before.contains(one));
    Ok(found)
}

/// The declared node that commits, as far as it is known before there is a message.
fn node(ctx: &Context, ws: &Workspace) -> Result<Option<String>> {
    if !ws.config.workflow.is_declared() {
        return Ok(None);
    }
    let (actor, author, head) = (ctx.actor(), ctx.committer(&ws.repo), ws.repo.head()?);
    let maker =
        Maker { environment: actor.node.as_deref(), author: &author, trailers: &[], branch: head.branch() };
    Ok(ws.config.workflow.node_for(&maker).map(|node| node.name.clone()))
}

/// The differences of a tree's files from those pinned.
pub fn of_tree(repo: &Repo, config: &Config, tree: TreeId) -> Result<Vec<Mismatch>> {
    if config.identity.checksum.is_none() {
        return Ok(Vec::new());
    }
    Ok(identity::drift(&config.identity, &files(config, |declared| Ok(declared.of_tree(repo, tree)?))?))
}

/// The declared files, found by `find`. Globs that the configuration has checked and that still do not compile are an
/// error: they must not switch the rule off.
pub fn files(config: &Config, find: impl FnOnce(&ConfigFiles) -> Result<Files>) -> Result<Files> {
    let declared = ConfigFiles::new(&config.identity.files).ok_or_else(|| {
        OpsError::usage("the globs of identity.files cannot be compiled", "use fewer or simpler globs")
    })?;
    find(&declared)
}
