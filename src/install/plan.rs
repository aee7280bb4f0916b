//! The plan for each hook at installing and uninstalling: decided before a single file is touched.

use std::path::{Path, PathBuf};

use super::{HookFile, HookMode, HookState, Owner};
use andon_core::domain::{GitHook, Hint};
use andon_core::escape::shell_quote;

/// The fate of the file in the place of the shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displacement {
    /// The place is free.
    Nothing,
    /// An older shim of ours is replaced.
    OlderShim,
    /// A hook is renamed to `NAME.andon-chained`.
    Chained,
    /// A second copy of the chained hook is replaced.
    Twin,
    /// A newer hook of the tool whose older one is chained takes that one's place.
    NewerOfSameTool,
}

/// The effect of installing on one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// The shim is right as it is.
    Keep,
    /// Another tool replaced our shim and runs it as its own "legacy" hook: that works.
    RunsThrough(Owner),
    /// Write the shim.
    Write(Displacement),
}

/// A reason why a hook cannot be installed, or must be left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Our shim was changed.
    Edited,
    /// Another tool put its hook over ours, and an earlier one is chained.
    Replaced(Owner),
    /// Another tool replaced our shim and runs it as its "legacy" hook.
    RunsThrough(Owner),
    /// The chained hook is a shim of ours: it would call itself.
    ChainedShim,
    /// A directory, or something else that is no file.
    NoFile,
}

/// A hook and what is in its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The hook, by the name that git calls it.
    pub hook: GitHook,
    /// The file in the way.
    pub path: PathBuf,
    pub why: Obstacle,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match self.why {
            Obstacle::Edited => write!(f, "{path} is the andon shim, edited since"),
            Obstacle::Replaced(owner) => write!(
                f,
                "{path} was replaced by {}, while the hook from before andon is still {path}.andon-chained",
                owner.as_str()
            ),
            Obstacle::RunsThrough(owner) => {
                write!(
                    f,
                    "{path} now belongs to {}, which keeps the andon shim as {path}.legacy",
                    owner.as_str()
                )
            }
            Obstacle::ChainedShim => write!(f, "{path}.andon-chained is an andon shim itself"),
            Obstacle::NoFile => write!(f, "{path} or {path}.andon-chained is not a file"),
        }
    }
}

impl Conflict {
    /// The command after which installing goes on. It deletes nothing: a file is put aside under a name that git does not run.
    pub fn hint(&self) -> String {
        let aside = |path: PathBuf| Hint::PutAside.with([&shell_quote(&path.to_string_lossy())]);
        let chained = || self.path.with_file_name(self.hook.chained_name());
        // A file in the place of our hook is put aside only where that file is the obstacle.
        let has_chained = self.why == Obstacle::NoFile && self.path.is_file();
        match self.why {
            Obstacle::RunsThrough(owner) => {
                format!("{} uninstall --hook-type {}", owner.as_str(), self.hook.name())
            }
            Obstacle::NoFile | Obstacle::Edited if !has_chained => aside(self.path.clone()),
            Obstacle::NoFile | Obstacle::Edited | Obstacle::Replaced(_) | Obstacle::ChainedShim => {
                aside(chained())
            }
        }
    }
}

/// Plans the installation of shims for `program` in `dir`, or names everything that is in the way.
pub fn install(
    dir: &Path,
    states: &[HookState],
    program: &Path,
) -> Result<Vec<(GitHook, Intent)>, Vec<Conflict>> {
    let (mut intents, mut conflicts) = (Vec::new(), Vec::new());
    for state in states {
        match intent(state, program) {
            Ok(intent) => intents.push((state.hook, intent)),
            Err(why) => conflicts.push(Conflict { hook: state.hook, path: dir.join(state.hook.name()), why }),
        }
    }
    if conflicts.is_empty() { Ok(intents) } else { Err(conflicts) }
}

