//! Checks that documentation moved with the declared API (`paths.api`).

use crate::{Result, Workspace};
use andon_config::Config;
use andon_core::domain::{PathClass, PathRules, TreeId};
use andon_core::{detect::DocsChange, history::Timeline};
use andon_git::Repo;
use andon_store::Content;

/// API paths that are named.
const NAMED: usize = 16;

/// Judges the change from `before` to `after`.
pub fn between(
    repo: &Repo,
    config: &Config,
    before: Option<TreeId>,
    after: Content<'_>,
) -> Result<DocsChange> {
    if config.paths.api.is_empty() {
        return Ok(DocsChange::NotAsked);
    }
    let (base, pending) = match after {
        Content::Tree(tree) => (Some(tree), [].as_slice()),
        Content::Overlay(base, entries) => (base, entries),
    };
    let changes = base.map_or(Ok(Vec::new()), |tree| repo.changes(before, tree))?;
    let committed = changes.iter().flat_map(|change| change.old_path.iter().chain([&change.path]));
    let all = committed.chain(pending.iter().map(|entry| &entry.path));
    Ok(judge(config, all.map(Vec::as_slice)))
}

/// The tree that the work began with: below the oldest iteration of the window, else HEAD's.
pub fn began(ws: &Workspace, timeline: &Timeline) -> Result<Option<TreeId>> {
    let commit = match timeline.iterations.first() {
        Some(first) => first.parent,
        None => ws.repo.head()?.commit(),
    };
    // Behind the cut of a shallow clone there is nothing to compare with.
    Ok(commit.and_then(|commit| ws.repo.tree_of(commit).ok()))
}

fn judge<'a>(config: &Config, paths: impl Iterator<Item = &'a [u8]>) -> DocsChange {
    // The globs of the API, compiled as those of documentation are.
    let Ok(api) = PathRules::new(&config.paths.api, &[]) else { return DocsChange::NotAsked };
    let mut touched: Vec<Vec<u8>> = Vec::new();
    let mut docs = false;
    for path in paths {
        match config.paths.rules.class(path) {
            PathClass::Docs => docs = true,
            PathClass::Ignored => {}
            PathClass::Code => {
                let is_api = api.class(path) == PathClass::Docs;
                if is_api && touched.len() < NAMED && !touched.iter().any(|known| known == path) {
                    touched.push(path.to_vec());
                }
            }
        }
    }
    match (touched.is_empty(), docs) {
        (true, _) => DocsChange::NotAsked,
        (false, true) => DocsChange::Updated,
        (false, false) => DocsChange::Missing(touched),
    }
}
