//! The one index of test results by content: code, or the code of a scope, and where it is recorded how its tests ended.
//!
//! It is filled from the journals of all worktrees of the clone, those that are gone too, and from the records, own and fetched,
//! and holds places
//! alone: a result is read from its place, so that what is damaged, forged or out of date here can hide a result and never
//! make one. `<common dir>/andon/cache/results` is a memory with how far each source was read: who opens it reads what came
//! since. It is bounded by age and bytes; without it the newest part of each source is read again.

use std::{cell::RefCell, cmp::Reverse, collections::BTreeMap, path::PathBuf, rc::Rc};

use serde::{Deserialize, Serialize};

use super::{Result, skipped_line};
use crate::wire::v1::{decode_line, is_plainly_event, peek};
use crate::{Journal, JournalLine, Memory, NotesStore, Position, memory::Kind, notes::REF, wire::envelope};
use andon_core::domain::{
    CodeId, CommitId, Diagnostic, DiffHash, RanOn, Recording, RunValidity, ShortHash, TestEvidence, TestRun,
    Timestamp, TreeId,
};
use andon_git::Repo;

/// Seconds after which a result is forgotten.
const MAX_AGE: i64 = 400 * 24 * 3600;
/// Rows that are kept, those of the newest results: 2 MiB.
const MAX_ROWS: usize = 40_000;
/// Generations of a journal, of a MiB each, that are read where nothing is known of it.
const GENERATIONS: u64 = 4;
/// Bytes of records that are read where nothing is known of them, the newest.
const MAX_RECORDS: usize = 16 << 20;
/// Records that changed at once beyond which the newest are read.
const MANY: usize = 4_096;
/// Rows that came since the memory was written, from which who only reads writes it too.
const STEP: usize = 256;
/// Records that are looked at for one answer, the newest.
const PER_KEY: usize = 16;
/// Lines that are named because they cannot be read.
const NAMED: usize = 8;

/// The content by which a result is looked up.
#[derive(Debug, Clone, Copy)]
enum By {
    Code,
    Tree,
    Diff,
}

/// As good as the id: what is found is compared.
fn key(by: By, id: &[u8]) -> u128 {
    id.iter().take(15).fold(by as u128, |key, byte| key << 8 | u128::from(*byte))
}

/// The place of a result: on the line of the journal of this number, or in the record of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Place {
    Run(Worktrees, Position),
    Record(CommitId),
}

/// Whose runs a journal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Worktrees {
    Main,
    Linked,
}

/// Rows are sorted: those of a key by their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Row {
    key: u128,
    at: i64,
    place: Place,
    /// The run had untracked files beside the code, which may be code by now.
    beside: bool,
}

/// The memory: the rows, and how far the sources were read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered {
    rows: Vec<Row>,
    /// The place that was reached in each journal.
    journals: BTreeMap<Worktrees, (Position, ShortHash)>,
    /// The refs of notes that were read, each with its commit then.
    tips: BTreeMap<String, CommitId>,
}

#[derive(Debug, Default)]
pub struct ResultIndex {
    common_dir: PathBuf,
    known: Remembered,
    /// Runs that were read.
    read: RefCell<BTreeMap<Place, Option<Rc<TestRun>>>>,
    /// Lines that were skipped, and a memory that was thrown away.
    pub warnings: Vec<Diagnostic>,
}

impl ResultIndex {
    /// The index of `repo` with everything that is recorded by now.
    pub fn open(repo: &Repo, now: Timestamp) -> Self {
        Self::remembered(repo, now, STEP)
    }

    /// The same, remembering all of it: for who has just added to it and is no hook.
    pub fn keep(repo: &Repo, now: Timestamp) -> Self {
        Self::remembered(repo, now, 1)
    }

