//! The input of a rule: the window, the stage, and the commit or turn that is about to happen.

use crate::domain::{Episode, Mismatch, Presence, SharedPath, Stage, TestEvidence, TestRun, Tracking};
use crate::history::Timeline;

/// Everything a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The newest window. At [`Stage::PostCommit`], [`Stage::Check`] and [`Stage::Replay`] its newest
    /// iteration is the commit under judgement.
    pub timeline: &'a Timeline,
    /// The stage at which the rules run.
    pub stage: Stage,
    /// The code that is about to be committed, pushed or called done; the commit's own code in `check`.
    /// `None` where no code is judged, and then the gates say nothing.
    pub candidate: Option<&'a Candidate>,
    /// The stop switches that a person can pull by hand.
    pub stops: Stops,
    /// The result of the signals of the newest iterations; `None` where they were not computed.
    pub episode: Option<&'a Episode>,
}

/// Code that is about to pass a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The change of code compared with what the candidate is built on.
    pub code_changed: CodeChange,
    /// Its evidence of tests.
    pub evidence: EvidenceState,
    /// Whose work it is.
    pub origin: Origin,
    /// The change of documentation along with the declared API.
    pub docs: DocsChange,
    /// The files that differ from the pin (`[identity]`); empty where they were not compared.
    pub identity: Vec<Mismatch>,
    /// `test.command` as a person would type it; `None` when none is configured.
    pub command: Option<String>,
    /// A suggestion of a test command where none is configured, in one line.
    pub advice: Option<String>,
    /// The commit that is being made; `None` where none is.
    pub making: Option<CommitDraft>,
    /// The code paths that another hook changed after the tests had run on what was to be committed.
    pub changed_by_hook: Vec<Vec<u8>>,
    /// The ways in which a release tool gets its commit through, where the commit declares another version.
    pub release: Vec<String>,
    /// The path of the program as a word of a shell, where only a framework of hooks finds it: a person's shell knows no `andon`.
    pub hidden_program: Option<String>,
}

/// A commit that is being made, as far as the way out of its refusal depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitDraft {
    /// True where it concludes or continues a merge, a pick, a revert or a rebase.
    pub underway: bool,
    /// The index of which it is made.
    pub index: IndexUse,
    /// The command that tests exactly its tree.
    pub exact: String,
}

/// The index of which a commit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexUse {
    /// The index as it is.
    AsIs,
    /// `git commit -a`: with every tracked file as it is in the working tree.
    All,
    /// `git commit FILE`: an index of its own, which is gone when the commit is refused.
    Paths,
}

/// Whose work code is. What a commit calls itself says nothing about that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Origin {
    /// Ordinary work.
    #[default]
    Work,
    /// git alone made it of tested commits: a clean merge, revert, pick or rebase, made again to see.
    MadeByGit,
    /// The record of the commit, which says that tests fail that passed since.
    Recorded,
}

/// The change of code paths. Documentation and ignored paths are not code (docs/concepts.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CodeChange {
    /// At least one code path differs.
    Changed,
    /// The code fingerprint is the same.
    #[default]
    Unchanged,
}

/// The change of documentation along with the declared API (`paths.api`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DocsChange {
    /// No API is declared, or none of it changed.
    #[default]
    NotAsked,
    /// Both changed.
    Updated,
    /// These paths of the API changed, the first of them, and no documentation did.
    Missing(Vec<Vec<u8>>),
}

/// The evidence of tests for some code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EvidenceState {
    /// No `test.command` is configured.
    #[default]
    Unconfigured,
    /// No run is known.
    NeverRan,
    /// The newest valid run on exactly this code.
    Tested(Box<TestEvidence>),
    /// The newest run on exactly this code proves nothing: its validity says why.
    Void(Box<TestRun>),
    /// The newest run was on other code: the first code paths that differ, in git's order, the number of all of them, and the kind
    /// of the difference.
    OtherCode { run: Box<TestRun>, differing: Vec<PathDifference>, total: u64, staging: Staging },
    /// A file that changed is code of two scopes: whose tests it needs is not known.
    InTwoScopes(Box<SharedPath>),
    /// The code has scopes, and for one that the change touches there is no evidence.
    Scope {
        name: String,
        /// Its evidence, which is not that its tests ran.
        state: Box<EvidenceState>,
        /// The others that are missing too.
        more: Vec<String>,
        /// Those whose tests ran and fail.
        red: Vec<String>,
        command: Option<String>,
    },
}

impl EvidenceState {
    /// Returns whether a run of the tests is missing, on this code or of a scope that it touches.
    pub fn lacks_a_run(&self) -> bool {
        matches!(self, Self::NeverRan | Self::Void(_) | Self::OtherCode { .. } | Self::Scope { .. })
    }
}

/// The kind of difference between the tested code and the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Staging {
    /// The tests saw work that is not staged, and nothing else differs.
    OnlyUnstaged,
    /// The code was edited since, or more than that differs.
    Edited,
}

/// A code path that differs between the tested code and the candidate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathDifference {
    /// Path from the repository root, as git stores it.
    pub path: Vec<u8>,
    /// The tracking state in git when the tests ran.
    pub tracking: Tracking,
    /// The reason and the way out, where `git add` would not take it as it is.
    pub hint: Option<PathHint>,
    /// On which side it is.
    pub side: Side,
    /// Its state in HEAD, the commit and the working tree.
    pub state: Whereabouts,
    /// Its name as a word of a shell, for a command of git.
    pub word: String,
}

/// The state of a path in HEAD, the commit and the working tree, as far as the way out of a refusal depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Whereabouts {
    /// The working tree has it as the commit has it.
    AsCommitted,
    /// The commit has it as HEAD has it, and the working tree otherwise.
    Unstaged,
    /// The same, and the working tree has it no more.
    Gone,
    /// git does not track it.
    Untracked,
    /// `git add -N` declared it, and nothing of it is staged.
    Intended,
    /// HEAD, the commit and the working tree have it each otherwise.
    PartlyStaged,
    /// A repository of its own, which git does not track.
    Nested,
    /// A submodule with changes of its own.
    ChangedSubmodule,
    /// git is configured to skip files, or sees fewer than there are.
    Veiled,
}

/// The side on which a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The tests ran with it, and it is there with other contents; or they ran with it and it is gone.
    Run,
    /// The tests ran without it.
    CandidateOnly,
}

/// The reason why git does not see a path as the tests saw it, with the way out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathHint {
    /// In words, such as "it is marked assume-unchanged".
    pub reason: String,
    /// The command after which git sees it.
    pub command: String,
}

/// The files by which a person stops a loop (docs/spec-map.md, loop rules: manual override).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stops {
    /// `.andon/STOP`
    pub stop: Presence,
    /// `.andon/PAUSE`
    pub pause: Presence,
}

impl Stops {
    /// Neither file is there.
    pub const NONE: Self = Self { stop: Presence::Absent, pause: Presence::Absent };

    /// The names of the files that are there.
    pub fn files(self) -> Vec<&'static str> {
        let files = [(self.stop, "STOP"), (self.pause, "PAUSE")];
        files.into_iter().filter(|(there, _)| *there == Presence::Present).map(|(_, file)| file).collect()
    }
}