fn intent(state: &HookState, program: &Path) -> Result<Intent, Obstacle> {
    match (&state.standing, &state.chained) {
        (HookFile::NoFile, _) | (_, HookFile::NoFile) => Err(Obstacle::NoFile),
        (_, HookFile::Shim { .. } | HookFile::EditedShim) => Err(Obstacle::ChainedShim),
        (HookFile::EditedShim, _) => Err(Obstacle::Edited),
        (HookFile::Nothing, _) => Ok(Intent::Write(Displacement::Nothing)),
        (HookFile::Shim { program: found, mode }, _) => {
            let same = found.as_deref() == Some(program) && *mode == HookMode::Runs;
            Ok(if same { Intent::Keep } else { Intent::Write(Displacement::OlderShim) })
        }
        (HookFile::Foreign { owner, .. }, _) if runs_legacy(state) => Ok(Intent::RunsThrough(*owner)),
        (HookFile::Foreign { .. }, HookFile::Nothing) => Ok(Intent::Write(Displacement::Chained)),
        (HookFile::Foreign { .. }, HookFile::Foreign { .. }) if state.are_twins => {
            Ok(Intent::Write(Displacement::Twin))
        }
        (HookFile::Foreign { owner, .. }, HookFile::Foreign { owner: earlier, .. }) => {
            if owner == earlier && *owner != Owner::Somebody {
                Ok(Intent::Write(Displacement::NewerOfSameTool))
            } else {
                Err(Obstacle::Replaced(*owner))
            }
        }
    }
}

/// True when the tool whose hook is there runs our shim.
fn runs_legacy(state: &HookState) -> bool {
    matches!(state.standing, HookFile::Foreign { owner, .. } if owner.is_framework())
        && matches!(state.legacy, HookFile::Shim { mode: HookMode::Runs, .. })
}

/// The effect of uninstalling on one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookRemoval {
    /// Nothing of ours is there.
    Nothing,
    /// The shim goes; there was no hook before it.
    Gone,
    /// The chained hook takes its place again.
    Restored,
    /// It stays as it is, and this is why.
    Left(Obstacle),
}

