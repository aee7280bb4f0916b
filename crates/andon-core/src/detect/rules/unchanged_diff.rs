//! `unchanged-diff`: the loop makes the same change again, or none.

use std::collections::BTreeSet;

use crate::detect::{
    exempt::{BUILD_STARTS, claims_no_work, is_meant_empty},
    gains::{self, Gain},
    prelude::*,
};
use crate::domain::change::Nature;
use crate::history::{DocsProgress, Iteration, Strike, Timeline, come_slowly};

pub(in crate::detect) const REPEATS: Param<u64> = Param::count(
    "repeats",
    2,
    1,
    "Consecutive iterations that repeat the diff before them or change nothing.",
);
pub(in crate::detect) const COSMETIC: Param<u64> = Param::count(
    "cosmetic",
    5,
    1,
    "Consecutive repeats, where normalization leaves nothing of some of them.",
);
pub(in crate::detect) const VARIED: Param<u64> =
    Param::count("varied", 8, 1, "Consecutive repeats, where empty commits each say something else.");
pub(in crate::detect) const PATIENCE: Param<u64> = Param::count(
    "patience",
    12,
    1,
    "Consecutive repeats, where some are meant, or bring a new state of the code or a document.",
);
pub(in crate::detect) const EXEMPT: Param<Vec<String>> = Param::list(
    "exempt",
    BUILD_STARTS,
    "Beginnings of subjects of empty commits made on purpose; `#` matches a number.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "unchanged-diff",
    summary: "the normalized diff repeats, or is empty, 2 iterations in a row",
    prose: include_str!("unchanged_diff.md"),
    level: Level::Halt,
    reason: HaltReason::Stalled,
    about: About { counts: Counts::Found, ..About::new(EventClass::Stall) },
    params: &[REPEATS.spec, COSMETIC.spec, VARIED.spec, PATIENCE.spec, EXEMPT.spec],
    check,
    ..Rule::OF_ITERATIONS
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let candidates: Vec<&Iteration> = timeline.candidates().collect();
    let repeating = repeating(&candidates);
    let repeats = words::len(repeating);
    let limit = setting.count(&REPEATS).max(1);
    if repeats < limit {
        return None;
    }
    let newest = repeating.last()?;
    let says = says(timeline, repeating);
    let slowly = come_slowly(repeating);
    let given = |one: &&Iteration| {
        let (own, level) = patience(timeline, one, setting);
        match says {
            SubjectPattern::Doubles if one.diff.empty => (limit.max(setting.count(&PATIENCE)), Level::Note),
            SubjectPattern::Varied if one.diff.empty && one.diff.files == 0 => {
                (own.max(varied(one, setting)), level)
            }
            // A person waits for what each try sets off elsewhere.
            SubjectPattern::Varied | SubjectPattern::Again if slowly && is_cosmetic(one) => {
                (own.max(setting.count(&PATIENCE)), level)
            }
            SubjectPattern::Doubles | SubjectPattern::Varied | SubjectPattern::Again => (own, level),
        }
    };
    let (patience, until) = repeating.iter().map(given).max()?;
    // What is given no time halts by itself, whatever came before it.
    let strict = |one: &&&Iteration| given(one).0 <= bare(one, limit) && !is_document(one);
    let strict: Vec<&&Iteration> = repeating.iter().rev().take_while(strict).collect();
    let enough = strict.iter().map(|one| bare(one, limit)).max().unwrap_or(limit);
    let waits = repeats < patience && words::len(&strict) < enough;
    let level = if waits { setting.level.min(until) } else { setting.level };
    let ends = is_list(timeline, repeating) || is_sweep(repeating);
    let level = if ends { level.min(Level::Note) } else { level };
    let empty = words::len(&repeating.iter().filter(|iteration| iteration.diff.empty).collect::<Vec<_>>());
    let cosmetic = repeating.iter().all(|one| is_cosmetic(one));
    let (iterations, diff) = (words::count(repeats, "iteration"), newest.diff.hash.short());
    let found = match (empty, passed_over(timeline, repeating)) {
        _ if cosmetic => {
            format!(
                "{iterations} in a row changed only white space at line ends, or what normalization masks"
            )
        }
        (0, 0) => format!("{iterations} in a row made the same change as the one before (diff {diff})"),
        (0, between) => format!(
            "{iterations} made the same change again (diff {diff}), with {} in between (reverts, merges or picks)",
            words::count(between, "commit")
        ),
        (empty, _) if empty == repeats => format!("{iterations} in a row changed nothing"),
        (empty, _) => format!(
            "{iterations} in a row repeated the change before them or changed nothing ({empty} changed nothing)"
        ),
    };
    let mut evidence: Vec<Evidence> = repeating.iter().map(|one| Evidence::Diff(one.diff.hash)).collect();
    evidence.dedup();
    evidence.extend(repeating.iter().filter_map(|one| one.commit).map(Evidence::Commit));
    let help =
        newest.commit.map(|commit| format!("git log -p -{} {}", repeats.saturating_add(1), commit.short()));
    let files = Iteration::paths_of_all(repeating);
    Some(Finding { files, evidence, help: help.into_iter().collect(), ..RULE.finding(level, found) })
}

