//! Refs: reading, and a compare-and-swap that loses nothing among several writers.
//!
//! Lock, read, write, commit under one lock: of 1,600 notes by 8 writers none is lost, where `git notes add`
//! loses 769 and libgit2's `note()` 186 (docs/git-facts.md).

mod listing;
pub(crate) mod origin;
pub(crate) mod own_writes;
pub(crate) mod ref_lock;
pub(crate) mod reflog;
pub(crate) mod revisions;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

use git2::{ErrorClass, ErrorCode, ReferenceType};

use crate::platform::{signals, test_seam::stop_point};
use crate::{GitError, Repo, Result, objects::from_git2, refs::ref_lock::RefLock};
use andon_core::domain::{CommitId, Oid, Timestamp};

/// The longest wait for a held lock and for other processes of ours. A lock is held for milliseconds; a process that cannot
/// write within this time gives up, and the next hook writes what is missing.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// After how long the process that holds the right to write is examined: a stopped one loses it.
const MAX_TURN: Duration = Duration::from_millis(200);
/// Longest pause between two tries, in milliseconds.
const MAX_PAUSE_MS: u64 = 60;
/// Most symbolic refs that are followed, one to the next.
const MAX_SYMBOLIC: usize = 5;

/// The work of [`Repo::update_ref`], with the value that it returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update<T> {
    /// Leave the ref as it is.
    Keep(T),
    /// Point it to this commit.
    Set(CommitId, T),
    /// Point it to this commit, which has whatever we wrote there before.
    Whole(CommitId, T),
}

/// The result of one try.
enum UpdateAttempt<T> {
    /// It is done, from this tip on.
    Done(Option<CommitId>, T),
    /// Another process of ours is writing, which takes it milliseconds.
    Queued,
    /// Another process is in the way; the error if it stays.
    Held(GitError),
}

impl Repo {
    pub(crate) fn ref_message(&self, name: &str, message: &str) -> GitError {
        let git_dir = self.common_dir().to_path_buf();
        GitError::Ref { name: name.to_owned(), git_dir, message: message.to_owned() }
    }

    pub(crate) fn ref_error(&self, name: &str, error: &git2::Error) -> GitError {
        self.ref_message(name, error.message())
    }

    /// The object that ref `name` points to (symbolic refs are followed); `None` when there is no such ref.
    pub fn ref_target(&self, name: &str) -> Result<Option<Oid>> {
        if !valid_name(name) {
            return Err(self.ref_message(name, "is no valid ref name"));
        }
        match self.inner.refname_to_id(name) {
            Ok(id) => Ok(Some(from_git2(id))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.ref_error(name, &error)),
        }
    }

    /// Changes ref `name` under its lock: `f` is called with the current tip and says what to set; again
    /// with the same tip where what it wrote was taken by a gc.
    ///
    /// A held lock is waited for, 2 s at most, with jitter; signals that would leave the lock behind are held
    /// back meanwhile. Fails without calling `f` when the tip is no commit. `message` goes to the reflog,
    /// if the ref has one.
    pub fn update_ref<T>(
        &self,
        name: &str,
        message: &str,
        mut f: impl FnMut(Option<CommitId>) -> Result<Update<T>>,
    ) -> Result<T> {
        let name = self.direct_name(name)?;
        let began = Instant::now();
        let mut waited = 0;
        loop {
            let tried = self.try_update(&name, message, &mut f)?;
            let elapsed = began.elapsed();
            match tried {
                UpdateAttempt::Done(tip, value) => {
                    self.guard_from_gc(|| f(tip).map(drop))?;
                    return Ok(value);
                }
                UpdateAttempt::Queued if elapsed < MAX_WAIT => {
                    // Short, so that a process that writes without a pause does not always win.
                    pause(0);
                    if elapsed > MAX_TURN {
                        RefLock::free_from_stopped(self.common_dir());
                    }
                }
                UpdateAttempt::Queued => {
                    return Err(GitError::RefBusy { name, seconds: MAX_WAIT.as_secs() });
                }
                UpdateAttempt::Held(_) if elapsed < MAX_WAIT => waited += pause(waited),
                UpdateAttempt::Held(error) => return Err(error),
            }
        }
    }

