//! Which texts are needed to judge a history that nobody recorded: ids first, texts only where a rule can have something
//! to say about them ([`detect::line_thresholds`]).
//!
//! Asked in rounds. A rule trips only when several candidates running look alike, so that reading one of them is mostly
//! enough to know that it does not; and whether a change is nothing but white space shows at one file of it. Whether a
//! commit undoes an earlier one shows at its hunks and at the lines that the earlier one may have changed. Where a rule
//! still may trip after that, its whole window is read. What is asked for is never too little: a judgement over the
//! facts of all rounds is that over all texts. Assumed answers after a halt only make windows shorter.
//!
//! What was found out of a window stays true: once it asks for nothing it is not looked at again, and where nothing of it
//! had to be read whole, that is remembered for the next walk.
//!
//! [`detect::line_thresholds`]: crate::detect::line_thresholds

use std::collections::{BTreeMap, BTreeSet};

use super::seen::{Ask, Lines, Read, Seen, Window, is_read, is_weak, may_equal, same_place, window};
use crate::detect::LineThresholds;
use crate::domain::change::PathStep;
use crate::domain::facts::Hunk;
use crate::history::Strike;

/// The questions of one round about the commits of `line` from `from` on; those before were answered.
pub(super) fn asked(line: &mut [Seen], from: usize, least: &LineThresholds) -> BTreeMap<usize, Ask> {
    let open: Vec<usize> = (from..line.len()).filter(|at| line[*at].window <= Window::Asked).collect();
    let mut round = Round { line, from, least, asked: BTreeMap::new(), found: Window::New };
    let found: Vec<Window> = open.iter().map(|at| round.look(*at, Round::commit)).collect();
    // Last, since what is read for other questions mostly answers this one.
    let again = |(at, found): (&usize, Window)| match (found, round.look(*at, Round::repeats)) {
        (Window::Asked, _) | (_, Window::Asked) => Window::Asked,
        (one, other) => one.max(other),
    };
    let found: Vec<Window> = open.iter().zip(found).map(again).collect();
    let asked = round.asked;
    for (at, found) in open.into_iter().zip(found) {
        let window = &mut line[at].window;
        *window = match (found, *window) {
            (Window::Asked, _) => Window::Asked,
            (Window::New, Window::New) => Window::Plain,
            (Window::New, _) => Window::Quiet,
            (told, _) => told,
        };
    }
    asked
}

struct Round<'a> {
    line: &'a [Seen],
    from: usize,
    least: &'a LineThresholds,
    asked: BTreeMap<usize, Ask>,
    /// What came of the window that is looked at: nothing yet, a question, or that all of it is read.
    found: Window,
}

