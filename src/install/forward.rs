//! A hooks directory of this repository alone, for people whose `core.hooksPath` is set for all their repositories: its
//! hooks are Andon's, and each runs the hook of the same name in the directory that would have been used without it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use testreport::WordList;

use super::{Edit, FileKind, InstallError, Result, Step, shim::quote, words};
use andon_core::domain::GitHook;
use andon_git::platform::paths::shell_bytes;

/// By what the files that lead on are known.
const MARK: &[u8] = b"# andon: runs the hook that stands here in all your repositories (core.hooksPath)";

/// Hooks that git runs on this side and Andon does not, and that are rare enough to be led on in any case.
const OTHERS: WordList = words("hooks that git runs on this side and Andon does not");
/// Hooks that are led on only where there is one.
const HOT: WordList = words("hooks that git runs at each change of a ref or of the index");

/// The directory, below the common git directory.
pub fn dir(common: &Path) -> PathBuf {
    common.join("andon").join("hooks")
}

/// The files that lead on to the hooks in `theirs`: names and contents.
pub fn files_to(theirs: &Path) -> Vec<(String, Vec<u8>)> {
    let chained = GitHook::ALL.into_iter().map(|hook| (hook.name(), hook.chained_name()));
    let is_ours = |name: &&str| GitHook::from_name(name).is_none();
    let others = OTHERS.iter().filter(is_ours).map(|name| (name, name.to_owned()));
    let hot = HOT.iter().filter(|name| theirs.join(name).is_file()).map(|name| (name, name.to_owned()));
    chained.chain(others).chain(hot).map(|(name, file)| (file, script(theirs, name))).collect()
}

fn script(theirs: &Path, name: &str) -> Vec<u8> {
    let hook = quote(&shell_bytes(&theirs.join(name)));
    [b"#!/bin/sh\n", MARK, b"\nH=", &hook, b"; [ ! -x \"$H\" ] || exec \"$H\" \"$@\"\n"].concat()
}

/// The changes after which `dir` leads on to the hooks in `theirs`: files that are not there as they should be, and older
/// ones that go.
///
/// # Errors
/// When another hook is in the place of one.
pub fn changes(dir: &Path, theirs: &Path) -> Result<Vec<Step>> {
    let wanted = files_to(theirs);
    let is_wanted = |path: &PathBuf| wanted.iter().any(|(name, _)| path.ends_with(name));
    let outdated = led_on(dir).into_iter().filter(|path| !is_wanted(path));
    let mut steps: Vec<Step> = outdated.map(|path| Step::Remove { path, rest: None }).collect();
    for (name, bytes) in &wanted {
        let path = dir.join(name);
        let before = fs::read(&path).ok();
        if before.as_ref() == Some(bytes) {
            continue;
        }
        if path.exists() && !is_leading_on(&path) {
            return Err(InstallError::LeftAlone { path, why: "it is a hook of somebody else" });
        }
        steps.push(Step::Write(Edit::whole(path, before, bytes.clone(), FileKind::Program)));
    }
    Ok(steps)
}

/// Every file in `dir` that leads on.
pub fn led_on(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(|path| is_leading_on(path)).collect()
}

fn is_leading_on(path: &Path) -> bool {
    let short = fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() < 16 * 1024);
    short
        && fs::read(path)
            .is_ok_and(|bytes| bytes.strip_prefix(b"#!/bin/sh\n").is_some_and(|rest| rest.starts_with(MARK)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::steps;

    #[test]
    fn what_leads_on_is_written_once_and_goes_without_what_is_not_ours() {
        let home = tempfile::tempdir().unwrap();
        let (theirs, dir) = (home.path().join("it's mine"), home.path().join("hooks"));
        fs::create_dir_all(&theirs).unwrap();
        fs::create_dir_all(&dir).unwrap();
        fs::write(theirs.join("reference-transaction"), "").unwrap();
        let wanted = files_to(&theirs);
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"pre-commit.andon-chained") && names.contains(&"commit-msg"), "{names:?}");
        assert!(names.contains(&"reference-transaction") && !names.contains(&"post-index-change"));
        let write = || changes(&dir, &theirs).and_then(|steps| steps::apply(None, &steps));
        write().unwrap();
        assert_eq!(changes(&dir, &theirs).unwrap(), []);
        fs::remove_file(theirs.join("reference-transaction")).unwrap();
        write().unwrap();
        assert!(!dir.join("reference-transaction").exists() && dir.join("commit-msg").exists());
        fs::write(dir.join("commit-msg"), "#!/bin/sh\nmine\n").unwrap();
        assert!(matches!(write(), Err(InstallError::LeftAlone { .. })));
        assert_eq!(led_on(&dir).len(), wanted.len() - 2, "all but that one, and the one that went");
    }
}
