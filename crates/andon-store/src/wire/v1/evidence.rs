//! The test evidence, which records (`tests`) and journal lines (`test_run`) share.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use andon_core::domain::ids::{CodeId, CommitId, Digest, Signature};
use andon_core::domain::summary::{FailingTest, HaltSummary};
use andon_core::domain::tests::{
    Caveats, Counts, LostTests, RunOrigin, ScopeTests, SetNames, TestEvidence, TestStatus,
};
use andon_core::format::{Count, List, bounded};

const MAX_FAILING_ID: usize = 512;
const MAX_RUNNER: usize = 256;
const MAX_COMMAND: usize = 4096;
const MAX_SAID: usize = 400;

#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct EvidenceWire {
    code: CodeId,
    status: TestStatus,
    total: Option<Count>,
    passed: Option<Count>,
    failed: Option<Count>,
    errored: Option<Count>,
    skipped: Option<Count>,
    signature: Signature,
    errors: Option<Signature>,
    failing: Option<List<String, { TestEvidence::MAX_FAILING }>>,
    truncated: Option<bool>,
    runner: Option<String>,
    command: Option<String>,
    // The remarks about a test run are left out where there are none.
    handed_in: Option<bool>,
    full_run: Option<Count>,
    flaky_tests: Option<List<String, { TestEvidence::MAX_FLAKY }>>,
    set: Option<Digest>,
    names: Option<NamesWire>,
    lost: Option<LostWire>,
    not_started: Option<String>,
    /// The first errors, a line each.
    said: Option<Said>,
    untracked: Option<List<String, { Caveats::MAX_UNTRACKED }>>,
    scopes: Option<BTreeMap<String, ScopeWire>>,
}

/// One of `scopes`. Counts of nothing and empty lists are left out: a record has a row for each scope of the project.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct ScopeWire {
    code: CodeId,
    status: TestStatus,
    total: Option<Count>,
    passed: Option<Count>,
    failed: Option<Count>,
    errored: Option<Count>,
    skipped: Option<Count>,
    signature: Signature,
    errors: Option<Signature>,
    failing: Option<List<String, { TestEvidence::MAX_FAILING }>>,
    truncated: Option<bool>,
    runner: Option<String>,
    command: Option<String>,
    full_run: Option<Count>,
    set: Option<Digest>,
    needs: Option<List<String, { TestEvidence::MAX_SCOPES }>>,
    from: Option<CommitId>,
}

impl From<&ScopeTests> for ScopeWire {
    fn from(scope: &ScopeTests) -> Self {
        let tests = &scope.tests;
        let Counts { total, passed, failed, errored, skipped } = tests.counts;
        let count = |count: u64| (count > 0).then_some(Count(count));
        let failing: List<String, { TestEvidence::MAX_FAILING }> =
            tests.failing.iter().map(|id| bounded(id, MAX_FAILING_ID)).collect();
        let needs: List<String, { TestEvidence::MAX_SCOPES }> = scope.needs.iter().cloned().collect();
        Self {
            code: tests.code,
            status: tests.status,
            total: count(total),
            passed: count(passed),
            failed: count(failed),
            errored: count(errored),
            skipped: count(skipped),
            signature: tests.signature,
            errors: tests.errors,
            truncated: (tests.truncated || failing.cut).then_some(true),
            failing: failing.unless_empty(),
            runner: Some(bounded(&tests.runner, MAX_RUNNER)),
            command: Some(bounded(&tests.command, MAX_COMMAND)),
            full_run: tests.caveats.full_run.map(Count),
            set: tests.caveats.set,
            needs: needs.unless_empty(),
            from: scope.from,
        }
    }
}

