//! The result of a test run, whatever the runner: counts, a status class, the failing ids.

mod overlay;
mod scopes;

pub use overlay::{OverlayEntry, Tracking};
pub use testreport::{Counts, NamedTest, TestStatus};

use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CodeId, CommitId, Digest, FailingTest, HaltSummary, Signature, Timestamp, TreeId, codec::flag};
use crate::format::fields::{Items, Packed, Text, Texts, count, count_if_any, or_default, unless_default};
use crate::format::{List, bounded};
use testreport::stable_id;

/// Bytes of the id of a test as JSON.
const MAX_ID: usize = 512;
/// Bytes of the name of a runner or a scope.
const MAX_RUNNER: usize = 256;
/// Bytes of a command.
const MAX_COMMAND: usize = 4096;
/// Bytes of what a shell said of a command that it could not start.
const MAX_SAID: usize = 400;

/// The result of a test run after normalization, bound to the code it ran on: the member `tests` of a commit record, and
/// most of a `test_run` in the journal. Remarks about the run are left out there where there are none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestEvidence {
    /// The code fingerprint of what ran.
    pub code: CodeId,
    /// Status class.
    pub status: TestStatus,
    /// Tests that the runner named or counted.
    #[serde(default, deserialize_with = "count")]
    pub total: u64,
    /// Tests that passed.
    #[serde(default, deserialize_with = "count")]
    pub passed: u64,
    /// Tests whose assertion failed.
    #[serde(default, deserialize_with = "count")]
    pub failed: u64,
    /// Tests that could not be carried through.
    #[serde(default, deserialize_with = "count")]
    pub errored: u64,
    /// Tests that were skipped or ignored.
    #[serde(default, deserialize_with = "count")]
    pub skipped: u64,
    /// Signature over runner, command, status and failing ids.
    pub signature: Signature,
    /// Fingerprint over the normalized first error of each failure, when a failure has one.
    pub errors: Option<Signature>,
    /// Sorted normalized ids of the failing tests, at most [`TestEvidence::MAX_FAILING`].
    #[serde(
        default,
        serialize_with = "all_failing",
        deserialize_with = "Items::<{ TestEvidence::MAX_FAILING + 1 }>::deserialize"
    )]
    pub failing: Vec<String>,
    /// True when `failing` was cut.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "or_default")]
    pub truncated: bool,
    /// The runner that was recognised, such as `cargo` or `tap`; `exit` when only the exit code was known.
    #[serde(default, with = "Text::<MAX_RUNNER>")]
    pub runner: String,
    /// The command as a person would type it.
    #[serde(default, with = "Text::<MAX_COMMAND>")]
    pub command: String,
    /// Who ran the tests.
    #[serde(default, rename = "handed_in")]
    pub origin: RunOrigin,
    /// The code that they ran on.
    #[serde(default, rename = "of_parent")]
    pub ran_on: RanOn,
    /// Tests that the last full run on the same tests ran, when this run passed with fewer.
    #[serde(default, deserialize_with = "count_if_any")]
    pub full_run: Option<u64>,
    /// The number of different errors that a build that failed shows; 0 where none is known.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "count")]
    pub build_errors: u64,
    /// Sorted ids of tests whose result differed between runs on the same code, this or an earlier one, at most
    /// [`TestEvidence::MAX_FLAKY`].
    #[serde(default, rename = "flaky_tests", with = "Texts::<{ TestEvidence::MAX_FLAKY }, MAX_ID>")]
    pub flaky: Vec<String>,
    /// A hash over the ids of the tests that the run had; `None` where the runner does not name them all.
    pub set: Option<Digest>,
    /// The tests of that set, where the records before do not tell them.
    #[serde(default, deserialize_with = "NamesForm::whole")]
    pub names: Option<SetNames>,
    /// The tests that the commit's set lacks compared with that of the last recorded run; empty where one of the two sets is
    /// not known.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "or_default")]
    pub lost: LostTests,
    /// The output that said that there was nothing to run: a program, a target or a script that is not there.
    #[serde(default, with = "Text::<MAX_SAID>")]
    pub not_started: Option<String>,
    /// The first errors in one line each, secrets masked: those of the run, then those of failing tests, at most
    /// [`TestEvidence::MAX_SAID`].
    #[serde(default, serialize_with = "said", deserialize_with = "read_said")]
    pub said: Vec<FailingTest>,
    /// Untracked files that were there when the tests ran, bound nothing and are not in the commit: sorted names, at most
    /// [`TestEvidence::MAX_UNTRACKED`].
    #[serde(default, with = "Texts::<{ TestEvidence::MAX_UNTRACKED }, MAX_ID>")]
    pub untracked: Vec<String>,
    /// The results of the scopes by name, where the code has scopes: the result is then that of all of them together. Empty in
    /// a run of one command.
    #[serde(default, with = "scopes")]
    pub scopes: Vec<ScopeTests>,
}

