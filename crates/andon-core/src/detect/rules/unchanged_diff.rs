//! `unchanged-diff`: the loop makes the same change again, or none.

use std::collections::BTreeSet;

use crate::detect::excuses::{EMPTY_ON_PURPOSE, claims_no_work, excuse, is_pull_request, marks_a_release};
use crate::detect::prelude::*;
use crate::domain::{Hint, Nature};
use crate::history::{DocsProgress, Iteration, Strike, Timeline, come_slowly};

const REPEATS: Param<u64> = Param::count("repeats", 2, 1);
const COSMETIC: Param<u64> = Param::count("cosmetic", 5, 1);
const VARIED: Param<u64> = Param::count("varied", 8, 1);
const PATIENCE: Param<u64> = Param::count("patience", 12, 1);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About { counts: Nesting::Found, ..About::new(EventClass::Stall) },
    params: &[REPEATS.spec, COSMETIC.spec, VARIED.spec, PATIENCE.spec, EMPTY_ON_PURPOSE.spec],
    ..Rule::of_iterations("unchanged-diff", include_str!("unchanged_diff.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    // A forge or a release makes them, and no hook saw it.
    let is_made = |one: &Iteration| is_pull_request(one) || marks_a_release(one, timeline);
    let counts = |one: &&Iteration| !(one.diff.empty && !one.recording.is_by_hook() && is_made(one));
    let candidates: Vec<&Iteration> = timeline.candidates().filter(counts).collect();
    let repeating = repeating(&candidates);
    let repeats = words::len(repeating);
    let limit = setting.count(&REPEATS).max(1);
    if repeats < limit {
        return None;
    }
    let newest = repeating.last()?;
    let row =
        Row { timeline, setting, limit, says: says(timeline, repeating), slowly: come_slowly(repeating) };
    let patience = repeating.iter().map(|one| row.patience(one)).max_by_key(|it| (it.repeats, it.until))?;
    let waits = repeats < patience.repeats && !row.unexcused_are_enough(repeating);
    let ends = is_list(timeline, repeating) || is_sweep(repeating);
    let limits = [
        waits.then_some(Limit { most: patience.until, excuse: patience.excuse }),
        ends.then_some(Limit::note("the same at one place after another")),
    ];
    let mut evidence: Vec<Evidence> = repeating.iter().map(|one| Evidence::Diff(one.diff.hash)).collect();
    evidence.dedup();
    evidence.extend(repeating.iter().filter_map(|one| one.commit).map(Evidence::Commit));
    let help = newest
        .commit
        .map(|commit| Hint::LogNewest.with([&repeats.saturating_add(1).to_string(), &commit.short()]));
    let (files, help) = (Iteration::paths_of_all(repeating), help.into_iter().collect());
    let message = message(timeline, repeating, newest);
    let found = Finding { files, evidence, help, ..RULE.finding(setting.level, message) };
    Some(found.within(limits.into_iter().flatten()))
}

/// Returns whether the rule halts by its defaults.
pub(super) fn halts(situation: &Situation<'_>) -> bool {
    check(situation, &RULE.defaults()).is_some_and(|found| found.level == Level::Halt)
}

fn message(timeline: &Timeline, repeating: &[&Iteration], newest: &Iteration) -> String {
    let (iterations, diff) = (words::count(repeating.len(), "iteration"), newest.diff.hash.short());
    let empty = repeating.iter().filter(|one| one.diff.empty).count();
    if repeating.iter().all(|one| one.is_cosmetic()) {
        format!("{iterations} in a row changed only white space at line ends, or what normalization masks")
    } else if empty == repeating.len() {
        format!("{iterations} in a row changed nothing")
    } else if empty > 0 {
        format!(
            "{iterations} in a row repeated the change before them or changed nothing ({empty} changed nothing)"
        )
    } else {
        match passed_over(timeline, repeating) {
            0 => format!("{iterations} in a row made the same change as the one before (diff {diff})"),
            between => format!(
                "{iterations} made the same change again (diff {diff}), with {} in between (reverts, merges or picks)",
                words::count(between, "commit")
            ),
        }
    }
}

/// The repeats in a row that it takes with one iteration among them.
#[derive(Debug, Clone, Copy)]
struct Patience {
    repeats: u64,
    /// The highest level until then.
    until: Level,
    excuse: &'static str,
}

/// The iterations that repeat, and what their patience depends on.
struct Row<'a> {
    timeline: &'a Timeline,
    setting: &'a RuleSetting,
    limit: u64,
    says: SubjectPattern,
    slowly: bool,
}