impl ScopeWire {
    fn read(self, name: String) -> ScopeTests {
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        let failing = self.failing.unwrap_or_default();
        let tests = TestEvidence {
            code: self.code,
            status: self.status,
            counts: Counts {
                total: count(self.total),
                passed: count(self.passed),
                failed: count(self.failed),
                errored: count(self.errored),
                skipped: count(self.skipped),
            },
            signature: self.signature,
            errors: self.errors,
            truncated: self.truncated.unwrap_or(false) || failing.cut,
            failing: failing.items,
            runner: self.runner.unwrap_or_default(),
            command: self.command.unwrap_or_default(),
            caveats: Caveats {
                set: self.set,
                full_run: self.full_run.map(|count| count.0),
                ..Caveats::default()
            },
            scopes: Vec::new(),
        };
        ScopeTests { name, needs: self.needs.unwrap_or_default().items, tests, from: self.from }
    }
}

/// The rows of `scopes`, those of too long names and beyond the bound left out.
fn scopes(rows: Option<BTreeMap<String, ScopeWire>>) -> Vec<ScopeTests> {
    let rows = rows.unwrap_or_default().into_iter().filter(|(name, _)| name.len() <= MAX_RUNNER);
    rows.take(TestEvidence::MAX_SCOPES).map(|(name, row)| row.read(name)).collect()
}

type Said = List<FailingTest, { Caveats::MAX_SAID }>;

/// An error within its bounds, also where another version wrote it.
fn said(failing: &FailingTest) -> FailingTest {
    let error = failing.error.as_ref().map(|error| error.chars().take(HaltSummary::MAX_ERROR).collect());
    FailingTest { test: failing.test.as_ref().map(|id| bounded(id, MAX_FAILING_ID)), error }
}

type Names = List<String, { LostTests::MAX_NAMES }>;

/// `names`: either `all`, or what changed `since` another set.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct NamesWire {
    all: Option<List<String, { SetNames::MAX_ALL }>>,
    since: Option<Digest>,
    came: Option<List<String, { SetNames::MAX_CHANGED }>>,
    went: Option<List<String, { SetNames::MAX_CHANGED }>>,
}

impl From<&SetNames> for NamesWire {
    fn from(names: &SetNames) -> Self {
        let none = Self { all: None, since: None, came: None, went: None };
        match names {
            SetNames::All(all) => Self { all: Some(all.iter().cloned().collect()), ..none },
            SetNames::Since { set, came, went } => Self {
                since: Some(*set),
                came: Some(came.iter().cloned().collect()),
                went: Some(went.iter().cloned().collect()),
                ..none
            },
        }
    }
}

impl NamesWire {
    /// Nothing where a list was cut: the hash of the set would tell.
    fn names(self) -> Option<SetNames> {
        let (came, went) = (self.came.unwrap_or_default(), self.went.unwrap_or_default());
        match (self.all, self.since) {
            (Some(all), _) => (!all.cut).then_some(SetNames::All(all.items)),
            (None, Some(set)) => {
                let whole = !came.cut && !went.cut;
                whole.then_some(SetNames::Since { set, came: came.items, went: went.items })
            }
            (None, None) => None,
        }
    }
}

/// `lost`. What is empty is left out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct LostWire {
    gone: Option<Names>,
    gone_total: Option<Count>,
    skipped: Option<Names>,
    skipped_total: Option<Count>,
    back: Option<Names>,
}

impl From<&LostTests> for LostWire {
    fn from(lost: &LostTests) -> Self {
        let names = |names: &[String]| {
            let names: Names = names.iter().map(|id| bounded(id, MAX_FAILING_ID)).collect();
            names.unless_empty()
        };
        let total = |total: u64| (total > 0).then_some(Count(total));
        Self {
            gone: names(&lost.gone),
            gone_total: total(lost.gone_total),
            skipped: names(&lost.skipped),
            skipped_total: total(lost.skipped_total),
            back: names(&lost.back),
        }
    }
}