/// How many commits that do not count lie between those of `repeating`, from the one on that the first of them repeats.
fn passed_over(timeline: &Timeline, repeating: &[&Iteration]) -> u64 {
    let (Some(first), Some(last)) = (repeating.first(), repeating.last()) else { return 0 };
    let repeated = timeline.candidates().rev().find(|one| one.number < first.number);
    let row = repeated.map_or(first.number, |one| one.number)..last.number;
    let exempt = |one: &&Iteration| one.strike == Strike::Exempt && row.contains(&one.number);
    words::len(&timeline.iterations.iter().filter(exempt).collect::<Vec<_>>())
}

/// Whether the same lines go to one place after another, as in a list of features, until all are done: lines are
/// replaced one for one, which ends by itself, or tests newly pass. Where the places are unknown, it may be such a
/// series.
fn is_list(timeline: &Timeline, repeating: &[&Iteration]) -> bool {
    let placed = repeating.iter().all(|one| brings_new_code(timeline, one));
    let replaced = |one: &&Iteration| {
        one.change.is_none() || (one.diff.removed > 0 && one.diff.removed == one.diff.added)
    };
    let newly = |first: &&Iteration| gains::since(timeline, first.number) == Gain::NewlyPassing;
    placed && (repeating.iter().all(replaced) || repeating.first().is_some_and(newly))
}

/// Whether white space is put right in one part of the code after another, no file twice: that ends with the files.
fn is_sweep(repeating: &[&Iteration]) -> bool {
    let mut seen = BTreeSet::new();
    repeating.iter().all(|one| {
        let paths = one.change.iter().flat_map(|change| &change.paths);
        let mut new = paths.map(|step| seen.insert(step.path)).peekable();
        is_cosmetic(one) && new.peek().is_some() && new.all(|new| new)
    })
}

/// How many empty commits in a row it takes when each says something else. One that a hook saw was made in the loop.
fn varied(one: &Iteration, setting: &RuleSetting) -> u64 {
    let most = setting.count(&VARIED);
    if one.is_unobserved() { most } else { most.min(setting.count(&COSMETIC)) }
}

/// What the subjects of empty commits say.
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

/// Whether `one` brought a state of the code that the window had not seen: the same lines at another place, in a
/// program or in a file next to it. A log always grows.
fn brings_new_code(timeline: &Timeline, one: &Iteration) -> bool {
    // Where the files of a commit are unknown, new code is all that is known of the place.
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

/// Whether an empty commit belongs to a chore that a program does during the work ("Update beads"): earlier commits of
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

/// How many repeats in a row it takes where nothing excuses them: one more where no hook recorded the commits, because
/// people also come back to what they did.
fn bare(one: &Iteration, limit: u64) -> u64 {
    limit.saturating_add(u64::from(one.is_unobserved()))
}

/// A change that is empty after normalization.
fn is_cosmetic(one: &Iteration) -> bool {
    one.diff.empty && one.diff.files > 0
}

/// How many iterations in a row it takes when `one` is among them, and what is said until then.
fn patience(timeline: &Timeline, one: &Iteration, setting: &RuleSetting) -> (u64, Level) {
    let document = match timeline.docs_progress(one) {
        DocsProgress::NewText | DocsProgress::Ticked => is_document(one),
        DocsProgress::None | DocsProgress::Back => false,
    };
    let limit = setting.count(&REPEATS).max(1);
    let longer = limit.max(setting.count(&PATIENCE));
    if is_cosmetic(one) {
        let admitted = if claims_no_work(one) { ADMITTED } else { 0 };
        (limit.max(setting.count(&COSMETIC).saturating_add(admitted)), Level::Warn)
    } else if (one.diff.empty && is_meant_empty(one, timeline, setting.list(&EXEMPT)))
        || brings_new_code(timeline, one)
    {
        (longer, Level::Note)
    } else if document {
        (longer, Level::Warn)
    } else if is_chore(timeline, one) {
        (limit.saturating_add(1), Level::Warn)
    } else {
        (bare(one, limit), Level::Warn)
    }
}

/// The longest end of `candidates` in which each repeats.
fn repeating<'a, 'b>(candidates: &'b [&'a Iteration]) -> &'b [&'a Iteration] {
    let repeats = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| candidates.get(before));
        candidates.get(at).is_some_and(|one| {
            let same = |before: &&&Iteration| before.diff.hash == one.diff.hash;
            (one.diff.empty || before.as_ref().is_some_and(same))
                && !before.is_some_and(|it| one.is_by_another(it))
        })
    };
    let mut start = candidates.len();
    while start > 0 && repeats(start - 1) {
        start -= 1;
    }
    candidates.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