impl Row<'_> {
    /// The patience with `one`, the subjects and the pace of the whole row considered.
    fn patience(&self, one: &Iteration) -> Patience {
        let own = self.own_patience(one);
        let most = self.setting.count(&PATIENCE);
        let at_least = |repeats: u64, excuse| {
            if repeats > own.repeats { Patience { repeats, excuse, ..own } } else { own }
        };
        match self.says {
            SubjectPattern::Doubles if one.diff.empty => Patience {
                repeats: self.limit.max(most),
                until: Level::Note,
                excuse: "doubles of earlier commits",
            },
            SubjectPattern::Varied if one.diff.empty && one.diff.files == 0 => {
                at_least(varied(one, self.setting), "empty commits that each say something else")
            }
            // A person waits for what each try sets off elsewhere.
            SubjectPattern::Varied | SubjectPattern::Again if self.slowly && one.is_cosmetic() => {
                at_least(most, "commits minutes apart")
            }
            SubjectPattern::Doubles | SubjectPattern::Varied | SubjectPattern::Again => own,
        }
    }

    /// The patience with `one` by itself.
    fn own_patience(&self, one: &Iteration) -> Patience {
        let (limit, setting) = (self.limit, self.setting);
        let longer = limit.max(setting.count(&PATIENCE));
        let meant = || excuse(RULE.id, one, self.timeline, setting).filter(|_| one.diff.empty);
        let warn = |repeats, excuse| Patience { repeats, until: Level::Warn, excuse };
        let note = |repeats, excuse| Patience { repeats, until: Level::Note, excuse };
        if one.is_cosmetic() {
            let admitted = if claims_no_work(one) { ADMITTED } else { 0 };
            let cosmetic = setting.count(&COSMETIC).saturating_add(admitted);
            warn(limit.max(cosmetic), "nothing left after normalization")
        } else if let Some(excuse) = meant() {
            note(longer, excuse)
        } else if brings_new_code(self.timeline, one) {
            note(longer, "the same lines at a new place")
        } else if is_document(one)
            && matches!(self.timeline.docs_progress(one), DocsProgress::NewText | DocsProgress::Ticked)
        {
            warn(longer, "a new text of a document")
        } else if is_chore(self.timeline, one) {
            warn(limit.saturating_add(1), "a chore of a program")
        } else {
            warn(unexcused(one, limit), "a history without hooks")
        }
    }

    /// Returns whether the newest iterations that nothing excuses are enough by themselves, whatever came before them.
    fn unexcused_are_enough(&self, repeating: &[&Iteration]) -> bool {
        let is_unexcused =
            |one: &&Iteration| self.patience(one).repeats <= unexcused(one, self.limit) && !is_document(one);
        let newest: Vec<&Iteration> = repeating.iter().rev().copied().take_while(is_unexcused).collect();
        let needed = newest.iter().map(|one| unexcused(one, self.limit)).max().unwrap_or(self.limit);
        words::len(&newest) >= needed
    }
}

/// The number of exempt commits between those of `repeating`, from the commit on that the first of them repeats.
fn passed_over(timeline: &Timeline, repeating: &[&Iteration]) -> u64 {
    let (Some(first), Some(last)) = (repeating.first(), repeating.last()) else { return 0 };
    let repeated = timeline.candidates().rev().find(|one| one.number < first.number);
    let row = repeated.map_or(first.number, |one| one.number)..last.number;
    let exempt = |one: &&Iteration| one.strike == Strike::Exempt && row.contains(&one.number);
    words::len(&timeline.iterations.iter().filter(exempt).collect::<Vec<_>>())
}

/// Returns whether the same lines go to one place after another, as in a list of features, until all are done: lines are
/// replaced one for one, which ends by itself, or tests newly pass. Where the places are unknown, it may be such a
/// series.
fn is_list(timeline: &Timeline, repeating: &[&Iteration]) -> bool {
    let placed = repeating.iter().all(|one| brings_new_code(timeline, one));
    let replaced = |one: &&Iteration| {
        one.change.is_none() || (one.diff.removed > 0 && one.diff.removed == one.diff.added)
    };
    let newly = |first: &&Iteration| gained_since(timeline, first.number) == Gain::NewlyPassing;
    placed && (repeating.iter().all(replaced) || repeating.first().is_some_and(newly))
}

