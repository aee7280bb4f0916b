//! Commits that go back on purpose: reverts, relands, releases, deployments.
//!
//! In 130,286 commits of healthy repositories every A/B/A/B was one of these (docs/rules.md).

use crate::{WordList, words};
use std::collections::BTreeSet;

use super::releases::names_version;
use crate::domain::facts::CommitKind;
use crate::history::{Iteration, Source, Timeline};

/// Default patterns. "Release" alone is no pattern: "Release the lock" is work.
pub(super) const SUBJECTS: WordList = words![
    "Revert",
    "Reverted",
    "Re-revert",
    "Reapply \"",
    "Reland",
    "Re-land",
    "Rollback",
    "Roll back",
    "Restored to '",
    "Back out",
    "Backs out",
    "Backed out",
    "Undo \"",
    "Re-add",
    "Release #",
    "Release v#",
    "Release version",
    "Release candidate",
    "chore(release)",
    "chore: release",
    "Bump version",
    "Prepare release",
    "Prepare for next",
    "[maven-release-plugin]",
    "Deploy",
    "v#.#",
    "#.#.#",
];

/// Whether `iteration` goes back on purpose: by its kind, or by a subject that begins with a pattern.
pub(super) fn goes_back_on_purpose(iteration: &Iteration, patterns: &[String]) -> bool {
    match iteration.kind {
        CommitKind::Revert => true,
        CommitKind::Normal
        | CommitKind::Amend
        | CommitKind::Merge
        | CommitKind::CherryPick
        | CommitKind::Rebase => begins_as(iteration, patterns),
    }
}

/// Whether a forge merged a pull request into `iteration`: `Title (#123)`.
pub(super) fn is_pull_request(iteration: &Iteration) -> bool {
    let inside = iteration.subject.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once("(#"));
    inside.is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether an empty commit was made on purpose: its subject begins with a pattern, a forge merged it, it marks a release,
/// it starts a build, or it set a property of Subversion, which a mirror in git does not have. Identical empty commits are
/// no series of releases: each of those names another version.
pub(super) fn is_meant_empty(iteration: &Iteration, timeline: &Timeline, patterns: &[String]) -> bool {
    let subject = &iteration.subject;
    let is_again =
        |other: &Iteration| other.number != iteration.number && other.diff.empty && other.subject == *subject;
    begins_as(iteration, patterns)
        || is_pull_request(iteration)
        || (names_version(subject) && !timeline.iterations.iter().any(is_again))
        || starts_a_build(subject)
        || names_a_property(subject)
}

/// Whether a subject names a property of Subversion: `svn:eol-style=native`, "Remove svn:keywords from ...".
fn names_a_property(subject: &str) -> bool {
    subject.split(|c: char| !c.is_alphanumeric() && c != ':').any(|word| {
        word.strip_prefix("svn:").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    })
}

/// What is done to a build so that it starts.
const STARTING: WordList = words![
    "bump",
    "force",
    "kick",
    "nudge",
    "ping",
    "poke",
    "redo",
    "rerun",
    "restart",
    "retrigger",
    "retry",
    "run",
    "touch",
    "trigger",
    "wake",
];

/// What a subject begins with that tries out what is started: elsewhere in it these words tell of work.
const TRYING: WordList = words!["check", "test", "testing", "try", "trying"];

/// What is started.
const STARTED: WordList = words![
    "actions",
    "build",
    "builds",
    "checks",
    "ci",
    "deploy",
    "deployment",
    "jenkins",
    "job",
    "jobs",
    "pipeline",
    "pipelines",
    "rebuild",
    "travis",
    "workflow",
    "workflows",
];

/// Words that say both.
const STARTS: WordList = words!["rebuild", "recheck", "redeploy", "retest", "retrigger"];

/// Words of a subject that is about nothing else.
const FEW: usize = 6;

/// Whether a short subject is about starting a build ("Ping CI", "chore: kick off build", "redeploy", "test CI"), or
/// names nothing but what is started ("ci", "Deploy").
fn starts_a_build(subject: &str) -> bool {
    let subject = subject.to_lowercase();
    let words: Vec<&str> =
        subject.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let any = |known: WordList| words.iter().any(|word| known.contains(word));
    let tries = words.first().is_some_and(|first| TRYING.contains(first));
    let names_it = !words.is_empty() && words.iter().all(|word| STARTED.contains(word));
    words.len() <= FEW && (any(STARTS) || ((any(STARTING) || tries) && any(STARTED)) || names_it)
}

/// Whether each of `iterations` is a commit that says something else.
pub(super) fn each_says_something_else<'a>(iterations: impl Iterator<Item = &'a Iteration>) -> bool {
    let mut said: BTreeSet<&str> = BTreeSet::new();
    let mut all = iterations.map(|one| one.source == Source::Commit && said.insert(one.subject.trim()));
    all.all(|new| new)
}

/// Words of subjects that say that only the looks of the code change.
const STYLE: WordList = words![
    "space",
    "spaces",
    "spacing",
    "whitespace",
    "whitespaces",
    "blank",
    "newline",
    "newlines",
    "line",
    "lines",
    "endl",
    "eol",
    "indent",
    "indents",
    "indentation",
    "indenting",
    "format",
    "formatting",
    "formatter",
    "formatted",
    "style",
    "styling",
    "styleci",
    "lint",
    "linting",
    "linter",
    "fmt",
    "tidy",
    "cosmetic",
    "cosmetics",
];

/// Whether a subject claims no work: it is about white space or style, or there is no word in it.
pub(super) fn claims_no_work(iteration: &Iteration) -> bool {
    let subject = iteration.subject.to_lowercase();
    let mut words = subject.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next();
    first.is_none_or(|first| STYLE.contains(first) || words.any(|word| STYLE.contains(word)))
}

/// Empty commits that people make so that a build starts, or that are merges but for their parents.
pub(super) const BUILD_STARTS: WordList = words![
    "Empty commit",
    "Empty",
    "Trigger",
    "Retrigger",
    "Re-trigger",
    "Rerun",
    "Re-run",
    "Kick",
    "Poke",
    "Nudge",
    "Restart",
    "Bump CI",
    "[ci]",
    "ci:",
    "chore(ci)",
    "chore: empty",
    "chore: trigger",
    "Merge pull request",
    "Merge branch",
];

/// Whether the subject of `iteration` begins with a pattern.
pub(super) fn begins_as(iteration: &Iteration, patterns: &[String]) -> bool {
    let subject = iteration.subject.trim_start();
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

/// Whether `subject` begins with `pattern`, letter case aside. `#` matches one or more digits. A pattern that ends in a
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

#[cfg(test)]
mod tests {
    use super::*;

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
        for subject in hits {
            assert!(SUBJECTS.iter().any(|pattern| begins_with(subject, pattern)), "{subject}");
        }
        for subject in misses {
            assert!(!SUBJECTS.iter().any(|pattern| begins_with(subject, pattern)), "{subject}");
        }
        assert!(!begins_with("anything", ""));
    }
}
