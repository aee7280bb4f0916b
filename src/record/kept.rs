//! The facts of a long range, held as bytes: a hundred thousand of them are a fifth of what they are as values, and in a
//! few large pieces. Whoever walks a range pushes each as it is found, and reads one at a time.

use super::compact;
use crate::domain::facts::CommitFact;
use crate::domain::ids::CommitId;

/// Bytes of a piece; no fact lies in two.
const PIECE: usize = 1 << 20;

/// Facts of commits, in the order in which they came.
#[derive(Debug, Default)]
pub struct KeptFacts {
    pieces: Vec<Vec<u8>>,
    /// Which piece each is in, and where it begins and ends there.
    places: Vec<(u32, u32, u32)>,
}

impl KeptFacts {
    /// Takes in the fact of a commit, which has an id.
    pub fn push(&mut self, fact: &CommitFact) {
        let bytes = compact::encode(fact);
        if self.pieces.last().is_none_or(|piece| piece.len() + bytes.len() > piece.capacity()) {
            self.pieces.push(Vec::with_capacity(PIECE.max(bytes.len())));
        }
        let number = self.pieces.len().saturating_sub(1);
        if let Some(piece) = self.pieces.last_mut() {
            let from = piece.len();
            piece.extend_from_slice(&bytes);
            let [number, from, to] =
                [number, from, piece.len()].map(|place| u32::try_from(place).unwrap_or(u32::MAX));
            self.places.push((number, from, to));
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Fact `number`, from 0; `None` where there are not so many.
    pub fn get(&self, number: usize) -> Option<CommitFact> {
        let fact = compact::decode(self.bytes(number)?);
        Some(fact.unwrap_or_else(|| unreachable!("what was written here is read")))
    }

    /// The commit of fact `number`, and its subject.
    pub fn subject(&self, number: usize) -> Option<(CommitId, String)> {
        compact::subject(self.bytes(number)?)
    }

    fn bytes(&self, number: usize) -> Option<&[u8]> {
        let (piece, from, to) = *self.places.get(number)?;
        self.pieces.get(piece as usize)?.get(from as usize..to as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compact::tests::golden;
    use super::*;
    use crate::domain::ids::Oid;

    proptest! {
        #[test]
        fn what_is_kept_is_what_came(
            subjects in prop::collection::vec(
                prop_oneof![8 => ".{0,40}", 1 => (600_000..1_100_000_usize).prop_map(|size| "x".repeat(size))],
                0..12,
            ),
        ) {
            let fact = |(number, subject): (usize, &String)| CommitFact {
                id: Oid::from_bytes(&[u8::try_from(number).unwrap(); 20]).map(CommitId),
                subject: subject.clone(),
                ..golden()
            };
            let facts: Vec<CommitFact> = subjects.iter().enumerate().map(fact).collect();
            let mut kept = KeptFacts::default();
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
