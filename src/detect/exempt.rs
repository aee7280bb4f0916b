//! Commits that go back on purpose: reverts, relands, releases, deployments.
//!
//! In 130,286 commits of healthy repositories every A/B/A/B was one of these (docs/rules.md).

use crate::domain::facts::CommitKind;
use crate::history::Iteration;

/// Default patterns. "Release" alone is no pattern: "Release the lock" is work.
pub(super) const SUBJECTS: &[&str] = &[
    "Revert",
    "Reverted",
    "Re-revert",
    "Reapply \"",
    "Reland",
    "Re-land",
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

/// Empty commits that people make so that a build starts, or that are merges but for their parents.
pub(super) const BUILD_STARTS: &[&str] = &[
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
    // The first byte tells for nearly all patterns, and every rule asks about every commit of its window.
    let may = |pattern: &String| {
        pattern.bytes().next().is_some_and(|wanted| match wanted {
            b'#' => first.is_ascii_digit(),
            _ => first.eq_ignore_ascii_case(&wanted),
        })
    };
    patterns.iter().any(|pattern| may(pattern) && begins_with(subject, pattern))
}

/// Whether `subject` begins with `pattern`, letter case aside. `#` stands for digits, at least one. A
/// pattern that ends in a letter ends at the end of a word. An empty pattern matches nothing.
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
    fn subjects_are_matched_at_their_beginning() {
        let hits = [
            "Revert \"Add parser\"",
            "revert: add parser",
            "Reland \"Add parser\"",
            "Reapply \"Add parser\"",
            "Release 1.0",
            "release v2",
            "Bump version to 1.2.4",
            "v1.2.3",
            "V10.2",
            "1.2.3",
            "chore(release): 1.2.3",
            "[maven-release-plugin] prepare for next development iteration",
            "  Deploy to production",
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
