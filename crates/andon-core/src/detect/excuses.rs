//! Excuses: why a commit is not held against the loop, and which rules honour that.
//!
//! In 130,286 commits of healthy repositories every A/B/A/B was a revert, a reland, a release or a deployment
//! (docs/rules.md). A finding that an excuse lessens names it ([`Limit`]).
//!
//! [`Limit`]: crate::domain::Limit
//!
//! Switches: one line of one file that goes there and back, such as a status, a flag or a version. People and programs
//! set it on purpose during other work, and its old value says little about that work.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Serialize;

use crate::WordList;
use crate::domain::{CommitKind, Param, RuleSetting};
use crate::history::{CodeState, Iteration, Source, Timeline, are_by_the_clock, subjects::versions};

/// Commits that go back on purpose. "Release" alone is no pattern: "Release the lock" is work.
pub(super) const GOING_BACK: Param<Vec<String>> =
    Param::list("exempt", WordList(include_str!("word_lists/going_back.txt")));
/// Empty commits that people make so that a build starts, or that are merges but for their parents.
pub(super) const EMPTY_ON_PURPOSE: Param<Vec<String>> =
    Param::list("exempt", WordList(include_str!("word_lists/build_starts.txt")));

/// The condition of an excuse, by the parameters of the rule that asks.
type Holds = fn(&Iteration, &Timeline, &RuleSetting) -> bool;

/// The excuses of single commits, by their names: the first that holds is the one that a finding names.
const EXCUSES: [(&str, Holds); 8] = [
    ("a revert", |one, _, _| one.kind == CommitKind::Revert),
    ("a subject of `exempt`", |one, _, setting| begins_as(one, setting.list(&GOING_BACK))),
    ("a step of a release", |one, timeline, _| is_release_step(one, timeline)),
    ("a version in the subject", |one, _, _| one.names_version),
    ("a merged pull request", |one, _, _| is_pull_request(one)),
    ("the one empty commit of a release", |one, timeline, _| marks_a_release(one, timeline)),
    ("a build to start", |one, _, _| starts_a_build(&one.subject)),
    ("a property of Subversion", |one, _, _| names_a_property(&one.subject)),
];

/// The same by rule: every rule asks at every commit of its window.
static HONOURED: LazyLock<BTreeMap<&str, Vec<(&str, Holds)>>> = LazyLock::new(|| {
    let mut by_rule: BTreeMap<&str, Vec<(&str, Holds)>> = BTreeMap::new();
    for (excuse, holds) in EXCUSES {
        let row = rows().find(|(name, _, _)| *name == excuse);
        let rules = row.into_iter().flat_map(|(_, rules, _)| rules.split(' '));
        rules.for_each(|rule| by_rule.entry(rule).or_default().push((excuse, holds)));
    }
    by_rule
});

/// Each excuse with the rules that honour it by themselves and its meaning.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    WordList(include_str!("excuses.txt")).iter().filter_map(|row| {
        let (name, rest) = row.split_once(" | ")?;
        rest.split_once("| ").map(|(rules, meaning)| (name, rules.trim_end(), meaning))
    })
}

/// An excuse as people read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExcuseText {
    /// The name in the evidence of a finding.
    pub name: &'static str,
    /// The condition under which it holds.
    pub meaning: &'static str,
}

/// The excuses that the rule of that id honours, and those called `besides`.
pub(super) fn honoured_by(rule: &str, besides: Vec<&'static str>) -> impl Iterator<Item = ExcuseText> {
    let honours =
        move |name: &str, rules: &str| rules.split(' ').any(|id| id == rule) || besides.contains(&name);
    let all = rows().filter(move |(name, rules, _)| honours(name, rules));
    all.map(|(name, _, meaning)| ExcuseText { name, meaning })
}

/// The excuse of commits that a program makes by the clock.
pub(super) const BY_THE_CLOCK: &str = "a program that commits by the clock";

/// The excuses of work that goes well, whatever else it looks like: what [`progress`](super::attempts::progress) finds.
pub(super) const PROGRESS: [&str; 4] = [FEWER_FAIL, NEWLY_PASS, TICKED, WRITTEN];
pub(super) const FEWER_FAIL: &str = "failing tests that fall in number";
pub(super) const NEWLY_PASS: &str = "tests that newly pass";
pub(super) const TICKED: &str = "items that are ticked off";
pub(super) const WRITTEN: &str = "documents of a node without edits";