impl Round<'_> {
    fn look(&mut self, at: usize, look: fn(&mut Self, usize)) -> Window {
        self.found = Window::New;
        look(self, at);
        self.found
    }

    /// The strike candidates of the window of one, the newest first; `None` where it is none or is read anyway.
    fn candidates(&self, window: &[usize]) -> Option<Vec<usize>> {
        let candidate = |at: &usize| self.line[*at].strike == Strike::Candidate;
        let asks = window.first().is_some_and(candidate) && !is_read(self.line, window);
        asks.then(|| window.iter().copied().filter(candidate).collect())
    }

    fn repeats(&mut self, at: usize) {
        let window = window(self.line, at);
        if let Some(candidates) = self.candidates(&window) {
            self.repeating(&window, &candidates);
        }
    }

    fn commit(&mut self, at: usize) {
        let window = window(self.line, at);
        if is_read(self.line, &window) {
            return self.all_of(&window);
        }
        let Some(candidates) = self.candidates(&window) else { return };
        let empty = candidates.iter().filter(|at| self.line[**at].diff.files == 0).count();
        if self.least.failures.is_some_and(|least| empty >= least) {
            self.all_of(&window);
        }
        self.undoing(&window, &candidates);
        self.weak(&window, &candidates);
        // What `co-occurrence` asks beside another signal.
        if self.least.unchanged.is_some() && self.returns(&window) {
            self.all_of(&window);
        }
    }

    fn ask(&mut self, at: usize, ask: Ask) {
        let done = match ask {
            Ask::Glance(_) => self.line[at].read != Read::Ids,
            Ask::Strength => self.line[at].read == Read::Whole || self.line[at].strong.is_some(),
            Ask::Sketch => self.is_sketched(at),
            Ask::Hunks => self.has_hunks(at),
            Ask::Documents | Ask::Text => self.line[at].read == Read::Whole,
        };
        if at >= self.from && !done {
            self.found = Window::Asked;
            let asked = self.asked.entry(at).or_insert(ask);
            *asked = ask.max(*asked);
        }
    }

    /// Asks for the texts of `ats`; whether any of them was not read yet.
    fn texts(&mut self, ats: &[usize]) -> bool {
        for at in ats {
            self.ask(*at, Ask::Text);
        }
        ats.iter().any(|at| self.line[*at].read != Read::Whole && *at >= self.from)
    }

    /// All that any rule can ask of a window.
    fn all_of(&mut self, window: &[usize]) {
        if self.found == Window::New {
            self.found = Window::Read;
        }
        for at in window {
            let candidate = self.line[*at].strike == Strike::Candidate;
            self.ask(*at, if candidate { Ask::Text } else { Ask::Documents });
        }
    }

    /// `unchanged-diff`.
    fn repeating(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(least) = self.least.repeats else { return };
        let run = &candidates[..candidates.len().min(least)];
        let before = |at: usize| candidates.get(at + 1).copied();
        let may = |at: usize| self.may_repeat(run[at], before(at));
        if run.len() < least || !(0..run.len()).all(may) {
            return;
        }
        if run.iter().any(|at| self.asked.contains_key(at)) {
            // Its answer may be enough.
            self.found = Window::Asked;
            return;
        }
        let glance = (0..run.len()).find(|at| {
            let one = &self.line[run[*at]];
            one.read == Read::Ids && one.diff.files > 0 && run[*at] >= self.from
        });
        if let Some(at) = glance {
            return self.ask(run[at], Ask::Glance(before(at)));
        }
        let with_before = &candidates[..candidates.len().min(least.saturating_add(1))];
        let unknown: Vec<usize> =
            with_before.iter().copied().filter(|at| *at >= self.from && !self.has_hunks(*at)).collect();
        if !unknown.is_empty() {
            // Mostly enough to tell that they are not the same.
            return unknown.into_iter().for_each(|at| self.ask(at, Ask::Hunks));
        }
        if !self.texts(with_before) {
            self.all_of(window);
        }
    }

    fn may_repeat(&self, at: usize, before: Option<usize>) -> bool {
        let one = &self.line[at];
        let same = || before.is_some_and(|before| may_equal(one, &self.line[before]));
        match one.read {
            _ if one.diff.files == 0 => true,
            Read::Whole => one.diff.empty || same(),
            Read::Differs { .. } => same(),
            Read::Ids | Read::Unclear if matches!(&one.lines, Lines::Hunks(hunks) if !hunks.is_empty()) => {
                same()
            }
            // What is added, deleted or moved is left after any normalization.
            Read::Ids | Read::Unclear => one.change.paths.iter().all(PathStep::stays) || same(),
        }
    }

    /// `weak-change`: empty commits are passed over.
    fn weak(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(least) = self.least.weak else { return };
        let mut run: Vec<usize> = Vec::new();
        for at in candidates.iter().copied().filter(|at| self.line[*at].diff.files > 0) {
            let one = &self.line[at];
            let strong = if one.read == Read::Whole { !is_weak(one) } else { one.strong == Some(true) };
            if strong || run.last().is_some_and(|later| !same_place(one, &self.line[*later])) {
                break;
            }
            run.push(at);
            if run.len() >= least {
                break;
            }
        }
        if run.len() < least {
            return;
        }
        let unknown = |at: &&usize| {
            let one = &self.line[**at];
            one.read != Read::Whole && one.strong.is_none() && **at >= self.from
        };
        // One that is work is enough to know.
        match run.iter().find(unknown) {
            Some(_) if run.iter().any(|at| self.asked.contains_key(at)) => self.found = Window::Asked,
            Some(at) => self.ask(*at, Ask::Strength),
            None => self.all_of(window),
        }
    }

    /// `undo-churn`.
    fn undoing(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(undo) = &self.least.undo else { return };
        let mut counted = candidates.to_vec();
        counted.retain(|at| !self.line[*at].passed_over);
        if counted.len() < undo.over || counted.first() != candidates.first() {
            return;
        }
        let met = |at: usize| -> Vec<usize> {
            let one = &self.line[counted[at]].change;
            let before = counted.iter().skip(at + 1).take(undo.window);
            before.copied().filter(|before| one.meets(&self.line[*before].change)).collect()
        };
        let newest = met(0);
        if newest.is_empty() {
            return;
        }
        let others: Vec<(usize, Vec<usize>)> =
            (1..undo.over).map(|at| (counted[at], met(at))).filter(|(_, met)| !met.is_empty()).collect();
        if others.is_empty() || self.undoes(counted[0], &newest) != Some(true) {
            return;
        }
        let told: Vec<Option<bool>> = others.iter().map(|(at, met)| self.undoes(*at, met)).collect();
        if told.contains(&Some(true)) && !told.contains(&None) {
            self.all_of(window);
        }
    }

    fn is_sketched(&self, at: usize) -> bool {
        self.line[at].read == Read::Whole || self.line[at].lines != Lines::Unknown
    }

    fn has_hunks(&self, at: usize) -> bool {
        self.line[at].read == Read::Whole || matches!(self.line[at].lines, Lines::Hunks(_))
    }

    /// Whether commit `at` undoes something of one of `before`; `None` while that is asked.
    fn undoes(&mut self, at: usize, before: &[usize]) -> Option<bool> {
        self.ask(at, Ask::Hunks);
        for before in before {
            self.ask(*before, Ask::Sketch);
        }
        if self.asked.contains_key(&at) || before.iter().any(|before| self.asked.contains_key(before)) {
            self.found = Window::Asked;
            return None;
        }
        let (known, unclear): (Vec<usize>, Vec<usize>) =
            before.iter().partition(|before| self.has_hunks(**before) || **before < self.from);
        let hunks = self.hunks(at);
        let theirs: BTreeSet<Hunk> = known.iter().flat_map(|before| self.hunks(*before)).collect();
        let back = |hunk: &Hunk| Hunk { removed: hunk.added, added: hunk.removed };
        if hunks.iter().any(|hunk| hunk.removed != hunk.added && theirs.contains(&back(hunk))) {
            return Some(true);
        }
        let suspects: Vec<usize> = unclear.into_iter().filter(|before| self.may_undo(at, *before)).collect();
        for before in &suspects {
            self.ask(*before, Ask::Hunks);
        }
        suspects.is_empty().then_some(false)
    }

    fn hunks(&self, at: usize) -> Vec<Hunk> {
        self.line[at].hunks().unwrap_or_else(|| self.line[at].diff.hunks.clone())
    }

    fn may_undo(&self, at: usize, before: usize) -> bool {
        match (&self.line[at].lines, &self.line[before].lines) {
            (Lines::Hunks(hunks), Lines::Sketch(sketch)) => {
                hunks.iter().any(|hunk| sketch.may_be_undone_by(hunk))
            }
            (_, _) => true,
        }
    }

    /// Whether the newest commit brings back a state of the code that was left.
    fn returns(&self, window: &[usize]) -> bool {
        let code = |at: &usize| self.line[*at].code;
        let Some((newest, before)) = window.split_first() else { return false };
        let left = before.iter().position(|at| code(at) != code(newest)).unwrap_or(before.len());
        left == 0 && before.iter().any(|at| code(at) == code(newest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::change::{ChangeFacts, Nature};
    use crate::domain::facts::DiffSummary;
    use crate::domain::ids::{CodeId, DiffHash, HunkHash};
    use crate::record::diff::{HunkLines, Sketch};

    /// Commit `at` of a line, which changed the paths `paths`, and left them where they are.
    fn seen(at: usize, paths: &[u8]) -> Seen {
        let number = u8::try_from(at + 1).unwrap();
        let hash = |byte: u8| HunkHash([byte; 8]);
        let step = |path: &u8| PathStep { path: hash(*path), old: hash(number), new: hash(number + 1) };
        let files = paths.len() as u64;
        Seen {
            before: at.checked_sub(1),
            strike: Strike::Candidate,
            recorded: false,
            passed_over: false,
            open: false,
            code: CodeId([number; 32]),
            diff: DiffSummary {
                hash: DiffHash([number; 32]),
                empty: files == 0,
                files,
                added: 0,
                removed: 0,
                hunks: Vec::new(),
                truncated: false,
            },
            change: ChangeFacts {
                nature: Nature::Work,
                paths: paths.iter().map(step).collect(),
                truncated: false,
                docs: None,
            },
            read: Read::Ids,
            lines: Lines::Unknown,
            strong: None,
            window: Window::New,
        }
    }

    fn line(paths: &[&[u8]]) -> Vec<Seen> {
        paths.iter().enumerate().map(|(at, paths)| seen(at, paths)).collect()
    }

    fn round(line: &mut [Seen]) -> Vec<(usize, Ask)> {
        let settings = crate::detect::defaults();
        for one in line.iter_mut() {
            one.window = Window::New;
        }
        asked(line, 0, &crate::detect::line_thresholds(&settings)).into_iter().collect()
    }

    #[test]
    fn one_look_in_two_tells_that_nothing_repeats() {
        let mut commits = line(&[&[1], &[2], &[3], &[4]]);
        assert_eq!(round(&mut commits[..1]), [], "alone");
        let looks = round(&mut commits);
        assert_eq!(looks, [1, 3].map(|at| (at, Ask::Glance(Some(at - 1)))));
        for at in [1, 3] {
            commits[at].read = Read::Differs { apart: true };
        }
        assert_eq!(round(&mut commits), []);
        commits[1].read = Read::Unclear;
        assert_eq!(round(&mut commits), [(0, Ask::Glance(None)), (2, Ask::Glance(Some(1)))]);
    }

    #[test]
    fn what_may_be_the_same_again_is_read() {
        let mut commits = line(&[&[1], &[1]]);
        commits[0].read = Read::Unclear;
        commits[1].read = Read::Differs { apart: false };
        assert_eq!(round(&mut commits), [(0, Ask::Hunks), (1, Ask::Hunks)]);
        let kept = (commits[0].lines.clone(), commits[1].lines.clone());
        commits[0].lines = Lines::Hunks(vec![HunkLines::of(b"a\n", b"b\n")]);
        commits[1].lines = Lines::Hunks(vec![HunkLines::of(b"a\n", b"c\n")]);
        assert_eq!(round(&mut commits), [], "other hunks");
        commits[1].lines = commits[0].lines.clone();
        commits[0].lines = Lines::Hunks(Vec::new());
        assert_eq!(round(&mut commits), [], "other hunks");
        commits[1].lines = Lines::Hunks(Vec::new());
        assert_eq!(round(&mut commits), [(0, Ask::Text), (1, Ask::Text)]);
        (commits[0].lines, commits[1].lines) = kept;
        for (commit, empty) in commits.iter_mut().zip([false, true]) {
            (commit.read, commit.diff.empty) = (Read::Whole, empty);
        }
        assert_eq!(round(&mut commits), []);
    }

    #[test]
    fn one_of_three_in_one_place_is_read_and_then_the_others() {
        let mut commits = line(&[&[1], &[1], &[1]]);
        for commit in &mut commits {
            commit.read = Read::Differs { apart: true };
        }
        assert_eq!(round(&mut commits), [(2, Ask::Strength)]);
        commits[2].strong = Some(true);
        assert_eq!(round(&mut commits), [], "it is work");
        commits[2].strong = Some(false);
        assert_eq!(round(&mut commits), [(1, Ask::Strength)]);
        for commit in &mut commits {
            commit.strong = Some(false);
        }
        assert_eq!(round(&mut commits), [0, 1, 2].map(|at| (at, Ask::Text)), "it may trip");
        commits[2].read = Read::Whole;
        assert_eq!(round(&mut commits), [], "it is work");
        commits[2].change.nature = Nature::Comments;
        commits[1].strong = None;
        assert_eq!(round(&mut commits), [(1, Ask::Strength)]);
    }

    fn hunks(one: &mut Seen, hunks: &[(&[u8], &[u8])]) {
        let hunks = hunks.iter().map(|(removed, added)| HunkLines::of(removed, added)).collect();
        (one.read, one.strong, one.lines) = (Read::Differs { apart: true }, Some(true), Lines::Hunks(hunks));
    }

    #[test]
    fn what_may_be_undone_is_asked_of_hunks_and_sketches() {
        let undo = |line: &mut [Seen]| -> Vec<(usize, Ask)> {
            let asked = round(line).into_iter();
            asked.filter(|(_, ask)| matches!(ask, Ask::Hunks | Ask::Sketch | Ask::Text)).collect()
        };
        let mut commits = line(&[&[1, 9], &[1, 2], &[3], &[2, 4]]);
        assert_eq!(undo(&mut commits), [(1, Ask::Sketch), (3, Ask::Hunks)]);
        hunks(&mut commits[3], &[(b"x\n", b"y\n")]);
        commits[1].lines = Lines::Sketch(Sketch::of(b"y\nz\n", b"z\n"));
        assert_eq!(undo(&mut commits), [], "nothing brought what it takes away");
        commits[1].lines = Lines::Sketch(Sketch::of(b"y\nz\n", b"z\nx\n"));
        assert_eq!(undo(&mut commits), [(1, Ask::Hunks)], "it may have");
        hunks(&mut commits[1], &[(b"y\nz\n", b"z\nx\n")]);
        assert_eq!(undo(&mut commits), [], "it has not");
        hunks(&mut commits[1], &[(b"y\n", b"x\n")]);
        assert_eq!(undo(&mut commits), [(0, Ask::Sketch)], "it has: does another one undo something?");
        commits[0].lines = Lines::Sketch(Sketch::of(b"x\n", b"y\n"));
        assert_eq!(undo(&mut commits), [(0, Ask::Hunks)]);
        hunks(&mut commits[0], &[(b"x\n", b"y\n")]);
        assert_eq!(undo(&mut commits), [0, 1, 2, 3].map(|at| (at, Ask::Text)), "two of four");
    }

    #[test]
    fn windows_beside_records_and_open_ends_are_read_whole() {
        let mut commits = line(&[&[1], &[2], &[3]]);
        commits[1].strike = Strike::Exempt;
        commits[2].open = true;
        let all = [(0, Ask::Text), (1, Ask::Documents), (2, Ask::Text)];
        assert_eq!(round(&mut commits), all);
        commits[2].open = false;
        commits[0].recorded = true;
        assert_eq!(round(&mut commits), all);
        commits[0].read = Read::Whole;
        assert_eq!(round(&mut commits), all[1..], "a record needs none");
    }
}