/// Plans how one hook is put back.
pub fn uninstall(state: &HookState) -> HookRemoval {
    match (&state.standing, &state.chained) {
        (HookFile::EditedShim, _) => HookRemoval::Left(Obstacle::Edited),
        (_, HookFile::NoFile) | (HookFile::NoFile, HookFile::Foreign { .. }) => {
            HookRemoval::Left(Obstacle::NoFile)
        }
        (_, HookFile::Shim { .. } | HookFile::EditedShim) => HookRemoval::Left(Obstacle::ChainedShim),
        (HookFile::Shim { .. }, HookFile::Nothing) => HookRemoval::Gone,
        (HookFile::Shim { .. } | HookFile::Nothing, HookFile::Foreign { .. }) => HookRemoval::Restored,
        (HookFile::Foreign { owner, .. }, _) if runs_legacy(state) => {
            HookRemoval::Left(Obstacle::RunsThrough(*owner))
        }
        (HookFile::Foreign { .. }, HookFile::Foreign { .. }) if state.are_twins => HookRemoval::Restored,
        (HookFile::Foreign { owner, .. }, HookFile::Foreign { .. }) => {
            HookRemoval::Left(Obstacle::Replaced(*owner))
        }
        (HookFile::Nothing | HookFile::Foreign { .. } | HookFile::NoFile, HookFile::Nothing) => {
            HookRemoval::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/bin/andon";

    fn foreign(owner: Owner) -> HookFile {
        HookFile::Foreign { owner, mode: HookMode::Runs }
    }

    fn shim(program: Option<&str>, mode: HookMode) -> HookFile {
        HookFile::Shim { program: program.map(PathBuf::from), mode }
    }

    fn ours() -> HookFile {
        shim(Some(PROGRAM), HookMode::Runs)
    }

    fn state(standing: HookFile, chained: HookFile) -> HookState {
        HookState { hook: GitHook::PreCommit, standing, chained, legacy: HookFile::Nothing, are_twins: false }
    }

    #[test]
    fn every_state_has_its_answer() {
        use Displacement as D;
        use HookRemoval as R;
        use Intent as I;
        use Obstacle as O;
        use Owner::{PreCommit, Prek, Somebody};
        let nothing = || HookFile::Nothing;
        let legacy = |owner, chained| HookState { legacy: ours(), ..state(foreign(owner), chained) };
        let twins = HookState { are_twins: true, ..state(foreign(Somebody), foreign(Somebody)) };
        let cases = [
            (state(nothing(), nothing()), Ok(I::Write(D::Nothing)), R::Nothing),
            (state(nothing(), foreign(Somebody)), Ok(I::Write(D::Nothing)), R::Restored),
            (state(ours(), nothing()), Ok(I::Keep), R::Gone),
            (state(ours(), foreign(Somebody)), Ok(I::Keep), R::Restored),
            (state(shim(Some("/old"), HookMode::Runs), nothing()), Ok(I::Write(D::OlderShim)), R::Gone),
            (state(shim(None, HookMode::Runs), nothing()), Ok(I::Write(D::OlderShim)), R::Gone),
            (state(shim(Some(PROGRAM), HookMode::Ignored), nothing()), Ok(I::Write(D::OlderShim)), R::Gone),
            (state(HookFile::EditedShim, nothing()), Err(O::Edited), R::Left(O::Edited)),
            (state(foreign(Somebody), nothing()), Ok(I::Write(D::Chained)), R::Nothing),
            (
                state(foreign(Prek), foreign(Prek)),
                Ok(I::Write(D::NewerOfSameTool)),
                R::Left(O::Replaced(Prek)),
            ),
            (state(foreign(Prek), foreign(Somebody)), Err(O::Replaced(Prek)), R::Left(O::Replaced(Prek))),
            (
                state(foreign(Somebody), foreign(Somebody)),
                Err(O::Replaced(Somebody)),
                R::Left(O::Replaced(Somebody)),
            ),
            (twins, Ok(I::Write(D::Twin)), R::Restored),
            (legacy(PreCommit, nothing()), Ok(I::RunsThrough(PreCommit)), R::Left(O::RunsThrough(PreCommit))),
            (legacy(Prek, foreign(Somebody)), Ok(I::RunsThrough(Prek)), R::Left(O::RunsThrough(Prek))),
            (legacy(Somebody, nothing()), Ok(I::Write(D::Chained)), R::Nothing),
            (state(ours(), ours()), Err(O::ChainedShim), R::Left(O::ChainedShim)),
            (state(ours(), HookFile::NoFile), Err(O::NoFile), R::Left(O::NoFile)),
            (state(HookFile::NoFile, nothing()), Err(O::NoFile), R::Nothing),
            (state(HookFile::NoFile, foreign(Somebody)), Err(O::NoFile), R::Left(O::NoFile)),
        ];
        for (state, wanted, removal) in cases {
            assert_eq!(intent(&state, Path::new(PROGRAM)), wanted, "install {state:?}");
            assert_eq!(uninstall(&state), removal, "uninstall {state:?}");
        }
    }

    #[test]
    fn every_conflict_is_named_at_once() {
        let mut second = state(HookFile::NoFile, HookFile::Nothing);
        second.hook = GitHook::PrePush;
        let states = [state(HookFile::EditedShim, HookFile::Nothing), second];
        let conflicts = install(Path::new("/h"), &states, Path::new(PROGRAM)).unwrap_err();
        let texts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
        assert!(texts[0].starts_with("/h/pre-commit is the andon shim, edited since"), "{texts:?}");
        assert!(texts[1].starts_with("/h/pre-push"), "{texts:?}");
    }
}