/// The first excuse for `one` that the rule of that id honours.
pub(super) fn excuse(
    rule: &str,
    one: &Iteration,
    timeline: &Timeline,
    setting: &RuleSetting,
) -> Option<&'static str> {
    let mut excuses = HONOURED.get(rule)?.iter();
    excuses.find(|(_, holds)| holds(one, timeline, setting)).map(|(name, _)| *name)
}

/// The excuse of a pull request that lands again after `before`, which went back on purpose.
pub(super) const LANDS_AGAIN: &str = "a pull request that lands again after its revert";

/// Commits of a program in a row that make it one.
const RUNS: usize = 4;

/// Returns whether a program made the newest commits by the clock, such as data that it fetches: that is no work of a loop.
pub(super) fn is_by_the_clock(timeline: &Timeline) -> bool {
    let mut row: Vec<&Iteration> = timeline.candidates().rev().take(RUNS).collect();
    row.reverse();
    let is_newest = row.last().copied() == timeline.newest();
    is_newest && row.len() == RUNS && are_by_the_clock(&row)
}

/// Returns whether a forge merged a pull request into `iteration`: `Title (#123)`.
pub(super) fn is_pull_request(iteration: &Iteration) -> bool {
    let inside = iteration.subject.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once("(#"));
    inside.is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether an empty commit marks a release. Identical empty commits are no series of releases: each of those names another
/// version.
pub(super) fn marks_a_release(iteration: &Iteration, timeline: &Timeline) -> bool {
    let subject = &iteration.subject;
    let is_again =
        |other: &Iteration| other.number != iteration.number && other.diff.empty && other.subject == *subject;
    iteration.names_version && !timeline.iterations.iter().any(is_again)
}

/// Returns whether a subject names a property of Subversion, which a mirror in git does not have: `svn:eol-style=native`,
/// "Remove svn:keywords from ...".
fn names_a_property(subject: &str) -> bool {
    subject.split(|c: char| !c.is_alphanumeric() && c != ':').any(|word| {
        word.strip_prefix("svn:").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    })
}

/// Verbs for what is done to a build so that it starts.
const STARTING: &str =
    "bump force kick nudge ping poke redo rerun restart retrigger retry run touch trigger wake";
/// First words of a subject that tries out what is started: elsewhere in it these words tell of work.
const TRYING: &str = "check test testing try trying";
/// Names of what is started.
const STARTED: &str = "actions build builds checks ci deploy deployment jenkins job jobs pipeline pipelines rebuild travis workflow workflows";
/// Words that say both.
const STARTS: &str = "rebuild recheck redeploy retest retrigger";
/// Most words of a subject that is about nothing else.
const FEW: usize = 6;

fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns whether a short subject is about starting a build ("Ping CI", "chore: kick off build", "redeploy", "test CI"), or
/// names nothing but what is started ("ci", "Deploy").
fn starts_a_build(subject: &str) -> bool {
    let subject = subject.to_lowercase();
    let words: Vec<&str> =
        subject.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let any = |known: &str| words.iter().any(|word| has(known, word));
    let tries = words.first().is_some_and(|first| has(TRYING, first));
    let names_it = !words.is_empty() && words.iter().all(|word| has(STARTED, word));
    words.len() <= FEW && (any(STARTS) || ((any(STARTING) || tries) && any(STARTED)) || names_it)
}

/// Words of subjects that say that only the looks of the code change.
const STYLE: &str = "space spaces spacing whitespace whitespaces blank newline newlines line lines endl eol indent indents indentation indenting format formatting formatter formatted style styling styleci lint linting linter fmt tidy cosmetic cosmetics";

/// Returns whether a subject claims no work: it is about white space or style, or there is no word in it.
pub(super) fn claims_no_work(iteration: &Iteration) -> bool {
    let subject = iteration.subject.to_lowercase();
    let mut words = subject.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next();
    first.is_none_or(|first| has(STYLE, first) || words.any(|word| has(STYLE, word)))
}

/// Longest prefix of a subject that is passed over, in bytes: `fix(build): `, `Assistant checkpoint: `.
const MAX_PREFIX: usize = 40;

/// Returns whether the subject of `iteration`, or what follows its prefix, begins with a pattern.
pub(super) fn begins_as(iteration: &Iteration, patterns: &[String]) -> bool {
    let subject = iteration.subject.trim_start();
    let behind = subject.split_once(':').filter(|(prefix, _)| prefix.len() <= MAX_PREFIX);
    begins_with_any(subject, patterns)
        || behind.is_some_and(|(_, rest)| begins_with_any(rest.trim_start(), patterns))
}

