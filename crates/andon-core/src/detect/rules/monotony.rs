//! `monotony`: one iteration after the other does the same, and nothing else moves.

use crate::detect::excuses::excuse;
use crate::detect::prelude::*;
use crate::domain::{Hint, Nature};
use crate::history::{DocsProgress, Iteration, Timeline, come_slowly};

const RUNNING: Param<u64> = Param::count("running", 14, 3).sense(Sense::Warns);

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    params: &[RUNNING.spec],
    ..Rule::of_iterations("monotony", include_str!("monotony.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let newest = timeline.candidates().next_back().filter(|one| Some(*one) == timeline.newest())?;
    let counts =
        |one: &&Iteration| !one.is_by_another(newest) && excuse(RULE.id, one, timeline, setting).is_none();
    let row = |same: &dyn Fn(&Iteration) -> bool| -> Vec<&Iteration> {
        let running = timeline.candidates().rev().take_while(|one| same(one)).take_while(counts);
        running.collect()
    };
    let padding = row(&|one| pads(one, timeline) && one.same_place(newest));
    let says_something = newest.subject.contains(char::is_alphabetic);
    let saying = row(&|one| says_something && says_the_same(&one.subject, &newest.subject));
    let (row, what) = if padding.len() >= saying.len() {
        (padding, "changed one document and nothing else".to_owned())
    } else {
        (saying, format!("say the same: {}", words::bounded(newest.subject.trim())))
    };
    let first = row.last()?.number;
    let moves = gained_since(timeline, first) == Gain::NewlyPassing;
    if words::len(&row) < setting.count(&RUNNING) || moves {
        return None;
    }
    let level = if come_slowly(&row) { Level::Note } else { setting.level };
    let evidence = row.iter().rev().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let help = vec![Hint::LogNewest.with([&row.len().to_string(), "HEAD"])];
    let message = format!("{} in a row {what}", words::count(row.len(), "iteration"));
    let is_document = newest.change.as_ref().is_some_and(|change| change.nature == Nature::Docs);
    let about = About { names_documents: is_document, ..RULE.about };
    let files = Iteration::paths_of_all(&row);
    Some(Finding { about, files, evidence, help, ..RULE.finding(level, message) })
}

/// Returns whether an iteration changed one document, and ticked nothing off.
fn pads(one: &Iteration, timeline: &Timeline) -> bool {
    let documents = one.change.as_ref().filter(|change| change.nature == Nature::Docs);
    let alone = documents.is_some_and(|change| change.paths.len() == 1 && !change.truncated);
    alone && timeline.docs_progress(one) != DocsProgress::Ticked
}

/// Returns whether two subjects are the same words, numbers and letter case aside. Those that differ by their numbers alone are
/// known without a look at each letter.
fn says_the_same(one: &str, other: &str) -> bool {
    fn pieces(subject: &str) -> impl Iterator<Item = &[u8]> {
        subject.as_bytes().split(u8::is_ascii_digit).filter(|piece| !piece.is_empty())
    }
    pieces(one).eq(pieces(other)) || words_alone(one).eq(words_alone(other))
}

/// The letters of a subject, word by word, without numbers.
fn words_alone(subject: &str) -> impl Iterator<Item = char> {
    let words = subject.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.flat_map(|word| word.chars().flat_map(char::to_lowercase).chain([' ']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::ParamValue;
    use crate::testkit::{Commit, commit, green};

    fn row(count: u8, one: impl Fn(u8) -> Commit) -> Option<Finding> {
        checked(&RULE, (1..=count).map(one).collect())
    }

    #[test]
    fn padding_of_one_document_is_told() {
        let pad = |at: u8| {
            let mut one = commit(1)
                .docs(at, (0, 0), (0, 0))
                .subject(&format!("Say more about {}", "x".repeat(at.into())));
            one.record().change.as_mut().unwrap().paths = commit(1)
                .change(Nature::Docs, &[(1, at, at + 1)])
                .record()
                .change
                .as_ref()
                .unwrap()
                .paths
                .clone();
            one
        };
        assert!(row(13, pad).is_none());
        let found = row(14, pad).unwrap();
        assert_eq!(
            (found.level, found.message().as_str()),
            (Level::Warn, "14 iterations in a row changed one document and nothing else")
        );
        let behind_code = std::iter::once(commit(1).tests(green(1, 2)));
        let tested = behind_code.chain((1..=14).map(|at| pad(at).tests(green(1, 2)).author("Pat")));
        assert!(checked(&RULE, tested.collect()).is_some(), "the tests are those of the code before");
        assert!(row(40, |at| if at == 30 { commit(90) } else { pad(at) }).is_none(), "work in between");
    }

    #[test]
    fn the_same_words_are_told_unless_tests_newly_pass() {
        let step = |at: u8| commit(at).subject(&format!("refactor step {at}"));
        assert_eq!(row(14, step).unwrap().message(), "14 iterations in a row say the same: refactor step 14");
        assert!(row(14, |at| commit(at).subject(&format!("Release 1.{at}"))).is_none());
        assert!(row(14, |at| step(at).tests(green(at, 9 + u64::from(at)))).is_none());
        assert!(row(14, |at| step(at).author(&format!("A{at}"))).is_none());
        let four = (1..5).map(step).collect();
        assert!(checked_with(&RULE, four, &[("running", ParamValue::Count(4))]).is_some());
    }
}