/// Written also where there is none.
fn all_failing<S: Serializer>(ids: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().take(TestEvidence::MAX_FAILING).map(|id| bounded(id, MAX_ID)))
}

fn said<S: Serializer>(said: &[FailingTest], serializer: S) -> Result<S::Ok, S::Error> {
    let said: Vec<FailingTest> = said.iter().take(TestEvidence::MAX_SAID).map(within_bounds).collect();
    Items::<{ TestEvidence::MAX_SAID }>::serialize(&said, serializer)
}

fn read_said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FailingTest>, D::Error> {
    let said: Vec<FailingTest> = Items::<{ TestEvidence::MAX_SAID }>::deserialize(deserializer)?;
    Ok(said.iter().map(within_bounds).collect())
}

/// An error within its bounds, also where another version wrote it.
fn within_bounds(failing: &FailingTest) -> FailingTest {
    let error = failing.error.as_ref().map(|error| error.chars().take(HaltSummary::MAX_ERROR).collect());
    FailingTest { test: failing.test.as_ref().map(|id| bounded(id, MAX_ID)), error }
}

/// The tests of one scope (docs/concepts.md), as a part of the tests of the whole code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeTests {
    /// The name of the scope.
    pub name: String,
    /// The scopes that it was said to need, directly or by others: what its tests read is the project's word.
    pub needs: Vec<String>,
    /// The result, on the scope's own fingerprint.
    pub tests: TestEvidence,
    /// The commit whose record brought the result; `None` where the tests ran for this one.
    pub from: Option<CommitId>,
}

/// The tests of a set, each as `+id`, or `-id` where it is skipped, sorted by id. With them, the records show which tests a
/// later run lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "NamesForm")]
pub enum SetNames {
    /// All of them, at most [`SetNames::MAX_ALL`] and [`SetNames::MAX_BYTES`].
    All(Vec<String>),
    /// The tests added to and removed from a set that an earlier record tells, at most [`SetNames::MAX_CHANGED`] of each.
    Since {
        /// The set that changed.
        set: Digest,
        /// Tests that it has not.
        came: Vec<String>,
        /// Tests that only it has.
        went: Vec<String>,
    },
}

impl SetNames {
    /// Bound of all names.
    pub const MAX_ALL: usize = 4096;
    /// Bound of their bytes.
    pub const MAX_BYTES: usize = 96 << 10;
    /// Bound of each list of what changed.
    pub const MAX_CHANGED: usize = 128;
    /// Bytes of one: an id that is longer would be cut.
    pub const MAX_ID: usize = 500;
}

/// The serialized form of [`SetNames`]: either `all`, or the changes `since` another set.
#[derive(Default, Serialize, Deserialize)]
struct NamesForm {
    all: Option<List<String, { SetNames::MAX_ALL }>>,
    since: Option<Digest>,
    came: Option<List<String, { SetNames::MAX_CHANGED }>>,
    went: Option<List<String, { SetNames::MAX_CHANGED }>>,
}

impl From<SetNames> for NamesForm {
    fn from(names: SetNames) -> Self {
        match names {
            SetNames::All(all) => Self { all: Some(all.into_iter().collect()), ..Self::default() },
            SetNames::Since { set, came, went } => {
                let [came, went] = [came, went].map(|names| Some(names.into_iter().collect()));
                Self { all: None, since: Some(set), came, went }
            }
        }
    }
}

impl NamesForm {
    /// Reads names; nothing where a list was cut: the hash of the set would tell.
    fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SetNames>, D::Error> {
        let Some(Self { all, since, came, went }) = Deserialize::deserialize(deserializer)? else {
            return Ok(None);
        };
        let (came, went) = (came.unwrap_or_default(), went.unwrap_or_default());
        Ok(match (all, since) {
            (Some(all), _) => (!all.cut).then_some(SetNames::All(all.items)),
            (None, Some(set)) => {
                let whole = !came.cut && !went.cut;
                whole.then_some(SetNames::Since { set, came: came.items, went: went.items })
            }
            (None, None) => None,
        })
    }
}

