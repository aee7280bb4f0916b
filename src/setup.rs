//! The marks that installing leaves in a repository.

pub mod clients;
pub mod live;
pub mod place;

pub use self::{clients::*, live::*, place::*};

use std::fs;
use std::path::{Path, PathBuf};

use crate::install::Layout;
use andon_core::domain::{GitHook, plural::count};
use andon_core::escape::shell_quote_bytes;
use andon_engine::effect::AndonDir;
use andon_git::{Repo, platform::paths::shell_bytes};
use andon_store::{ledger::REF_PREFIX, union, wire::NOTES_REF};

/// The key that makes `git log` show notes.
pub const DISPLAY_REF_KEY: &str = "notes.displayRef";

/// The value that is added to [`DISPLAY_REF_KEY`]. A pattern, because git warns at every `git log` about a plain name
/// whose ref is not there yet, and it is not before the first recorded commit.
pub const DISPLAY_REF: &str = "refs/notes/andon*";

/// `path` as a word for a shell, to be copied.
pub(crate) fn quoted(path: &Path) -> String {
    shell_quote_bytes(&shell_bytes(path))
}

/// True when `pattern`, a value of `notes.displayRef` or `notes.rewriteRef`, means our ref: by name or by a
/// glob, whose `*` crosses slashes in git.
pub(crate) fn names_notes_ref(pattern: &str) -> bool {
    pattern == NOTES_REF
        || pattern.contains(['*', '?', '['])
            && globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(NOTES_REF))
}

/// The folder of husky's hooks.
pub(crate) const HUSKY: &str = ".husky";

/// The layout of husky's hooks when `core.hooksPath` leads to them.
pub(crate) fn hooks_of_husky(repo: &Repo) -> Option<Layout> {
    let value = repo.config_string("core.hooksPath")?;
    let path = Path::new(value.trim_end_matches('/'));
    if path.ends_with(".husky/_") {
        Some(Layout::Plain)
    } else {
        path.ends_with(HUSKY).then_some(Layout::Sourced)
    }
}

/// The key that names the event of `hook`.
pub(crate) fn event_key(hook: GitHook) -> String {
    format!("hook.andon-{}.event", hook.name())
}

/// The refs of ours that one remote fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchState {
    /// The name of the remote in git's configuration.
    pub remote: String,
    /// The refspecs that write records or ledgers of this clone, or remove them where fetching prunes.
    pub overwrites: Vec<String>,
    /// The refspecs that are missing, ready for `git config --add remote.NAME.fetch`.
    pub missing: Vec<String>,
}

/// Judges the fetch refspecs of all remotes, given as (remote, refspec).
pub fn fetch_states(refspecs: &[(String, String)]) -> Vec<FetchState> {
    let mut remotes: Vec<&str> = refspecs.iter().map(|(remote, _)| remote.as_str()).collect();
    remotes.sort_unstable();
    remotes.dedup();
    remotes
        .into_iter()
        .map(|remote| {
            let own: Vec<&str> =
                refspecs.iter().filter(|(name, _)| name == remote).map(|(_, spec)| spec.as_str()).collect();
            state(remote, &own)
        })
        .collect()
}

fn state(remote: &str, refspecs: &[&str]) -> FetchState {
    let [writer, records] = [REF_PREFIX, union::PREFIX].map(|prefix| format!("{prefix}0123456789abcdef"));
    let (overwrites, harmless): (Vec<&str>, Vec<&str>) = refspecs.iter().partition(|spec| {
        let to = spec.split_once(':').map_or("", |(_, to)| to);
        [NOTES_REF, &writer].iter().any(|name| target(&format!("{to}:{to}"), name).is_some())
    });
    let wanted = [
        (NOTES_REF, format!("+refs/notes/andon*:refs/notes/remotes/{remote}/andon*")),
        (writer.as_str(), format!("+{REF_PREFIX}*:refs/andon/remote/{remote}/ledger/*")),
        (records.as_str(), format!("+{}*:{}{remote}/*", union::PREFIX, union::REMOTE_PREFIX)),
    ];
    let missing = wanted
        .into_iter()
        .filter(|(name, _)| !harmless.iter().any(|spec| target(spec, name).is_some()))
        .map(|(_, spec)| spec);
    let overwrites = overwrites.into_iter().map(str::to_owned).collect();
    FetchState { remote: remote.to_owned(), overwrites, missing: missing.collect() }
}

/// True for a refspec of records or ledgers and nothing else: `andon install` can replace it.
pub fn is_ours_alone(spec: &str) -> bool {
    let from = spec.trim_start_matches('+');
    [NOTES_REF, OWN_REFS].iter().any(|own| from.starts_with(own))
}

