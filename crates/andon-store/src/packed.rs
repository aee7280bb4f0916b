//! The facts of a long range, held as bytes: a hundred thousand of them take a fifth of their size as values. A walk
//! over a range pushes each one when it is found; readers read one at a time.

use serde::Deserialize;

use crate::wire::envelope::{bytes_of, decoded};
use andon_core::domain::{CommitFact, CommitId};

/// Facts of commits, in the order in which they came.
#[derive(Debug, Default)]
pub struct PackedFacts {
    facts: Vec<Box<[u8]>>,
}

/// The members that a fact begins with.
#[derive(Deserialize)]
struct FactHead {
    id: Option<CommitId>,
    subject: String,
}

impl PackedFacts {
    /// Takes in the fact of a commit.
    pub fn push(&mut self, fact: &CommitFact) {
        self.facts.push(bytes_of(fact).into());
    }

    pub fn len(&self) -> usize {
        self.facts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Fact `number`, from 0; `None` where there are not so many.
    pub fn get(&self, number: usize) -> Option<CommitFact> {
        let fact = decoded(self.facts.get(number)?);
        Some(fact.unwrap_or_else(|| unreachable!("what was written here is read")))
    }

    /// The commit of fact `number`, and its subject.
    pub fn subject(&self, number: usize) -> Option<(CommitId, String)> {
        let (FactHead { id, subject }, _) = postcard::take_from_bytes(self.facts.get(number)?).ok()?;
        Some((id?, subject))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::v1::any_record;
    use andon_core::domain::Oid;

    proptest! {
        #[test]
        fn what_is_kept_is_what_came(came in prop::collection::vec((any_record(), ".{0,40}"), 0..12)) {
            let fact = |(number, (record, subject))| CommitFact {
                id: Oid::from_bytes(&[number; 20]).map(CommitId),
                subject,
                author: String::new(),
                record,
                named: None,
            };
            let facts: Vec<CommitFact> = (0..).zip(came).map(fact).collect();
            let mut kept = PackedFacts::default();
            for fact in &facts {
                kept.push(fact);
            }
            prop_assert_eq!((kept.len(), kept.is_empty()), (facts.len(), facts.is_empty()));
            for (number, fact) in facts.iter().enumerate() {
                prop_assert_eq!(kept.get(number), Some(fact.clone()));
                prop_assert_eq!(kept.subject(number), fact.id.map(|id| (id, fact.subject.clone())));
            }
            prop_assert_eq!(kept.get(facts.len()), None);
        }
    }
}