fn begins_with_any(subject: &str, patterns: &[String]) -> bool {
    let first = subject.bytes().next().unwrap_or_default();
    // The first byte decides for nearly all patterns, and every rule checks every commit of its window.
    let may = |pattern: &String| {
        pattern.bytes().next().is_some_and(|wanted| match wanted {
            b'#' => first.is_ascii_digit(),
            _ => first.eq_ignore_ascii_case(&wanted),
        })
    };
    patterns.iter().any(|pattern| may(pattern) && begins_with(subject, pattern))
}

/// Returns whether `subject` begins with `pattern`, letter case aside. `#` matches one or more digits. A pattern that ends in a
/// letter ends at the end of a word. An empty pattern matches nothing.
pub(super) fn begins_with(subject: &str, pattern: &str) -> bool {
    let mut rest = subject.trim_start().chars().peekable();
    for wanted in pattern.chars() {
        if wanted == '#' {
            if rest.next_if(char::is_ascii_digit).is_none() {
                return false;
            }
            while rest.next_if(char::is_ascii_digit).is_some() {}
        } else if rest.next_if(|found| found.eq_ignore_ascii_case(&wanted)).is_none() {
            return false;
        }
    }
    let Some(last) = pattern.chars().last() else { return false };
    !(last.is_alphabetic() && rest.peek().is_some_and(|next| next.is_alphanumeric()))
}

/// Returns whether `iteration` is a step of a release: its words were said of another version before ("Prepare before 1.2 release",
/// "Prepare before 1.3 release"), or of another package; or its subject followed such a step before ("Back to
/// development").
pub(super) fn is_release_step(iteration: &Iteration, timeline: &Timeline) -> bool {
    let at = timeline.iterations.partition_point(|one| one.number < iteration.number);
    let earlier = timeline.iterations.get(..at).unwrap_or_default();
    if iteration.names_version {
        return earlier.iter().any(|one| is_said_again(one, iteration));
    }
    let Some(step) = earlier.last().filter(|step| step.names_version) else { return false };
    let follows = |pair: &[Iteration]| pair[1].subject == iteration.subject && is_said_again(&pair[0], step);
    earlier.windows(2).any(follows)
}

/// Returns whether two subjects say the same of two versions, of one package or of two.
fn is_said_again(before: &Iteration, now: &Iteration) -> bool {
    if !before.names_version || before.subject == now.subject {
        return false;
    }
    let (before, now) = (&before.subject, &now.subject);
    // The first word tells most subjects apart.
    let without_name = || nameless(before).is_some_and(|words| nameless(now) == Some(words));
    said(before).next() == said(now).next() && (said(before).eq(said(now)) || without_name())
}

/// The words of a subject with each version in it taken out.
fn said(subject: &str) -> impl Iterator<Item = String> {
    let word =
        |(word, is_version): (&str, bool)| if is_version { "#".to_owned() } else { word.to_lowercase() };
    versions(subject).map(word)
}

/// The same without the name of what has the version; `None` where little else is left.
fn nameless(subject: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = said(subject).collect();
    let at = words.iter().position(|word| word == "#").filter(|at| *at > 1)?;
    words.remove(at - 1);
    Some(words)
}

/// Returns whether a commit changed one line in one file, or put an empty file there or took it away.
pub(super) fn is_one_line(one: &Iteration) -> bool {
    let path = one.change.as_ref().filter(|change| !change.truncated).map(|change| change.paths.as_slice());
    let Some([step]) = path else { return false };
    let (added, removed) = (one.diff.added, one.diff.removed);
    // A mode alone is no line.
    let something = added > 0 || removed > 0 || !step.stays();
    something && one.source == Source::Commit && added <= 1 && removed <= 1
}