/// The ref into which `spec` puts the remote's ref `name`. `None` when it does not fetch it, or puts it nowhere.
fn target(spec: &str, name: &str) -> Option<String> {
    let spec = spec.strip_prefix('+').unwrap_or(spec);
    if spec.starts_with('^') {
        return None;
    }
    let (from, to) = spec.split_once(':')?;
    if to.is_empty() {
        return None;
    }
    let Some((before, after)) = from.split_once('*') else {
        return (from == name).then(|| to.to_owned());
    };
    let middle = name.strip_prefix(before)?.strip_suffix(after)?;
    Some(to.replacen('*', middle, 1))
}

/// Everything of Andon's own among the refs, its copies of remotes included.
pub(crate) const OWN_REFS: &str = "refs/andon/";
/// The folder of Andon in each git directory.
const OWN_DIR: &str = "andon";

/// The folders of Andon that are there: plain ones, never what a link leads to.
pub(crate) fn folders_of(repo: &Repo) -> Vec<PathBuf> {
    let mut all = vec![repo.common_dir().join(OWN_DIR), repo.git_dir().join(OWN_DIR)];
    all.extend(repo.workdir().map(|top| AndonDir::below(top).path()));
    // The main working tree, seen from a linked one.
    let main = repo.common_dir().parent().filter(|_| repo.common_dir().ends_with(".git"));
    all.extend(main.map(|top| AndonDir::below(top).path()));
    for linked in repo.worktree_places() {
        all.push(linked.git_dir.join(OWN_DIR));
        all.extend(linked.top.map(|top| AndonDir::below(&top).path()));
    }
    all.sort();
    all.dedup();
    all.retain(|path| is_folder(path));
    all
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// The things of Andon that are here, in words.
pub(crate) fn leftovers(repo: &Repo) -> Vec<String> {
    let mut left = Vec::new();
    if let Ok(notes) = repo.notes_list(NOTES_REF)
        && !notes.is_empty()
    {
        left.push(format!("the records of {} in {NOTES_REF}", count(notes.len(), "commit")));
    }
    let is_ledger = |(name, _): &(String, _)| name.contains("/ledger/");
    if repo.refs_with_prefix(OWN_REFS).is_ok_and(|found| found.iter().any(is_ledger)) {
        left.push("the ledger of halts and answers in refs/andon/".to_owned());
    }
    let folders = folders_of(repo);
    left.extend(folders.iter().map(|path| quoted(path)));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refspecs_are_understood() {
        let heads = "+refs/heads/*:refs/remotes/origin/*";
        let notes = "+refs/notes/andon*:refs/notes/remotes/origin/andon*";
        let ledger = "+refs/andon/ledger/*:refs/andon/remote/origin/ledger/*";
        let records = "+refs/andon/records/*:refs/andon/remote-records/origin/*";
        let all: &[&str] = &[notes, ledger, records];
        let cases: [(&[&str], &[&str], &[&str]); 12] = [
            (&[heads], &[], all),
            (&[heads, notes, records], &[], &[ledger]),
            (&[heads, notes, ledger, records], &[], &[]),
            (&["+refs/*:refs/*"], &["+refs/*:refs/*"], all),
            // Without a plus it overwrites nothing, and removes where fetching prunes.
            (&["refs/*:refs/*"], &["refs/*:refs/*"], all),
            (&["+refs/notes/*:refs/notes/*", ledger], &["+refs/notes/*:refs/notes/*"], &[notes, records]),
            (
                &["+refs/notes/andon:refs/notes/andon", records],
                &["+refs/notes/andon:refs/notes/andon"],
                &[notes, ledger],
            ),
            (&["refs/notes/andon:refs/notes/other", "+refs/andon/*:refs/x/*"], &[], &[]),
            (&["refs/notes/andon", "^refs/andon/*", "refs/andon/*:"], &[], all),
            (&["+refs/andon/*:refs/andon/*", notes], &["+refs/andon/*:refs/andon/*"], &[ledger, records]),
            (
                &["+refs/notes/andon*:refs/notes/andon*", "refs/andon/*:refs/andon/*"],
                &["+refs/notes/andon*:refs/notes/andon*", "refs/andon/*:refs/andon/*"],
                all,
            ),
            // CI of one's own brings writers under their own names; they are taken in from there.
            (&["+refs/andon/records/*:refs/andon/records/*", notes, ledger], &[], &[]),
        ];
        for (specs, overwrites, missing) in cases {
            let pairs: Vec<(String, String)> =
                specs.iter().map(|spec| ("origin".to_owned(), (*spec).to_owned())).collect();
            let found = fetch_states(&pairs).remove(0);
            assert_eq!(found.overwrites, overwrites, "{specs:?}");
            assert_eq!(found.missing, missing, "{specs:?}");
        }
    }
}