/// Returns whether white space is put right in one part of the code after another, no file twice: that ends with the files.
fn is_sweep(repeating: &[&Iteration]) -> bool {
    let mut seen = BTreeSet::new();
    repeating.iter().all(|one| {
        let paths = one.change.iter().flat_map(|change| &change.paths);
        let mut new = paths.map(|step| seen.insert(step.path)).peekable();
        one.is_cosmetic() && new.peek().is_some() && new.all(|new| new)
    })
}

/// The empty commits in a row that it takes when each says something else. One that a hook saw was made in the loop.
fn varied(one: &Iteration, setting: &RuleSetting) -> u64 {
    let most = setting.count(&VARIED);
    if one.is_unobserved() { most } else { most.min(setting.count(&COSMETIC)) }
}

/// The pattern of the subjects of empty commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubjectPattern {
    /// Each is the double of another earlier commit.
    Doubles,
    /// Each says something else.
    Varied,
    /// The same is said again.
    Again,
}

/// Two branches held the same line of commits: once one is merged, those of the other are empty. Each is the double of
/// another commit. Markers of what was reached, properties that git does not keep and trials of a hook each say something
/// else. A loop says the same again, sooner or later.
fn says(timeline: &Timeline, repeating: &[&Iteration]) -> SubjectPattern {
    let earlier = timeline.iterations.iter().filter(|earlier| !earlier.diff.empty);
    let earlier: BTreeSet<&str> = earlier.map(|earlier| earlier.subject.as_str()).collect();
    let empty: Vec<&str> =
        repeating.iter().filter(|one| one.diff.empty).map(|one| one.subject.as_str()).collect();
    let subjects: BTreeSet<&str> = empty.iter().copied().collect();
    if subjects.len() != empty.len() || subjects.is_empty() {
        SubjectPattern::Again
    } else if subjects.iter().all(|it| !it.is_empty() && earlier.contains(it)) {
        SubjectPattern::Doubles
    } else {
        SubjectPattern::Varied
    }
}

/// Returns whether `one` brought a state of the code that the window had not seen: the same lines at another place, in a
/// program or in a file next to it. A log always grows.
fn brings_new_code(timeline: &Timeline, one: &Iteration) -> bool {
    // If the files of a commit are unknown, new code is all that is known of the place.
    let placed = one.change.as_ref().is_none_or(|change| match change.nature {
        Nature::Work | Nature::Space | Nature::Comments | Nature::Version | Nature::Weak => true,
        Nature::Docs | Nature::Log | Nature::Mode | Nature::Nothing | Nature::Ignored => false,
    });
    let earlier = timeline.iterations.iter().take_while(|earlier| !std::ptr::eq(*earlier, one));
    placed && !one.diff.empty && earlier.into_iter().all(|earlier| earlier.code != one.code)
}

/// So many more cosmetic changes it takes where they say that they are about white space, or say nothing.
const ADMITTED: u64 = 3;

/// Commits with a change that bear the subject of a chore.
const CHORE: usize = 2;

/// Returns whether an empty commit belongs to a chore that a program does during the work ("Update beads"): earlier commits of
/// the window have its subject and do change something.
fn is_chore(timeline: &Timeline, one: &Iteration) -> bool {
    let before = timeline.iterations.iter().filter(|earlier| earlier.number < one.number);
    // New timestamps of a tracker are a change here: a file was written.
    let alike = before.filter(|earlier| earlier.diff.files > 0 && earlier.subject == one.subject);
    one.diff.empty && !one.subject.is_empty() && alike.take(CHORE).count() == CHORE
}

fn is_document(one: &Iteration) -> bool {
    one.change.as_ref().is_some_and(|change| change.nature == Nature::Docs)
}

/// The repeats in a row that it takes where nothing excuses them: one more where no hook recorded the commits, because
/// people also come back to what they did.
fn unexcused(one: &Iteration, limit: u64) -> u64 {
    limit.saturating_add(u64::from(one.is_unobserved()))
}

/// The longest end of `candidates` in which each repeats.
fn repeating<'a, 'b>(candidates: &'b [&'a Iteration]) -> &'b [&'a Iteration] {
    let mut start = candidates.len();
    while start > 0 && repeats(candidates[start - 1], start.checked_sub(2).map(|before| candidates[before])) {
        start -= 1;
    }
    candidates.get(start..).unwrap_or_default()
}

/// Returns whether `one` changes nothing, or what the one `before` it changed, and both are by one author.
fn repeats(one: &Iteration, before: Option<&Iteration>) -> bool {
    let same = before.is_some_and(|before| before.diff.hash == one.diff.hash);
    (one.diff.empty || same) && !before.is_some_and(|before| one.is_by_another(before))
}

#[cfg(test)]
mod tests;
