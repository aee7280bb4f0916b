//! Answers that change from call to call: an agent that waits for a build or a download repeats its call on purpose.

use crate::history::Call;

/// Whether one quantity of the answers of `alike`, calls that are equal as they are compared, only rises or only falls in
/// their newest ones, and does so in at least every other of them.
pub(super) fn is_moving<'a>(newest_first: impl Iterator<Item = &'a Call>, most: usize) -> bool {
    let answers: Vec<&[u64]> = newest_first.take(most).map(|call| call.call.moves.as_slice()).collect();
    let places = answers.iter().map(|quantities| quantities.len()).min().unwrap_or(0);
    (0..places).any(|place| {
        let at: Vec<u64> = answers.iter().map(|quantities| quantities[place]).collect();
        moves(&at, |newer, older| newer >= older) || moves(&at, |newer, older| newer <= older)
    })
}

fn moves(row: &[u64], way: fn(u64, u64) -> bool) -> bool {
    let steps = row.len().saturating_sub(1);
    let moved = row.windows(2).filter(|pair| pair[0] != pair[1]).count();
    moved > 0 && moved * 2 >= steps && row.windows(2).all(|pair| way(pair[0], pair[1]))
}

#[cfg(test)]
mod tests {
    use super::moves;

    fn rises(row: &[u64]) -> bool {
        moves(row, |newer, older| newer >= older)
    }

    #[test]
    fn what_stands_still_every_other_time_moves() {
        assert!(rises(&[5, 4, 3, 2, 1]));
        assert!(rises(&[3, 3, 2, 2, 1]));
        assert!(!rises(&[3, 3, 3, 3, 2]), "it moved once");
        assert!(!rises(&[3, 3]), "not at all");
        assert!(!rises(&[5, 4, 6, 2, 1]));
        assert!(!rises(&[1]));
    }
}