impl From<LostWire> for LostTests {
    fn from(wire: LostWire) -> Self {
        let names = |names: Option<Names>| names.unwrap_or_default().items;
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        Self {
            gone: names(wire.gone),
            gone_total: count(wire.gone_total),
            skipped: names(wire.skipped),
            skipped_total: count(wire.skipped_total),
            back: names(wire.back),
        }
    }
}

impl From<&TestEvidence> for EvidenceWire {
    fn from(evidence: &TestEvidence) -> Self {
        let Counts { total, passed, failed, errored, skipped } = evidence.counts;
        let failing: List<String, { TestEvidence::MAX_FAILING }> =
            evidence.failing.iter().map(|id| bounded(id, MAX_FAILING_ID)).collect();
        let flaky: List<String, { TestEvidence::MAX_FLAKY }> =
            evidence.caveats.flaky.iter().map(|id| bounded(id, MAX_FAILING_ID)).collect();
        let untracked: List<String, { Caveats::MAX_UNTRACKED }> =
            evidence.caveats.untracked.iter().map(|path| bounded(path, MAX_FAILING_ID)).collect();
        Self {
            code: evidence.code,
            status: evidence.status,
            total: Some(Count(total)),
            passed: Some(Count(passed)),
            failed: Some(Count(failed)),
            errored: Some(Count(errored)),
            skipped: Some(Count(skipped)),
            signature: evidence.signature,
            errors: evidence.errors,
            truncated: (evidence.truncated || failing.cut).then_some(true),
            failing: Some(failing),
            runner: Some(bounded(&evidence.runner, MAX_RUNNER)),
            command: Some(bounded(&evidence.command, MAX_COMMAND)),
            handed_in: (evidence.caveats.origin == RunOrigin::HandedIn).then_some(true),
            full_run: evidence.caveats.full_run.map(Count),
            flaky_tests: flaky.unless_empty(),
            set: evidence.caveats.set,
            names: evidence.caveats.names.as_ref().map(NamesWire::from),
            lost: (!evidence.caveats.lost.is_empty()).then(|| LostWire::from(&evidence.caveats.lost)),
            not_started: evidence.caveats.not_started.as_deref().map(|said| bounded(said, MAX_SAID)),
            said: evidence.caveats.said.iter().map(said).collect::<Said>().unless_empty(),
            untracked: untracked.unless_empty(),
            scopes: (!evidence.scopes.is_empty()).then(|| {
                let rows = evidence.scopes.iter().take(TestEvidence::MAX_SCOPES);
                rows.map(|scope| (scope.name.clone(), ScopeWire::from(scope))).collect()
            }),
        }
    }
}

impl From<EvidenceWire> for TestEvidence {
    fn from(wire: EvidenceWire) -> Self {
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        let failing = wire.failing.unwrap_or_default();
        let handed_in = wire.handed_in.unwrap_or(false);
        Self {
            code: wire.code,
            status: wire.status,
            counts: Counts {
                total: count(wire.total),
                passed: count(wire.passed),
                failed: count(wire.failed),
                errored: count(wire.errored),
                skipped: count(wire.skipped),
            },
            signature: wire.signature,
            errors: wire.errors,
            truncated: wire.truncated.unwrap_or(false) || failing.cut,
            failing: failing.items,
            runner: wire.runner.unwrap_or_default(),
            command: wire.command.unwrap_or_default(),
            caveats: Caveats {
                origin: if handed_in { RunOrigin::HandedIn } else { RunOrigin::Here },
                full_run: wire.full_run.map(|count| count.0),
                flaky: wire.flaky_tests.unwrap_or_default().items,
                set: wire.set,
                names: wire.names.and_then(NamesWire::names),
                lost: wire.lost.map(LostTests::from).unwrap_or_default(),
                not_started: wire.not_started,
                said: wire.said.unwrap_or_default().items.iter().map(said).collect(),
                untracked: wire.untracked.unwrap_or_default().items,
            },
            scopes: scopes(wire.scopes),
        }
    }
}