    /// The index of the records of `store` alone, from nothing that this clone remembers.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn of_records(repo: &Repo, store: &NotesStore<'_>) -> Result<Self> {
        let mut index = Self::default();
        index.take_records(repo, store)?;
        index.settle();
        Ok(index)
    }

    /// True where no run of another worktree can be newer than those of this one.
    pub fn is_own_alone(repo: &Repo) -> bool {
        let linked = Journal::of_linked_runs(repo.common_dir());
        repo.git_dir() == repo.common_dir() && !linked.path().exists()
    }

    /// The memory with what came since, which it is written with where that is `worth` so many rows.
    fn remembered(repo: &Repo, now: Timestamp, worth: usize) -> Self {
        let memory = Memory::new(repo, Kind::RESULTS);
        let bytes = memory.bytes();
        let kept: Option<Remembered> = bytes.as_ref().and_then(|bytes| memory.decoded(&(), bytes));
        let mut index = Self { common_dir: repo.common_dir().to_owned(), ..Self::default() };
        // A whole one may be of another version.
        let is_whole = |bytes: &Vec<u8>| envelope::Row::new(bytes, bytes.len()).next().is_some();
        if kept.is_none() && memory.path().exists() && !bytes.as_ref().is_some_and(is_whole) {
            let what =
                format!("{} was damaged: the index of test results is made again", memory.path().display());
            index.warnings.push(Diagnostic::warning(what).code("result-index"));
        }
        let worth = if kept.is_some() { worth } else { 1 };
        index.known = kept.filter(|kept| index.goes_on(kept)).unwrap_or_default();
        let before = index.known.rows.len();
        index.catch_up(repo);
        if index.known.rows.len() >= before + worth {
            index.forget(now);
            memory.put(&(), &index.known);
        }
        index
    }

    /// True if no journal was replaced.
    fn goes_on(&self, kept: &Remembered) -> bool {
        let same = |(of, (at, guard)): (&Worktrees, &(Position, ShortHash))| {
            let journal = self.journal(*of);
            journal.size().is_none_or(|size| size == at.offset) || journal.guard(*at) == Some(*guard)
        };
        kept.journals.iter().all(same)
    }

    fn journal(&self, of: Worktrees) -> Journal {
        match of {
            Worktrees::Main => Journal::open(&self.common_dir),
            Worktrees::Linked => Journal::of_linked_runs(&self.common_dir),
        }
    }

    fn forget(&mut self, now: Timestamp) {
        let rows = &mut self.known.rows;
        rows.retain(|row| row.at == 0 || row.at + MAX_AGE >= now.0);
        if rows.len() > MAX_ROWS {
            rows.sort_unstable_by_key(|row| Reverse(row.at));
            // So many fewer that it is not done each time.
            rows.truncate(MAX_ROWS / 4 * 3);
            rows.sort_unstable();
        }
    }

    fn catch_up(&mut self, repo: &Repo) {
        self.take_journal(Worktrees::Main);
        self.take_journal(Worktrees::Linked);
        // Records that cannot be read are reported by who reads the newest; the journals tell the rest.
        let _unread = NotesStore::with_fetched(repo).and_then(|store| self.take_records(repo, &store));
        self.settle();
    }

    fn settle(&mut self) {
        self.known.rows.sort_unstable();
        self.known.rows.dedup();
    }

    fn take_journal(&mut self, of: Worktrees) {
        let journal = self.journal(of);
        let Some(size) = journal.size() else { return };
        let from = self.known.journals.get(&of).map(|(at, _)| *at);
        if from.is_some_and(|from| from.offset == size && !journal.rotated_since(from)) {
            return;
        }
        let Self { known: Remembered { rows, .. }, warnings, .. } = self;
        let from = from.unwrap_or_else(|| journal.newest_generations(GENERATIONS));
        let read = journal.lines_after(from, &mut |at, line| match run_of(line) {
            Ok(Some(run)) => rows.extend(rows_of(&run, Place::Run(of, at))),
            Err(why) if warnings.len() < NAMED => {
                warnings.push(skipped_line(&journal.file_of(at), at.offset, why));
            }
            Ok(None) | Err(_) => {}
        });
        let reached = read.ok().and_then(|at| Some((at, journal.guard(at)?)));
        self.known.journals.extend(reached.map(|reached| (of, reached)));
    }

    fn take_records(&mut self, repo: &Repo, store: &NotesStore<'_>) -> Result<()> {
        for (name, tip) in store.tips() {
            let known = self.known.tips.get(name).copied();
            if known != Some(tip) {
                self.take_notes(repo, store, known, tip)?;
                self.known.tips.insert(name.to_owned(), tip);
            }
        }
        Ok(())
    }

    /// Takes in the records that the notes of `tip` have and those of `known` have not.
    fn take_notes(
        &mut self,
        repo: &Repo,
        store: &NotesStore<'_>,
        known: Option<CommitId>,
        tip: CommitId,
    ) -> Result<()> {
        // A tip that is not here any more tells nothing.
        let changed = known.and_then(|known| repo.notes_changed(known, tip).ok());
        if let Some(changed) = changed.filter(|changed| changed.len() <= MANY) {
            for commit in changed {
                self.take_record(store, commit);
            }
        } else {
            let mut left = MAX_RECORDS;
            for step in repo.notes_history(tip) {
                for note in step? {
                    left = left.saturating_sub(self.take_record(store, note.commit));
                }
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes in the record of a commit; the length of its note.
    fn take_record(&mut self, store: &NotesStore<'_>, commit: CommitId) -> usize {
        let Ok(Some(note)) = store.note(commit) else { return 0 };
        // Backfilled ones prove nothing.
        let Some(record) = store.readable(commit).filter(|one| one.recording != Recording::Backfilled) else {
            return note.length();
        };
        let ran = |tests: &&TestEvidence| tests.code == record.code && tests.ran_on == RanOn::ThisCode;
        let tests = record.tests.iter().filter(ran).map(|tests| tests.code);
        // A result that came from another commit is found there.
        let scopes = record.tests.iter().flat_map(|tests| &tests.scopes).filter(|row| row.from.is_none());
        let codes = tests.chain(scopes.map(|row| row.tests.code)).map(|code| key(By::Code, &code.0));
        let diff = (!record.diff.empty).then(|| key(By::Diff, &record.diff.hash.0));
        let keys = codes.chain(diff).chain([key(By::Tree, record.tree.0.as_bytes())]);
        let (at, place) = (record.recorded_at.0, Place::Record(commit));
        self.known.rows.extend(keys.map(|key| Row { key, at, place, beside: false }));
        note.length()
    }

    /// The places under a key, the newest first.
    fn places(&self, by: By, id: &[u8]) -> impl Iterator<Item = Place> {
        let (key, rows) = (key(by, id), &self.known.rows);
        let range = rows.partition_point(|row| row.key < key)..rows.partition_point(|row| row.key <= key);
        rows[range].iter().rev().map(|row| row.place)
    }

    fn commits(places: impl Iterator<Item = Place>, most: usize) -> Vec<CommitId> {
        let mut commits = Vec::new();
        for place in places {
            match place {
                Place::Record(commit) if !commits.contains(&commit) => commits.push(commit),
                Place::Record(_) | Place::Run(..) => {}
            }
            if commits.len() == most {
                break;
            }
        }
        commits
    }

    /// The runs of all worktrees on this code, or with a result of a scope on it, the newest first.
    pub fn runs(&self, code: CodeId) -> impl Iterator<Item = Rc<TestRun>> {
        let has = move |run: &Rc<TestRun>| codes(run).any(|known| known == code);
        let places: Vec<Place> = self.places(By::Code, &code.0).collect();
        places.into_iter().filter_map(|place| self.run(place)).filter(has)
    }

    /// The runs that had untracked files beside their code, the newest first.
    pub fn runs_beside(&self) -> impl Iterator<Item = Rc<TestRun>> {
        let rows = self.known.rows.iter().filter(|row| row.beside);
        let mut places: Vec<(i64, Place)> = rows.map(|row| (row.at, row.place)).collect();
        places.sort_unstable_by_key(|place| Reverse(*place));
        places.dedup();
        places.into_iter().filter_map(|(_, place)| self.run(place))
    }

    fn run(&self, place: Place) -> Option<Rc<TestRun>> {
        let Place::Run(of, at) = place else { return None };
        let read = || run_of(&self.journal(of).line_at(at)?).ok()?.map(Rc::new);
        self.read.borrow_mut().entry(place).or_insert_with(read).clone()
    }

    /// The commits whose records have a result on this code, or of a scope on it, the newest first.
    pub fn records(&self, code: CodeId) -> Vec<CommitId> {
        Self::commits(self.places(By::Code, &code.0), PER_KEY)
    }

    /// The recorded commits with this tree, the newest first.
    pub fn of_tree(&self, tree: TreeId) -> Vec<CommitId> {
        Self::commits(self.places(By::Tree, tree.0.as_bytes()), PER_KEY)
    }

    /// The recorded commits that made this change, the newest first.
    pub fn of_diff(&self, diff: DiffHash) -> Vec<CommitId> {
        Self::commits(self.places(By::Diff, &diff.0), PER_KEY)
    }

    /// The commits that were recorded last, the newest first.
    pub fn newest(&self, count: usize) -> Vec<CommitId> {
        let mut rows: Vec<&Row> = self.known.rows.iter().collect();
        rows.sort_unstable_by_key(|row| Reverse(row.at));
        Self::commits(rows.into_iter().map(|row| row.place), count)
    }
}

/// The commit of our own notes that the index was last filled from.
pub(crate) fn last_tip(repo: &Repo) -> Option<CommitId> {
    let kept: Remembered = Memory::new(repo, Kind::RESULTS).get(&())?;
    kept.tips.get(REF).copied()
}

/// The codes that a run has results on.
fn codes(run: &TestRun) -> impl Iterator<Item = CodeId> {
    std::iter::once(run.evidence.code).chain(run.evidence.scopes.iter().map(|row| row.tests.code))
}

fn rows_of(run: &TestRun, place: Place) -> Vec<Row> {
    let beside = run.validity == RunValidity::Valid && !run.beside.is_empty() && !run.overlay_truncated;
    let at = run.at.map_or(0, |at| at.0);
    codes(run).map(|code| Row { key: key(By::Code, &code.0), at, place, beside }).collect()
}

/// The test run on a line of a journal, if it is one.
fn run_of(line: &[u8]) -> Result<Option<TestRun>, String> {
    let line = line.trim_ascii();
    if line.is_empty() || is_plainly_event(line) || !peek(line).map_err(|error| error.to_string())?.is_run() {
        return Ok(None);
    }
    let fact = decode_line(line).map_err(|error| error.to_string())?;
    Ok(if let JournalLine::TestRun(run) = fact { Some(*run) } else { None })
}
