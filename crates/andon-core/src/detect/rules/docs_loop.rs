//! `docs-loop`: documents alone go round, in commits or in turns.

use std::collections::BTreeSet;

use crate::detect::excuses::{GOING_BACK, excuse};
use crate::detect::prelude::*;
use crate::domain::{HunkHash, Nature, PathStep};
use crate::history::{PathState, Source, Strike, Timeline, TurnChange, lasted};

const COMEBACKS: Param<u64> = Param::count("comebacks", 4, 2);
const AMONG: Param<u64> = Param::count("among", 12, 2).sense(Sense::Wider);

pub(in crate::detect) static RULE: Rule = Rule {
    reason: HaltReason::Oscillating,
    about: About {
        names_documents: true,
        ..About::new(EventClass::Oscillation).advising(AdvisedStep::UpdateDocs)
    },
    params: &[COMEBACKS.spec, AMONG.spec, GOING_BACK.spec],
    ..Rule::of_iterations("docs-loop", include_str!("docs_loop.md"), check)
};

/// A pattern of documents that go round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocsPattern {
    Alternates,
    ComesBack { times: u64 },
}

impl DocsPattern {
    fn message(self, documents: &str, place: &str) -> String {
        match self {
            Self::Alternates => {
                format!("{documents} went back and forth between two texts (A/B/A/B) {place}")
            }
            Self::ComesBack { times } => {
                format!("{documents} came back to earlier contents {} {place}", words::times(times))
            }
        }
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let newest = timeline.newest()?;
    match newest.source {
        Source::Turn(TurnChange::Documents) => {
            let states: Vec<_> = timeline.activity.docs_states.iter().collect();
            let round = round(&states, &|_| true, setting)?;
            Some(RULE.finding(setting.level, round.message("the documents", "while no code changed")))
        }
        Source::Turn(_) => None,
        Source::Commit if !timeline.leaves_the_code(newest) => None,
        Source::Commit => timeline.newest_paths().find_map(|path| of_path(timeline, path, setting)),
    }
}

fn of_path(timeline: &Timeline, path: HunkHash, setting: &RuleSetting) -> Option<Finding> {
    let all = timeline.path_states(path);
    // Work on the code begins the row anew.
    let code =
        all.iter().rposition(|state| state.brought_by.is_some_and(|one| !timeline.leaves_the_code(one)));
    let states: &[PathState<'_>] = all.get(code.unwrap_or(0)..).unwrap_or_default();
    let by = |at: usize| states.get(at).and_then(|state| state.brought_by);
    let is_text = |at: usize| states.get(at).is_some_and(|one| one.state != PathStep::ABSENT);
    let counts = |at: usize| {
        let (Some(one), Some(before)) = (by(at), at.checked_sub(1)) else { return false };
        let edited = is_text(at) && is_text(before);
        let stayed = by(before).is_some_and(|earlier| lasted(earlier, one));
        edited
            && !stayed
            && one.strike == Strike::Candidate
            && one.weak_nature() != Some(Nature::Space)
            && excuse(RULE.id, one, timeline, setting).is_none()
    };
    if states.last()?.brought_by != timeline.newest() {
        return None;
    }
    let contents: Vec<HunkHash> = states.iter().map(|state| state.state).collect();
    let round = round(&contents, &counts, setting)?;
    let first_return = states.len().checked_sub(3).and_then(by);
    let since = first_return.map(|one| one.number);
    if round == DocsPattern::Alternates
        && since.is_some_and(|it| timeline.brings_new_documents_beside(path, it))
    {
        return None;
    }
    let code = since.is_some_and(|it| timeline.brings_new_code_beside(path, it));
    let place = if code { "beside work on the code" } else { "while no code changed" };
    let evidence = states.iter().rev().take(4).rev();
    let evidence = evidence.filter_map(|state| state.brought_by?.commit).map(Evidence::Commit).collect();
    let message = round.message("a document", place);
    let found = Finding { files: vec![path], evidence, ..RULE.finding(setting.level, message) };
    // Beside new code it may be a status.
    Some(found.within(code.then_some(Limit::warn("new code beside it"))))
}

/// The pattern in which `states` go round, oldest first; `counts` tells for an index whether a return there counts.
fn round<T: Ord>(states: &[T], counts: &dyn Fn(usize) -> bool, setting: &RuleSetting) -> Option<DocsPattern> {
    let last = states.len().checked_sub(1)?;
    if let [.., a, b, c, d] = states
        && a == c
        && b == d
        && a != b
        && counts(last)
        && counts(last - 1)
    {
        return Some(DocsPattern::Alternates);
    }
    let among = setting.size(&AMONG);
    let first = states.len().saturating_sub(among.saturating_add(1));
    let mut seen = BTreeSet::new();
    let mut back = Vec::new();
    for (at, state) in states.iter().enumerate().skip(first) {
        if !seen.insert(state) && counts(at) {
            back.push(at);
        }
    }
    let enough = words::len(&back) >= setting.count(&COMEBACKS).max(1);
    (enough && back.last() == Some(&last)).then(|| DocsPattern::ComesBack { times: words::len(&back) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, checked};
    use crate::domain::{Digest, EventKind, TurnEnd};
    use crate::testkit::{Commit, chain, code, commit, event, folded, green};

    /// A document in these states, while the code stays.
    fn written(states: &[u8]) -> Vec<Commit> {
        let mut old = 1;
        let step = |new: &u8| commit(7).change(Nature::Docs, &[(1, std::mem::replace(&mut old, *new), *new)]);
        std::iter::once(commit(7)).chain(states.iter().map(step)).collect()
    }

    #[test]
    fn a_document_that_goes_round_trips_and_work_on_it_does_not() {
        let table: [(&[u8], bool); 8] = [
            (&[0, 1, 0], false),
            (&[0, 1, 0, 1, 0, 1], false),
            (&[2, 1], false),
            (&[2, 1, 2], true),
            (&[2, 3, 1, 2, 4, 3], false),
            (&[2, 3, 1, 4, 2, 3, 1], true),
            (&[2, 3, 4, 5, 6, 7, 8, 9], false),
            (&[2, 1, 2, 9], false),
        ];
        for (states, expected) in table {
            assert_eq!(checked(&RULE, written(states)).is_some(), expected, "{states:?}");
        }
    }

    #[test]
    fn beside_new_code_and_by_reverts_it_is_no_loop() {
        let mut beside = written(&[2, 1, 2]);
        for (at, one) in (20_u8..).zip(&mut beside) {
            one.record().code = code(at);
        }
        assert!(checked(&RULE, beside).is_none());
        let reverted = written(&[2, 1, 2]).into_iter().map(|one| one.subject("Revert \"words\"")).collect();
        assert!(checked(&RULE, reverted).is_none());
    }

    #[test]
    fn white_space_alone_is_no_rewrite() {
        let space = |old: u8, new: u8| commit(7).change(Nature::Space, &[(1, old, new)]);
        let rows = vec![commit(7), space(1, 2), space(2, 1), space(1, 2), space(2, 1)];
        assert!(checked(&RULE, rows).is_none());
        let mixed = vec![commit(7), space(1, 2), space(2, 1)].into_iter().chain(written(&[2, 1, 2, 1]));
        assert!(checked(&RULE, mixed.collect()).is_some(), "words after it");
    }

    #[test]
    fn beside_other_documents_that_move_on_it_is_work() {
        let told = |between: &[(u8, u8)]| {
            let mut rows = written(&[2, 1, 2]);
            for (old, new) in between {
                rows.insert(rows.len() - 1, commit(7).change(Nature::Docs, &[(9, *old, *new)]));
            }
            checked(&RULE, rows).is_some()
        };
        assert!(told(&[]));
        assert!(!told(&[(3, 4)]), "another document is written");
        assert!(told(&[(0, 0)]), "nothing new");
        let mut beside = written(&[2, 1, 2]);
        beside.insert(3, commit(8).change(Nature::Work, &[(9, 3, 4)]));
        beside[4].record().code = code(8);
        assert_eq!(checked(&RULE, beside).map(|it| it.level), Some(Level::Warn), "new code");
        let mut own = written(&[2, 1]);
        own.push(commit(7).change(Nature::Docs, &[(1, 1, 2), (9, 3, 4)]));
        assert!(checked(&RULE, own).is_some(), "beside it in the same commit");
    }

    #[test]
    fn it_is_seen_among_commits_with_times_and_tests() {
        let observed = (100..).zip(written(&[2, 1, 2, 1])).map(|(at, one)| one.at(at).tests(green(7, 1)));
        assert!(checked(&RULE, observed.collect()).is_some());
    }

    #[test]
    fn turns_that_undo_each_other_trip() {
        let ends = |states: &[u8]| {
            let end = |docs: &u8| {
                event(EventKind::TurnEnd(TurnEnd { code: Some(code(1)), docs: Some(Digest([*docs; 32])) }))
            };
            let facts = chain(vec![commit(1)]).into_iter().chain(states.iter().map(end)).collect();
            asked_of(&RULE, &folded(facts)).is_some()
        };
        assert!(ends(&[1, 2, 1, 2]));
        assert!(!ends(&[1, 2, 3, 2]));
        assert!(!ends(&[1, 2, 1]));
        assert!(!ends(&[1, 2, 1, 2, 2]), "said once, at the turn that closed the circle");
        assert!(!ends(&[1, 2, 3, 4, 5, 6]));
    }
}