/// Tests that a run of the same command had before, by their normalized ids. Of each list at most [`LostTests::MAX_NAMES`].
/// Empty lists are left out of records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LostTests {
    /// Tests that are gone, and came under no other name.
    #[serde(default, with = "Texts::<{ LostTests::MAX_NAMES }, MAX_ID>")]
    pub gone: Vec<String>,
    /// The number of tests that are gone, where the list is cut.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "count")]
    pub gone_total: u64,
    /// Tests that ran before and are skipped now.
    #[serde(default, with = "Texts::<{ LostTests::MAX_NAMES }, MAX_ID>")]
    pub skipped: Vec<String>,
    /// The number of tests that ran before and are skipped now.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "count")]
    pub skipped_total: u64,
    /// Tests that an earlier record tells as gone or skipped, and that run again.
    #[serde(default, with = "Texts::<{ LostTests::MAX_NAMES }, MAX_ID>")]
    pub back: Vec<String>,
}

impl LostTests {
    /// Bound of each list.
    pub const MAX_NAMES: usize = 32;

    /// Returns whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

crate::named_enum! {
    /// The part of a change that was read: a change may be larger than what a hook reads.
    #[derive(Default)]
    pub enum Extent, "an extent of a count" {
        /// All of it: counts are exact.
        #[default]
        Whole = "whole",
        /// All that came, and a part of what went: there may be more.
        AtLeast = "at-least",
        /// Only a part of what came as well: some may have moved there.
        About = "about",
    }
}

/// Who ran the tests. As a member it is there, and true, where the result was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RunOrigin {
    /// `andon test`, which saw the run.
    #[default]
    Here,
    /// The result was handed in: `andon observe test_run`. Which command ran is a claim.
    HandedIn,
}

flag!(RunOrigin, HandedIn, Here);

/// The code that the tests ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RanOn {
    /// Exactly the code that the result is for.
    #[default]
    ThisCode,
    /// The code of the commit before, from which only the project's own version and its changelogs differ. As a member it is
    /// there, and true.
    Parent,
}

flag!(RanOn, Parent, ThisCode);

impl TestEvidence {
    /// A result without counts, names or remarks.
    pub fn new(code: CodeId, status: TestStatus, signature: Signature) -> Self {
        Self { code, status, signature, ..Self::default() }
    }

    /// Counts how many tests of each kind.
    pub fn counts(&self) -> Counts {
        let Self { total, passed, failed, errored, skipped, .. } = *self;
        Counts { total, passed, failed, errored, skipped }
    }

    /// The same with these counts.
    #[must_use]
    pub fn with_counts(self, counts: Counts) -> Self {
        let Counts { total, passed, failed, errored, skipped } = counts;
        Self { total, passed, failed, errored, skipped, ..self }
    }

    /// The same within the bound of `failing`: what another program wrote may be longer.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.truncated |= self.failing.len() > Self::MAX_FAILING;
        self.failing.truncate(Self::MAX_FAILING);
        self
    }

    /// Bound of `failing`.
    pub const MAX_FAILING: usize = testreport::MAX_FAILING;
    /// Bound of `flaky`.
    pub const MAX_FLAKY: usize = 64;
    /// Bound of `untracked`.
    pub const MAX_UNTRACKED: usize = 16;
    /// Bound of `said`.
    pub const MAX_SAID: usize = 8;
    /// Bound of `scopes`: the declared ones and the rest.
    pub const MAX_SCOPES: usize = 257;

    /// The command of a result that is made of those of scopes.
    pub const OF_SCOPES: &'static str = "andon test";

    /// The result of one scope, if it is known.
    pub fn of_scope(&self, name: &str) -> Option<&ScopeTests> {
        self.scopes.iter().find(|scope| scope.name == name)
    }

    /// The runner of a test run that is known by its exit code alone.
    pub const BY_EXIT_CODE: &'static str = testreport::RUNNER_EXIT;

    /// The runner of a run whose exit code counted once more, as it did before tests had to be named.
    pub const BY_OLD_HABIT: &'static str = "exit-once";

    /// The failing tests as runs are compared by them.
    pub fn compared(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.failing.iter().map(|id| stable_id(id))
    }

    /// The failing tests that are among `these`, given by the names that [`Self::compared`] has, and the others.
    pub fn apart(&self, these: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
        self.failing.iter().cloned().partition(|id| these.contains(&*stable_id(id)))
    }

    /// True when nothing but the exit code of the command tells how the tests went: no test is known by name or number.
    pub fn is_by_exit_code(&self) -> bool {
        self.runner == Self::BY_EXIT_CODE || self.runner == Self::BY_OLD_HABIT
    }

    /// True when the tests ran here and on this very code.
    pub fn is_own(&self) -> bool {
        self.origin == RunOrigin::Here && self.ran_on == RanOn::ThisCode
    }

    /// True when this run shows that the tests pass.
    pub fn is_green(&self) -> bool {
        self.status == TestStatus::Passed
    }
}