/// Returns whether the state at index `at` is the one before the last, and one line is the whole difference: where one of two
/// commits that undo each other changed a line, the other did too, whatever documents it also wrote.
pub(super) fn flips(states: &[CodeState<'_>], at: usize) -> bool {
    let before = |steps: usize| at.checked_sub(steps).and_then(|at| states.get(at));
    let (Some(first), Some(left), Some(this)) = (before(2), before(1), states.get(at)) else { return false };
    first.code == this.code && (is_one_line(left.brought_by) || is_one_line(this.brought_by))
}

/// Returns whether a file that was changed by `toggles` holds a switch: in a third of them or more that line was all that changed.
pub(super) fn is_switch(toggles: &[&Iteration]) -> bool {
    let lines = toggles.iter().filter(|one| is_one_line(one)).count();
    lines > 0 && lines * 3 >= toggles.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::history::subjects::names_version;
    use crate::testkit::{commit, timeline};

    #[test]
    fn the_table_names_rules_and_its_word_lists_are_whole() {
        let named = rows().flat_map(|(_, rules, _)| rules.split_terminator(' '));
        for id in named {
            assert!(crate::detect::rule(id).is_some(), "{id}");
        }
        let texts: BTreeSet<&str> =
            crate::detect::REGISTRY.iter().flat_map(|rule| rule.excuses()).map(|text| text.name).collect();
        assert!(rows().all(|(name, _, _)| texts.contains(name)), "{texts:?}: each is honoured by a rule");
        assert_eq!(rows().count(), texts.len(), "no excuse comes twice");
        assert!(EXCUSES.iter().all(|(name, _)| texts.contains(name)));
        let lists = [
            include_str!("word_lists/going_back.txt"),
            include_str!("word_lists/build_starts.txt"),
            include_str!("word_lists/repairs.txt"),
            include_str!("word_lists/reverts.txt"),
            include_str!("word_lists/tests.txt"),
            include_str!("word_lists/skips.txt"),
            include_str!("word_lists/assertions.txt"),
        ];
        for list in lists {
            let words: Vec<&str> = WordList(list).iter().collect();
            let unique: BTreeSet<&&str> = words.iter().collect();
            assert!(unique.len() == words.len() && !words.contains(&""), "{words:?}");
        }
        // White space at the end of a word counts: an editor must not take it away.
        assert!(WordList(lists[4]).contains("rb: it ") && WordList(lists[6]).contains("bats: [ "));
    }

    #[test]
    fn each_rule_honours_its_excuses() {
        let settings = crate::detect::defaults();
        let history =
            timeline(vec![commit(1), commit(2).subject("Revert \"x\""), commit(3).subject("Merge it (#3)")]);
        let asked = |rule: &str, at: usize| excuse(rule, &history.iterations[at], &history, &settings[rule]);
        assert_eq!(asked("undo-churn", 0), None);
        assert_eq!(asked("undo-churn", 1), Some("a subject of `exempt`"));
        assert_eq!(asked("undo-churn", 2), None);
        assert_eq!(asked("rework", 2), Some("a merged pull request"));
        assert_eq!(asked("unchanged-diff", 1), None);
        assert_eq!(asked("unchanged-diff", 2), Some("a merged pull request"));
    }

    #[test]
    fn builds_are_started_in_many_words() {
        for subject in [
            "build: bump ci",
            "Ping CI",
            "Force rebuild",
            "redeploy",
            "chore: kick off build",
            "retest",
            "ci",
            "CI",
            "CI build",
            "Deploy",
            "test CI",
            "Try the pipeline again",
            "wake up CI",
        ] {
            assert!(starts_a_build(subject), "{subject}");
        }
        for subject in [
            "Fix the build",
            "Fix CI test",
            "Test the parser",
            "Retry",
            "Wait",
            "Add retry to the parser",
            "",
            "Run it",
        ] {
            assert!(!starts_a_build(subject), "{subject}");
        }
    }

    #[test]
    fn subjects_are_matched_at_their_beginning() {
        let hits = [
            "Revert \"Add parser\"",
            "revert: add parser",
            "Reland \"Add parser\"",
            "Reapply \"Add parser\"",
            "Rollback patchwork.",
            "Release 1.0",
            "release v2",
            "Bump version to 1.2.4",
            "v1.2.3",
            "V10.2",
            "1.2.3",
            "chore(release): 1.2.3",
            "[maven-release-plugin] prepare for next development iteration",
            "  Deploy to production",
            "Back out \"Add a read cache (#2)\" (#3)",
            "Backed out changeset 4be1ce",
            "Undo \"Add a read cache\" (#3)",
        ];
        let misses = [
            "",
            "Reverting is not a revert",
            "Release the lock before returning",
            "Relanding",
            "Fix Revert \"x\"",
            "version 1",
            "v1",
            "1.2 times faster",
            "Deployment docs",
            "é",
        ];
        let going_back = WordList(include_str!("word_lists/going_back.txt"));
        for subject in hits {
            assert!(going_back.iter().any(|pattern| begins_with(subject, pattern)), "{subject}");
        }
        for subject in misses {
            assert!(!going_back.iter().any(|pattern| begins_with(subject, pattern)), "{subject}");
        }
        assert!(!begins_with("anything", ""));
    }

    #[test]
    fn versions_are_known_by_their_form() {
        for subject in [
            "Release 1.2",
            "parser v1.4.0",
            "@scope/pkg@2.0.1",
            "Prepare before 1.3-rc1 release",
            "Get ready for v7",
            "Freeze for milestone 7",
            "Pins for 2026-09",
        ] {
            assert!(names_version(subject), "{subject}");
        }
        for subject in
            ["Attempt 3", "Fix src/a.rs", "Wait 1 s.", "See e.g. that", "", "Release the lock", "vim 12-3"]
        {
            assert!(!names_version(subject), "{subject}");
        }
        let again = |now: &str| {
            let history =
                timeline(vec![commit(1).subject("Prepare before 1.2 release"), commit(2).subject(now)]);
            is_said_again(&history.iterations[0], &history.iterations[1])
        };
        assert!(again("prepare before v1.3.0 release") && !again("Clean up after 1.2 release"));
    }

    #[test]
    fn what_was_said_of_one_version_is_a_step_of_the_next() {
        let steps = |subjects: &[&str]| {
            let made = (1..).zip(subjects).map(|(state, subject)| commit(state).subject(subject)).collect();
            let history = timeline(made);
            history.iterations.iter().map(|one| is_release_step(one, &history)).collect::<Vec<bool>>()
        };
        let pair = ["Get ready for v7", "Tidy up after v7", "Get ready for v8", "Tidy up after v8"];
        assert_eq!(steps(&pair), [false, false, true, true]);
        let packages = [
            "Pin all before core 1.2.0",
            "Unpin after core 1.2.0",
            "Pin all before cli 0.4.1",
            "Unpin after cli 0.4.1",
        ];
        assert_eq!(steps(&packages), [false, false, true, true]);
        let unnumbered =
            ["Set flags for 1.0.0", "Back to development", "Set flags for 1.1.0", "Back to development"];
        assert_eq!(steps(&unnumbered), [false, false, true, true]);
        assert_eq!(steps(&["Fix it", "Try again", "Fix it", "Try again"]), [false; 4]);
        assert_eq!(steps(&["Fix 1.2", "Fix 1.2", "Drop 1.3", "Back"]), [false; 4]);
    }
}

#[cfg(test)]
mod switches_tests {
    use super::*;
    use crate::domain::Nature;
    use crate::testkit::{Commit, commit, timeline};

    fn line(state: u8) -> Commit {
        commit(state).change(Nature::Work, &[(1, 1, 2)])
    }

    #[test]
    fn a_line_of_one_file_is_a_switch() {
        let with_document = commit(1).change(Nature::Work, &[(1, 1, 2), (2, 3, 4)]).lines(29, 31);
        let longer = commit(2).change(Nature::Work, &[(1, 1, 2)]).lines(2, 1);
        let mode = line(4).lines(0, 0);
        let file = commit(5).change(Nature::Work, &[(1, 0, 2)]).lines(0, 0);
        let history = timeline(vec![line(3), with_document.clone(), longer, commit(9), mode, file]);
        let found: Vec<bool> = history.iterations.iter().map(is_one_line).collect();
        assert_eq!(found, [true, false, false, false, false, true], "the fourth is not known");
        let flipping = |commits: Vec<Commit>| {
            let history = timeline(commits);
            let states = history.states();
            (0..states.len()).map(|at| flips(&states, at)).collect::<Vec<_>>()
        };
        assert_eq!(flipping(vec![line(1), line(2), line(1)]), [false, false, true]);
        assert_eq!(flipping(vec![line(1), line(2), with_document.clone()]), [false, false, true]);
        assert_eq!(flipping(vec![commit(1), commit(2), commit(1)]), [false, false, false]);
        assert_eq!(flipping(vec![line(1), line(2), line(3)]), [false, false, false]);
        let of = |commits: Vec<Commit>| is_switch(&timeline(commits).iterations.iter().collect::<Vec<_>>());
        assert!(of(vec![line(1), with_document.clone(), with_document.clone()]));
        assert!(!of(vec![with_document.clone(), with_document]));
    }
}
