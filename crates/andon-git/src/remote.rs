//! Talks to a remote through the git program: it has the user's credentials, proxies and keys, and handles
//! half-received packs. Failures are sorted by what can be done about them: a lost race is tried again, a refusal is
//! for a person.

use andon_core::domain::Hint;
use std::hash::{BuildHasher, Hasher};
use std::{collections::hash_map::RandomState, io::Read as _, path::Path, time::Duration};

use crate::files::{open_plain, temporary_in};
use crate::platform::{Life, processes};
use crate::{GitError, Online, Repo, Result, error::cut};
use andon_core::{WordList, domain::CommitId};

/// Most of git's own words that an error repeats, in characters.
const MAX_WORDS: usize = 1200;

/// Messages of git and ssh where they would have prompted.
const WOULD_ASK: WordList = WordList::section(MESSAGES, "asks");
/// Messages of a git whose other side was being written, or moved on meanwhile.
const RACED: WordList = WordList::section(MESSAGES, "raced");
/// Words of git that tell of another process that writes the same refs here.
const LOCKED: WordList = WordList::section(MESSAGES, "locked");
const DROPPED: WordList = WordList::section(MESSAGES, "dropped");
const MESSAGES: &str = include_str!("git_words.txt");

/// The reason that fetching or pushing did not work out.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// git itself.
    #[error(transparent)]
    Git(#[from] GitError),
    /// No such remote.
    #[error("there is no remote called {remote:?} here")]
    Unknown { remote: String, known: Vec<String> },
    /// The remote could not be reached, or would not let us in.
    #[error("cannot {doing} {remote}: {words}")]
    Unreachable { doing: &'static str, remote: String, words: String },
    /// The connection broke while it was in use.
    #[error("the connection to {remote} broke: {words}")]
    Dropped { remote: String, words: String },
    /// A bundle that cannot be used.
    #[error("{path} cannot be taken for a bundle of records: {why}")]
    Bundle { path: String, why: String },
    /// Another process was writing the same refs here.
    #[error("refs of {remote} are being written by another process: {words}")]
    Raced { remote: String, words: String },
}

impl RemoteError {
    /// True where the other side would have let us in after an answer to its prompt.
    pub fn would_ask(&self) -> bool {
        let Self::Unreachable { words, .. } = self else { return false };
        WOULD_ASK.iter().any(|sign| words.contains(sign))
    }

    /// The exact command that repairs it, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.help(),
            Self::Unknown { known, .. } => Some(match known.as_slice() {
                [] => Hint::ChooseRemote.into(),
                some => format!("name one of: {}", some.join(", ")),
            }),
            Self::Unreachable { remote, .. } => Some(Hint::LsRemote.with([remote])),
            Self::Bundle { .. } => Some(Hint::WriteBundle.into()),
            Self::Dropped { .. } | Self::Raced { .. } => Some(Hint::Sync.led("nothing is lost; again")),
        }
    }
}

/// The result of pushing one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedTo {
    /// The ref on the other side.
    pub name: String,
    /// The result.
    pub end: PushEnd,
}

/// The end of pushing one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushEnd {
    /// It was there already.
    Same,
    /// It moved there, or was not there before.
    Moved,
    /// Another writer moved it meanwhile; the words of the other side, bounded and raw.
    Raced(String),
    /// The other side does not take it; its words, bounded and raw.
    Refused(String),
}

impl Repo {
    /// The names of the remotes, as git has them.
    pub fn remotes(&self) -> Result<Vec<String>> {
        let listed = self.git(&["remote"], b"")?;
        Ok(String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect())
    }

    /// The remote that the current branch follows, if it names one.
    pub fn upstream_remote(&self) -> Option<String> {
        let head = self.head().ok()?;
        self.config_string(&format!("branch.{}.remote", head.branch()?)).filter(|name| name != ".")
    }

    /// Fetches `specs` of `remote`; refs that are gone there are removed here, as far as the specs reach. Nothing
    /// else is touched: no branch, no tag, no `FETCH_HEAD`, nothing that the configured refspecs say.
    pub fn fetch_refs(&self, remote: &str, specs: &[String], online: Online) -> Result<(), RemoteError> {
        // With a filter a partial clone would leave the records themselves at the remote.
        let fixed = "fetch --quiet --prune --no-tags --no-auto-maintenance --refmap= --no-write-fetch-head --no-filter \
                     --recurse-submodules=no --";
        let args: Vec<&str> =
            fixed.split(' ').chain([remote]).chain(specs.iter().map(String::as_str)).collect();
        let ended = self.git_online(&args, online)?;
        if ended.status.success() { Ok(()) } else { Err(failed("fetch from", remote, &ended.stderr)) }
    }

