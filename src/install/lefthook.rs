//! Andon's commands in `lefthook-local.yml`, which lefthook merges into its other configuration by itself: no hook of
//! the project has to be understood or changed.

use std::fs;
use std::path::{Path, PathBuf};

use testreport::WordList;

use super::start_lines::{self, Audience};
use super::{edits, words};
use andon_core::domain::GitHook;

/// The one that is for this clone alone.
pub const LOCAL: &str = "lefthook-local.yml";

/// Other names of it.
pub const OTHER_LOCALS: WordList = words("other local files of lefthook");

/// All commands. They sort behind the project's own, which may still change what is committed.
pub fn block() -> String {
    let hooks: String = GitHook::ALL.into_iter().map(hook).collect();
    edits::marked(0, &hooks)
}

fn hook(hook: GitHook) -> String {
    let name = hook.name();
    let spec = hook.spec();
    let more = if spec.sees_index {
        // lefthook passes over a command that is given no files: an empty commit, an amended message.
        format!("      files: echo {LOCAL}\n")
    } else if spec.reads_stdin {
        // With standard input no command is passed over.
        "      use_stdin: true\n".to_owned()
    } else {
        String::new()
    };
    let seen = if spec.sees_index { " # {files}" } else { "" };
    let lines = start_lines::lines(hook, "", " {0}", LOCAL, Audience::Always);
    let lines: String = lines.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "{name}:\n  commands:\n    zz-andon:\n{more}      run: |\n{}{seen}\n",
        lines.trim_end_matches('\n')
    )
}

/// The hook that reports, at each commit, that lefthook does not run them yet. `lefthook install` puts its own in this
/// place.
pub const NOTICE: &str = "#!/bin/sh\n\
    # andon: stands here until `lefthook install` puts the hooks of lefthook in this place\n\
    [ \"${ANDON-}\" = 0 ] || echo \"andon: lefthook does not run the hooks of andon here yet, so this commit is not \
    recorded; run: lefthook install\" >&2\n";

/// The hooks where it may go, first the one that every commit runs.
const NOTICE_AT: [GitHook; 3] = [GitHook::PrepareCommitMsg, GitHook::PostCommit, GitHook::PreCommit];

/// The place of the notice in `dir`, where what `goes` is gone; `None` where other hooks are in each place.
pub fn place_of_notice(dir: &Path, goes: impl Fn(&PathBuf) -> bool) -> Option<PathBuf> {
    let free = |path: &PathBuf| fs::symlink_metadata(path).is_err() || is_notice(path) || goes(path);
    NOTICE_AT.iter().map(|hook| dir.join(hook.name())).find(free)
}

/// The notices that are in `dir`, also where lefthook keeps the hooks that it found.
pub fn notices(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let places =
        |hook: GitHook| [dir.join(hook.name()), dir.join(format!("{}.old", hook.name()))].into_iter();
    NOTICE_AT.into_iter().flat_map(places).filter(|path| is_notice(path))
}

pub fn is_notice(path: &Path) -> bool {
    let short =
        fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() == NOTICE.len() as u64);
    short && fs::read(path).is_ok_and(|bytes| bytes == NOTICE.as_bytes())
}

/// The first hook that `text` configures already: it cannot be there twice.
pub fn taken(text: &[u8]) -> Option<GitHook> {
    let is = |hook: &GitHook| {
        text.split(|byte| *byte == b'\n').any(|line| {
            let key = line.strip_prefix(hook.name().as_bytes()).or_else(|| {
                let quoted = line.strip_prefix(b"\"").or_else(|| line.strip_prefix(b"'"))?;
                quoted.strip_prefix(hook.name().as_bytes())
            });
            key.is_some_and(|rest| {
                rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
            })
        })
    };
    let odd = text.trim_ascii_start().starts_with(b"{") || edits::find(text, b"\n...").is_some();
    if odd { Some(GitHook::PreCommit) } else { GitHook::ALL.into_iter().find(is) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_is_configured_already_is_seen() {
        assert_eq!(taken(b""), None);
        assert_eq!(taken(b"colors: false\npre-commit-x:\n  a: 1\n"), None);
        assert_eq!(taken(b"a: 1\npre-push:\n  jobs: []\n"), Some(GitHook::PrePush));
        assert_eq!(taken(b"\"post-commit\" : {}\n"), Some(GitHook::PostCommit));
        assert_eq!(taken(b"{\"a\": 1}"), Some(GitHook::PreCommit));
        assert_eq!(taken(b"a:\n  pre-push: 1\n"), None);
    }

    #[test]
    fn the_notice_takes_no_place_and_comes_out_wherever_it_went() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("prepare-commit-msg"), "mine").unwrap();
        assert_eq!(place_of_notice(dir.path(), |_| false), Some(at("post-commit")));
        fs::write(at("post-commit"), NOTICE).unwrap();
        assert_eq!(place_of_notice(dir.path(), |_| false), Some(at("post-commit")));
        fs::rename(at("post-commit"), at("post-commit.old")).unwrap();
        assert_eq!(notices(dir.path()).collect::<Vec<_>>(), [at("post-commit.old")]);
        for name in ["post-commit", "pre-commit"] {
            fs::write(at(name), "mine").unwrap();
        }
        assert_eq!(place_of_notice(dir.path(), |_| false), None);
        let goes = |path: &PathBuf| *path == at("pre-commit");
        assert_eq!(place_of_notice(dir.path(), goes), Some(at("pre-commit")));
    }

    #[test]
    fn every_hook_is_there_once() {
        let text = block();
        for hook in GitHook::ALL {
            assert_eq!(text.matches(&format!("\n{}:\n", hook.name())).count(), 1, "{text}");
        }
    }
}
