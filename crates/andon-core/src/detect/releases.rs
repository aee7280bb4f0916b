//! Steps of a release, recognised by the words of the history itself: its subjects repeat from one version to the next.

use crate::history::{Iteration, Timeline};

/// Whether `iteration` is a step of a release: its words were said of another version before ("Prepare before 1.2 release",
/// "Prepare before 1.3 release"), or of another package; or its subject followed such a step before ("Back to
/// development").
pub(super) fn is_release_step(iteration: &Iteration, timeline: &Timeline) -> bool {
    let at = timeline.iterations.partition_point(|one| one.number < iteration.number);
    let earlier = timeline.iterations.get(..at).unwrap_or_default();
    if names_version(&iteration.subject) {
        return earlier.iter().any(|one| is_said_again(&one.subject, &iteration.subject));
    }
    let Some(step) = earlier.last().filter(|step| names_version(&step.subject)) else { return false };
    let follows = |pair: &[Iteration]| {
        pair[1].subject == iteration.subject && is_said_again(&pair[0].subject, &step.subject)
    };
    earlier.windows(2).any(follows)
}

/// Whether two subjects say the same of two versions, of one package or of two.
fn is_said_again(before: &str, now: &str) -> bool {
    let same =
        |words: fn(&str) -> Option<Vec<String>>| words(before).is_some_and(|it| words(now) == Some(it));
    before != now && (same(versionless) || same(nameless))
}

/// Whether a subject names a version: `Release parser 1.4.0`.
pub(super) fn names_version(subject: &str) -> bool {
    versions(subject).any(|(_, is_version)| is_version)
}

/// The words of a subject with each version in it taken out; `None` where it names none.
fn versionless(subject: &str) -> Option<Vec<String>> {
    names_version(subject).then(|| {
        let word =
            |(word, is_version): (&str, bool)| if is_version { "#".to_owned() } else { word.to_lowercase() };
        versions(subject).map(word).collect()
    })
}

/// The same without the name of what has the version; `None` where little else is left.
fn nameless(subject: &str) -> Option<Vec<String>> {
    let mut words = versionless(subject)?;
    let at = words.iter().position(|word| word == "#").filter(|at| *at > 1)?;
    words.remove(at - 1);
    Some(words)
}

/// The words of a subject, each with whether it is a version.
fn versions(subject: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut before = "";
    subject.split_whitespace().map(move |word| {
        let numbered = NUMBERED.iter().any(|name| name.eq_ignore_ascii_case(before));
        before = word;
        (word, is_version(word) || (numbered && bare(word).bytes().all(|byte| byte.is_ascii_digit())))
    })
}

/// What has a number for a version.
const NUMBERED: &[&str] = &["release", "version", "milestone", "sprint"];

/// A word without the characters around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@')
}

/// `1.2`, `v1.2.3`, `parser-1.2.3-rc.1`, `@scope/pkg@1.2.3`: numbers with a dot between them, at the end of a name; `v7`; the
/// month of a calendar, `2026-09`.
fn is_version(word: &str) -> bool {
    let word = bare(word);
    let bytes = word.as_bytes();
    let dotted = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        bytes.get(at) == Some(&b'.') && digit(before) && digit(bytes.get(at + 1))
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let month = word.split_once('-').is_some_and(|(year, month)| {
        digits(year) && year.len() == 4 && month.split('-').all(|part| digits(part) && part.len() == 2)
    });
    month || word.strip_prefix(['v', 'V']).is_some_and(digits) || (0..bytes.len()).any(dotted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{commit, timeline};

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
        assert_eq!(versionless("Prepare before 1.2 release"), versionless("prepare before v1.3.0 release"));
        assert_ne!(versionless("Prepare before 1.2 release"), versionless("Clean up after 1.2 release"));
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