    /// Removes refs at `remote`, each only if it points to the given commit.
    pub fn remove_refs_at(
        &self,
        remote: &str,
        refs: &[(String, CommitId)],
        online: Online,
    ) -> Result<Vec<PushedTo>, RemoteError> {
        let lease = |(name, tip): &(String, CommitId)| format!("--force-with-lease={name}:{tip}");
        let leases: Vec<String> = refs.iter().map(lease).collect();
        let specs: Vec<String> = refs.iter().map(|(name, _)| format!(":{name}")).collect();
        self.push(remote, &leases, &specs, online)
    }

    /// Pushes `specs` to `remote`, each for itself, none by force. The hooks of a push are not run: what is pushed
    /// is no work that could be judged.
    pub fn push_refs(
        &self,
        remote: &str,
        specs: &[String],
        online: Online,
    ) -> Result<Vec<PushedTo>, RemoteError> {
        self.push(remote, &[], specs, online)
    }

    fn push(
        &self,
        remote: &str,
        options: &[String],
        specs: &[String],
        online: Online,
    ) -> Result<Vec<PushedTo>, RemoteError> {
        // Without a name git pushes the current branch.
        if specs.is_empty() {
            return Ok(Vec::new());
        }
        let unmirrored = format!("remote.{remote}.mirror=false");
        // Push options that go with a person's branch (open a merge request, skip CI) are not meant for these refs.
        let fixed = "-c push.pushOption= -c core.hooksPath=/dev/null push --porcelain --no-verify --no-signed --no-follow-tags \
                     --recurse-submodules=no";
        let mut args = vec!["-c", &unmirrored];
        args.extend(fixed.split(' ').chain(options.iter().map(String::as_str)));
        args.extend(["--", remote]);
        args.extend(specs.iter().map(String::as_str));
        let ended = self.git_online(&args, online)?;
        let pushed: Vec<PushedTo> =
            String::from_utf8_lossy(&ended.stdout).lines().filter_map(pushed_line).collect();
        if ended.status.success()
            || pushed.iter().any(|one| matches!(one.end, PushEnd::Raced(_) | PushEnd::Refused(_)))
        {
            Ok(pushed)
        } else {
            Err(failed("push to", remote, &ended.stderr))
        }
    }
}

/// Longest pause before the second try, in milliseconds.
const FIRST_PAUSE: u64 = 64;

/// Sleeps before the next try: a random while, shorter after each race that was lost. A newcomer waits for those that
/// have lost before, and not the other way round.
pub fn back_off(tries: u32) {
    let bound = 4 + FIRST_PAUSE / u64::from(tries.clamp(1, 64));
    let random = RandomState::new().build_hasher().finish();
    std::thread::sleep(Duration::from_millis(1 + random % bound));
}

/// Reads `FLAG TAB FROM:TO TAB SUMMARY`.
fn pushed_line(line: &str) -> Option<PushedTo> {
    let mut parts = line.splitn(3, '\t');
    let (flag, names, summary) = (parts.next()?, parts.next()?, parts.next()?);
    let name = names.rsplit_once(':').map_or(names, |(_, to)| to).to_owned();
    let end = match flag {
        "=" => PushEnd::Same,
        "*" | " " | "+" | "-" => PushEnd::Moved,
        "!" if raced(summary) => PushEnd::Raced(cut(summary, MAX_WORDS)),
        "!" => PushEnd::Refused(cut(summary, MAX_WORDS)),
        _ => return None,
    };
    Some(PushedTo { name, end })
}

/// True if a refused ref may go through next time: it moved, or was being written, on the other side.
fn raced(summary: &str) -> bool {
    RACED.iter().any(|sign| summary.contains(sign))
}

pub(crate) fn failed(doing: &'static str, remote: &str, stderr: &[u8]) -> RemoteError {
    let words = cut(String::from_utf8_lossy(stderr).trim(), MAX_WORDS);
    let remote = remote.to_owned();
    let says = |signs: WordList| signs.iter().any(|sign| words.contains(sign));
    if says(LOCKED) {
        RemoteError::Raced { remote, words }
    } else if says(DROPPED) {
        RemoteError::Dropped { remote, words }
    } else {
        RemoteError::Unreachable { doing, remote, words }
    }
}

/// Largest bundle that is read, in bytes: some millions of records.
const MAX_BUNDLE: u64 = 512 << 20;
/// The first lines of bundles.
const HEADS: [&[u8]; 2] = [b"# v2 git bundle\n", b"# v3 git bundle\n"];