    /// One try, without waiting.
    fn try_update<T>(
        &self,
        name: &str,
        message: &str,
        f: &mut dyn FnMut(Option<CommitId>) -> Result<Update<T>>,
    ) -> Result<UpdateAttempt<T>> {
        // Dropped last, after the lock of the ref.
        let _signals = signals::withhold();
        let Some(mut turn) = RefLock::take(self.common_dir()) else {
            return Ok(UpdateAttempt::Queued);
        };
        self.healed.borrow_mut().extend(turn.clear(self.common_dir()));
        self.settle_objects();
        let mut transaction = self.inner.transaction().map_err(|error| self.ref_error(name, &error))?;
        turn.means(name);
        match transaction.lock_ref(name) {
            Ok(()) => {}
            Err(error) if is_held(&error) => return Ok(UpdateAttempt::Held(self.lock_error(name, &error))),
            Err(error) => return Err(self.lock_error(name, &error)),
        }
        stop_point("ref:begun");
        turn.locked(self.common_dir(), name);
        stop_point("ref:locked");
        self.written.take();
        let tip = self.ref_commit(name)?;
        let (made, is_whole, value) = match f(tip) {
            Ok(Update::Keep(value)) => return Ok(UpdateAttempt::Done(tip, value)),
            Ok(Update::Set(target, value)) => (target, false, value),
            Ok(Update::Whole(target, value)) => (target, true, value),
            // An object that was just written may be gone before it is used.
            Err(error) if self.running_gc().is_some() => return Ok(UpdateAttempt::Held(error)),
            Err(error) => return Err(error),
        };
        let target = self.to_git2("commit", made.0)?;
        let hardened = self.hardened();
        self.harden_objects(hardened, &self.written.borrow())?;
        stop_point("ref:ready");
        // We were stopped for so long that another process took over the right to write, and the lock with it.
        if !turn.is_still_ours(self.common_dir()) {
            return Ok(UpdateAttempt::Queued);
        }
        // Before the ref moves: were we killed in between, the next writer puts this back, which is no loss.
        if is_whole {
            self.remember_whole(name, made);
        } else {
            self.remember_written(name, tip, made);
        }
        let who = self.reflog_committer();
        transaction
            .set_target(name, target, who.as_ref(), &message.replace(['\0', '\n'], " "))
            .and_then(|()| transaction.commit())
            .map_err(|error| self.ref_error(name, &error))?;
        self.harden_reference(hardened, name)?;
        stop_point("ref:moved");
        Ok(UpdateAttempt::Done(tip, value))
    }

    /// Removes the lock of a ref that a killed writer of ours left, which git would stumble over.
    pub fn heal_locks(&self) {
        if let Some(mut turn) = RefLock::take(self.common_dir()) {
            self.healed.borrow_mut().extend(turn.clear(self.common_dir()));
        }
    }

    /// The refs whose locks were left by writers that died, and were removed since this was last asked.
    pub fn healed_locks(&self) -> Vec<String> {
        self.healed.take()
    }

