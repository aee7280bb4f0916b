//! The numbers of commits, as the fold has them.

use std::collections::BTreeMap;

use super::timeline::Timeline;
use crate::domain::facts::CommitFact;
use crate::domain::ids::CommitId;

impl Timeline {
    /// The numbers of its commits; `line` are those behind HEAD. `None` for a commit that is counted as another: a pick
    /// of a rebase whose attempt is not known, a commit of ignored paths alone, an attempt that is there a second time.
    pub fn numbers(&self, line: &[CommitFact]) -> BTreeMap<CommitId, Option<u64>> {
        let in_line = |id: CommitId| line.iter().any(|fact| fact.id == Some(id));
        let (mut numbers, mut highest) = (BTreeMap::new(), 0);
        for one in &self.iterations {
            let number = Some(one.number).filter(|number| *number > highest);
            highest = highest.max(one.number);
            let Some(commit) = one.commit else { continue };
            let again = one.root.filter(|root| *root != commit && in_line(*root));
            numbers.insert(commit, if again.is_some() { None } else { number });
            numbers.extend(again.map(|root| (root, number)));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::facts::{CarriedAttempt, CommitKind, Fact};
    use crate::testkit::{GAP, chain, commit};

    /// `unknown` where nothing is said, `none` where the commit has no number.
    fn numbers(facts: &[Fact]) -> Vec<String> {
        let line = facts.iter().map(|fact| match fact {
            Fact::Commit(fact) => (**fact).clone(),
            Fact::TestRun(_) | Fact::Ack(_) | Fact::Event(_) => unreachable!(),
        });
        let line: Vec<CommitFact> = line.collect();
        let numbers = crate::history::fold(facts, GAP).numbers(&line);
        let shown =
            |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let known = |fact: &CommitFact| numbers.get(&fact.id.unwrap()).copied();
        line.iter().map(|fact| known(fact).map_or_else(|| "unknown".to_owned(), shown)).collect()
    }

    #[test]
    fn commits_are_numbered_where_they_count() {
        let plain = chain(vec![commit(1), commit(2), commit(3)]);
        assert_eq!(numbers(&plain), ["1", "2", "3"]);
        // Picks whose attempts are not known here: all of them hold the number that the count had reached.
        let picks = chain(vec![
            commit(1).number(3).kind(CommitKind::Rebase),
            commit(2).number(3).kind(CommitKind::Rebase),
            commit(3).number(4),
        ]);
        assert_eq!(numbers(&picks), ["3", "none", "4"]);
    }

    #[test]
    fn an_attempt_that_is_there_twice_has_its_number_once() {
        let mut facts = chain(vec![commit(1).number(1), commit(2).number(2), commit(3).number(3)]);
        let Fact::Commit(first) = facts[0].clone() else { unreachable!() };
        if let Fact::Commit(again) = &mut facts[2] {
            again.record.kind = CommitKind::CherryPick;
            again.record.carries = Some(Box::new(CarriedAttempt::new(first.id.unwrap(), &first.record)));
        }
        assert_eq!(numbers(&facts), ["1", "2", "none"]);
    }
}
