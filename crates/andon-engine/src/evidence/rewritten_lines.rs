//! Tested commits whose code a person changed while a rebase moved them, on the way to a commit that was tested: the
//! conflict that was resolved, the older commit that was edited. git asks no gate there, and what became of the change is
//! seen where the tests ran.

use std::collections::{HashMap, HashSet};

use super::{Archive, Origins};
use crate::Result;
use andon_core::domain::{CommitId, CommitKind, CommitRecord, Gate, Recording, TestEvidence};

/// Most commits of a line that are looked at, from its tip down.
const LINE: usize = 256;

impl Origins {
    /// The rewritten commits of the line that ends in `tip`, each with the commit above it that was tested: by its record, or
    /// by the `run` that was made at that commit. A line that was moved once more is looked up as it was before.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn rewritten_to_tested(
        &mut self,
        archive: Archive<'_>,
        tip: CommitId,
        run: Option<CommitId>,
    ) -> Result<HashMap<CommitId, CommitId>> {
        let known = self.index(archive)?;
        let mut found = HashMap::new();
        let mut tested = None;
        // The lines below tested commits with the same change as one of this line, and that commit.
        let mut before: HashMap<CommitId, CommitId> = HashMap::new();
        for id in line(archive, tip) {
            let record = archive.record(id);
            let ran = run == Some(id) || record.as_ref().is_some_and(is_tested);
            let moved = record.filter(is_rewritten);
            if ran || moved.is_none() {
                tested = Some(id).filter(|_| ran);
                before.clear();
            }
            let Some(record) = moved else { continue };
            let same = known.of_diff(record.diff.hash).into_iter().filter(|other| *other != id);
            let same: Vec<CommitId> = same.collect();
            found.extend(
                tested
                    .or_else(|| same.iter().find_map(|other| before.get(other).copied()))
                    .map(|at| (id, at)),
            );
            for other in same.into_iter().filter(|_| tested.is_none()) {
                if archive.record(other).is_some_and(|record| is_tested(&record)) {
                    before.extend(line(archive, other).map(|below| (below, other)));
                }
            }
        }
        Ok(found)
    }
}

/// The commits from `tip` down its first parents.
fn line(archive: Archive<'_>, tip: CommitId) -> impl Iterator<Item = CommitId> {
    let mut met = HashSet::new();
    let down = std::iter::successors(Some(tip), move |id| archive.parent(*id));
    down.take(LINE).take_while(move |id| met.insert(*id))
}

fn is_tested(record: &CommitRecord) -> bool {
    record.tests.as_ref().is_some_and(|tests| tests.is_own() && tests.code == record.code)
}

/// True for what a rebase made of a commit that was tested, where git asked no gate.
fn is_rewritten(record: &CommitRecord) -> bool {
    let carried = record.carries.as_ref().and_then(|carried| carried.tests.as_ref());
    (record.kind, record.gate, record.recording) == (CommitKind::Rebase, Gate::NotRun, Recording::AtCommit)
        && carried.is_some_and(TestEvidence::is_own)
}