crate::named_enum! {
    /// The validity of a run: whether it can prove anything, and if not, why (docs/concepts.md).
    pub enum RunValidity, "a validity of a run" {
        /// The configured command, ended by itself, on code that stayed the same.
        Valid = "valid",
        /// Not the configured `test.command`.
        OtherCommand = "other_command",
        /// The code changed while the tests ran.
        CodeChanged = "code_changed",
        /// The run was stopped: a timeout or a signal.
        Interrupted = "interrupted",
        /// Fewer tests than the last full run on the same tests, where `test.full` asks for all.
        Filtered = "filtered",
        /// Made elsewhere and handed in, where `test.handed_in` does not let such runs count.
        HandedIn = "handed_in",
        /// The program of the command could not be started.
        NotStarted = "not_started",
        /// It was seen in what a shell call printed: perhaps a part of the tests, and of their output. An attempt, and never evidence.
        Seen = "seen",
    }
}

/// A test run as the journal keeps it: the evidence, and on what code it was gained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    /// When the run ended; unknown for runs handed in without a time.
    pub at: Option<Timestamp>,
    /// The normalized result: its members are those of the line itself, which `wire` writes and reads.
    #[serde(default, with = "Packed")]
    pub evidence: TestEvidence,
    /// The validity of the run. A run that does not state it proves nothing.
    pub validity: RunValidity,
    /// HEAD's tree at the start of the run (`None` before the first commit).
    pub base: Option<TreeId>,
    /// The differences from `base`, code paths only, at most [`TestRun::MAX_OVERLAY`]; the fingerprint covers all.
    #[serde(default, deserialize_with = "Items::<{ TestRun::MAX_OVERLAY + 1 }>::deserialize")]
    pub overlay: Vec<OverlayEntry>,
    /// True when `overlay` was cut.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "or_default")]
    pub overlay_truncated: bool,
    /// Untracked files that bind nothing, for they are of no kind that the project has code of: sorted, at most
    /// [`TestRun::MAX_BESIDE`]. The fingerprint leaves them out.
    #[serde(default, with = "Items::<{ TestRun::MAX_BESIDE }>")]
    pub beside: Vec<OverlayEntry>,
}

impl TestRun {
    /// Bound of `overlay`.
    pub const MAX_OVERLAY: usize = 1024;
    /// Bound of `beside`.
    pub const MAX_BESIDE: usize = 256;

    /// The same within the bounds of its lists that say when they were cut.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.evidence = self.evidence.bounded();
        self.overlay_truncated |= self.overlay.len() > Self::MAX_OVERLAY;
        self.overlay.truncate(Self::MAX_OVERLAY);
        self
    }

    /// True for a run of the configured tests that Andon started, whatever came of it, or that counts as one.
    pub(crate) fn is_by_the_program(&self) -> bool {
        use RunValidity::{CodeChanged, Filtered, Interrupted, Valid};
        matches!(self.validity, Valid | CodeChanged | Interrupted | Filtered)
    }

    /// True for a run that was handed in and proves nothing.
    pub(crate) fn is_reported(&self) -> bool {
        match self.validity {
            RunValidity::HandedIn => true,
            RunValidity::OtherCommand => self.evidence.origin == RunOrigin::HandedIn,
            RunValidity::Valid
            | RunValidity::CodeChanged
            | RunValidity::Interrupted
            | RunValidity::Filtered
            | RunValidity::NotStarted
            | RunValidity::Seen => false,
        }
    }

    /// True for such a run that says that the tests fail: believing that takes no trust (docs/spec-map.md, settled
    /// choice 11).
    pub fn is_reported_failing(&self) -> bool {
        self.is_reported()
            && !matches!(
                self.evidence.status,
                TestStatus::Passed | TestStatus::NoTests | TestStatus::Incomplete
            )
    }
}