/// True if there is a bundle at `path`; false when there is nothing at all.
///
/// # Errors
/// [`RemoteError::Bundle`] when there is something else.
pub fn is_bundle(path: &Path) -> Result<bool, RemoteError> {
    let bad = |why: String| RemoteError::Bundle { path: path.display().to_string(), why };
    let file = match open_plain(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(false),
        Err(error) => return Err(bad(error.to_string())),
    };
    let size = file.metadata().map_err(|error| bad(error.to_string()))?.len();
    if size > MAX_BUNDLE {
        return Err(bad(format!("it has {size} bytes, more than {MAX_BUNDLE}")));
    }
    let mut head = Vec::new();
    file.take(HEADS[0].len() as u64).read_to_end(&mut head).map_err(|error| bad(error.to_string()))?;
    if HEADS.iter().any(|known| *known == head) {
        Ok(true)
    } else {
        Err(bad("it is no git bundle".to_owned()))
    }
}

impl Repo {
    /// Writes `refs` with all that they reach to a bundle at `path`, whole or not at all.
    pub fn write_bundle(&self, path: &Path, refs: &[String]) -> Result<(), RemoteError> {
        let bad = |error: std::io::Error| RemoteError::Bundle {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        let parent = path.parent().unwrap_or(Path::new("."));
        let temporary = temporary_in(parent).map_err(bad)?;
        let mut args: Vec<std::ffi::OsString> = ["bundle", "create", "--quiet"].map(Into::into).to_vec();
        args.push(temporary.path().into());
        args.extend(refs.iter().map(Into::into));
        self.git(&args, b"")?;
        temporary.persist(path).map_err(|error| bad(error.error))?;
        Ok(())
    }

    /// Removes the refs below `prefix` that this process made, or one that is gone: `<prefix><process id>/...`.
    pub fn drop_passing(&self, prefix: &str) -> Result<()> {
        let mut lines = String::new();
        for (name, id) in self.refs_with_prefix(prefix)? {
            let owner = name.strip_prefix(prefix).and_then(|rest| rest.split('/').next());
            if owner.and_then(|pid| pid.parse().ok()).is_none_or(is_over) {
                lines.push_str(&format!("delete {name} {id}\n"));
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.git(&["update-ref", "--no-deref", "--stdin"], lines.as_bytes()).map(drop)
    }
}

/// True if the process is this one, which is done with its refs, or is gone.
fn is_over(pid: i32) -> bool {
    u32::try_from(pid).is_ok_and(|pid| pid == std::process::id()) || processes::life(pid) == Life::Gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn porcelain_is_read() {
        let name = "refs/notes/andon";
        let cases = [
            ("To /path/to.git", None),
            ("Done", None),
            ("=\trefs/notes/andon:refs/notes/andon\t[up to date]", Some(PushEnd::Same)),
            (" \trefs/notes/andon:refs/notes/andon\tabc..def", Some(PushEnd::Moved)),
            ("*\trefs/notes/andon:refs/notes/andon\t[new reference]", Some(PushEnd::Moved)),
            (
                "!\trefs/notes/andon:refs/notes/andon\t[rejected] (fetch first)",
                Some(PushEnd::Raced("[rejected] (fetch first)".to_owned())),
            ),
            (
                "!\trefs/notes/andon:refs/notes/andon\t[rejected] (non-fast-forward)",
                Some(PushEnd::Raced("[rejected] (non-fast-forward)".to_owned())),
            ),
            (
                "!\trefs/notes/andon:refs/notes/andon\t[remote rejected] (cannot lock ref 'refs/notes/andon': ...)",
                Some(PushEnd::Raced(
                    "[remote rejected] (cannot lock ref 'refs/notes/andon': ...)".to_owned(),
                )),
            ),
            (
                "!\trefs/notes/andon:refs/notes/andon\t[remote rejected] (pre-receive hook declined)",
                Some(PushEnd::Refused("[remote rejected] (pre-receive hook declined)".to_owned())),
            ),
        ];
        for (line, end) in cases {
            assert_eq!(pushed_line(line), end.map(|end| PushedTo { name: name.to_owned(), end }), "{line}");
        }
    }

    #[test]
    fn what_would_have_asked_is_told_apart() {
        let of = |words: &str| failed("push to", "origin", words.as_bytes()).would_ask();
        assert!(of("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository."));
        assert!(of("fatal: could not read Username for 'https://h': terminal prompts disabled"));
        assert!(of("Host key verification failed.\nfatal: Could not read from remote repository."));
        assert!(!of("fatal: '/x' does not appear to be a git repository"));
    }

    #[test]
    fn failures_are_told_by_what_can_be_done() {
        let kind = |words: &str| failed("fetch from", "origin", words.as_bytes());
        assert!(matches!(kind("error: cannot lock ref 'refs/x'"), RemoteError::Raced { .. }));
        assert!(matches!(kind("fatal: the remote end hung up unexpectedly"), RemoteError::Dropped { .. }));
        let away = kind("fatal: Could not read from remote repository.");
        assert!(matches!(away, RemoteError::Unreachable { .. }));
        assert!(away.help().is_some_and(|help| help.ends_with("git ls-remote origin")));
    }
}
