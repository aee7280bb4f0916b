//! Violations with the same text are kept once, with the commits that they concern: a range of a hundred thousand commits
//! without records has as many violations.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::examined_commits::ExaminedCommits;
use super::{Diagnostic, Location};
use andon_core::domain::findings::Level;

/// The order of the messages about one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MessageOrder {
    Witnesses,
    Configuration,
    Records,
    Weakening,
    Identity,
    Skips,
    People,
    Ledger,
    Tampering,
    Range,
}

/// The words of a violation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Wording {
    code: Option<String>,
    level: Level,
    message: String,
    file: Option<Box<str>>,
    help: Vec<String>,
}

/// What does not hold.
#[derive(Default)]
pub(super) struct ViolationGroups {
    /// About the range as a whole, or about commits outside it.
    apart: Vec<Diagnostic>,
    words: Vec<Rc<Wording>>,
    /// Where they are in that list.
    numbers: BTreeMap<Rc<Wording>, u32>,
    /// The commit of the range, and the number of the words.
    declared: Vec<(u32, MessageOrder, u32)>,
}

impl ViolationGroups {
    /// Takes in what is said. What concerns no commit that was looked at comes in the order of the turns.
    pub(super) fn add(
        &mut self,
        examined: &ExaminedCommits,
        turn: MessageOrder,
        violations: impl IntoIterator<Item = Diagnostic>,
    ) {
        for violation in violations {
            let place = violation.commit().and_then(|at| examined.place(at.commit));
            let Some(place) = place.and_then(|place| u32::try_from(place).ok()) else {
                self.apart.push(violation);
                continue;
            };
            let Diagnostic { level, code, message, file, help, .. } = violation;
            let number = self.number(Wording { code, level, message, file, help });
            self.declared.push((place, turn, number));
        }
    }

    fn number(&mut self, words: Wording) -> u32 {
        if let Some(number) = self.numbers.get(&words) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let words = Rc::new(words);
        self.words.push(Rc::clone(&words));
        self.numbers.insert(words, number);
        number
    }

    /// All of it: first what concerns no commit of the range, then in the order of the commits.
    pub(super) fn into_violations(mut self, examined: &ExaminedCommits) -> Vec<Diagnostic> {
        self.declared.sort_by_key(|(place, turn, _)| (*place, *turn));
        let of_one = |(place, _, number): &(u32, MessageOrder, u32)| {
            let words = self.words.get(*number as usize)?;
            Some(Diagnostic {
                excerpt: None,
                file: words.file.clone(),
                location: examined
                    .commits()
                    .get(*place as usize)
                    .map(|commit| Box::new(Location::Commit(examined.at(commit.id)))),
                code: words.code.clone(),
                level: words.level,
                message: words.message.clone(),
                help: words.help.clone(),
            })
        };
        self.apart.into_iter().chain(self.declared.iter().filter_map(of_one)).collect()
    }
}