    /// The signature of this move for the reflog: as [`Self::signature`] has it, in local time. libgit2's own way
    /// copies the whole configuration first.
    fn reflog_committer(&self) -> Option<git2::Signature<'static>> {
        let who = self.signature(Timestamp(0)).ok()?;
        git2::Signature::now(who.name().ok()?, who.email().ok()?).ok()
    }

    /// `name`, or the ref that a symbolic `name` leads to: the lock must be taken there.
    fn direct_name(&self, name: &str) -> Result<String> {
        let mut name = name.to_owned();
        for _ in 0..MAX_SYMBOLIC {
            if !valid_name(&name) {
                return Err(self.ref_message(&name, "is no valid ref name"));
            }
            match self.inner.find_reference(&name) {
                Ok(found) if found.kind() == Some(ReferenceType::Symbolic) => {
                    name = String::from_utf8_lossy(found.symbolic_target_bytes().unwrap_or_default())
                        .into_owned();
                }
                Ok(_) => return Ok(name),
                Err(error) if error.code() == ErrorCode::NotFound => return Ok(name),
                Err(error) => return Err(self.ref_error(&name, &error)),
            }
        }
        Err(self.ref_message(&name, "is a symbolic ref that leads nowhere"))
    }

    /// Deletes refs, all of them or none. Starts a process.
    pub fn delete_refs(&self, names: &[String]) -> Result<()> {
        let input: String = names.iter().map(|name| format!("delete {name}\n")).collect();
        self.git(&["update-ref", "--stdin"], input.as_bytes()).map(|_| ())
    }

    /// The commit that ref `name` points to; `None` when there is no such ref, an error when it points to
    /// something else.
    pub fn ref_commit(&self, name: &str) -> Result<Option<CommitId>> {
        let Some(id) = self.ref_target(name)? else { return Ok(None) };
        let wanted = self.vetted("commit", id)?;
        match self.inner.find_object(wanted, None) {
            Ok(object) if object.kind() == Some(git2::ObjectType::Commit) => Ok(Some(CommitId(id))),
            Ok(_) => Err(GitError::TipNotCommit { name: name.to_owned(), id }),
            Err(error) => Err(self.object_error("commit", id, &error)),
        }
    }

    fn lock_error(&self, name: &str, error: &git2::Error) -> GitError {
        let lock = self.common_dir().join(format!("{name}.lock"));
        if error.code() == ErrorCode::Locked && lock.exists() {
            GitError::RefLocked { name: name.to_owned(), lock, seconds: MAX_WAIT.as_secs() }
        } else {
            self.ref_error(name, error)
        }
    }
}

/// Held by another, or its directory was just removed by another.
fn is_held(error: &git2::Error) -> bool {
    error.code() == ErrorCode::Locked
        || (error.class() == ErrorClass::Os && error.code() == ErrorCode::NotFound)
}

fn valid_name(name: &str) -> bool {
    !name.contains('\0') && git2::Reference::is_valid_name(name)
}

/// Sleeps a random while, longer after longer waiting, and says how long in milliseconds.
fn pause(waited: u64) -> u64 {
    let bound = (2 + waited / 4).min(MAX_PAUSE_MS);
    let random = RandomState::new().build_hasher().finish();
    let pause = 1 + random % bound;
    std::thread::sleep(Duration::from_millis(pause));
    pause
}

/// The target of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch that has no commit yet.
    Unborn { branch: String },
    /// HEAD names a branch, whose tip this is.
    Branch { name: String, commit: CommitId },
    /// HEAD names a commit itself.
    Detached { commit: CommitId },
}

impl Head {
    /// The commit, unless there is none yet.
    pub fn commit(&self) -> Option<CommitId> {
        match self {
            Self::Unborn { .. } => None,
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(*commit),
        }
    }

    /// The branch without `refs/heads/`, unless detached.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Unborn { branch } => Some(branch),
            Self::Branch { name, .. } => Some(name),
            Self::Detached { .. } => None,
        }
    }
}

impl Repo {
    /// Reads HEAD.
    pub fn head(&self) -> Result<Head> {
        let head = self.inner.find_reference("HEAD").map_err(|error| self.ref_error("HEAD", &error))?;
        let Some(target) = head.symbolic_target_bytes() else {
            let id = head.target().ok_or_else(|| self.ref_message("HEAD", "has no target"))?;
            return Ok(Head::Detached { commit: CommitId(from_git2(id)) });
        };
        let target = String::from_utf8_lossy(target).into_owned();
        let name = target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned();
        match head.resolve() {
            Ok(tip) => {
                let id = tip.target().ok_or_else(|| self.ref_message(&target, "has no target"))?;
                Ok(Head::Branch { name, commit: CommitId(from_git2(id)) })
            }
            Err(error) if error.code() == ErrorCode::NotFound => Ok(Head::Unborn { branch: name }),
            Err(error) => Err(self.ref_error(&target, &error)),
        }
    }
}

#[cfg(test)]
mod tests;
