//! The costs and earnings of answers: loop credits moved between accounts, minutes of people (R13 to R15). Accounting only.

use std::collections::BTreeMap;

use serde::Serialize;

use super::window::{MONTH, within};

/// The account that holds a bounty until it is earned.
pub const ESCROW: &str = "escrow";
/// The account that penalties go to.
pub const TREASURY: &str = "treasury";

/// The longest time that is paid, in seconds.
const PAID_SECONDS: i64 = 1_800;

/// A movement of credits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// The entry that caused it, and its place in the order.
    #[serde(skip)]
    pub entry: usize,
    #[serde(skip)]
    pub place: usize,
    pub from: String,
    pub to: String,
    pub amount: i64,
    pub why: &'static str,
}

/// Attention units earned, in thousandths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Earnings {
    #[serde(skip)]
    pub entry: usize,
    pub witness: String,
    pub milli: i64,
}

/// A valid penalty of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ValidPenalty {
    agent: String,
    round: usize,
    at: i64,
}

/// The accounts of all parties, derived from the entries.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    pub opened: BTreeMap<String, i64>,
    pub transfers: Vec<Transfer>,
    pub earned: Vec<Earnings>,
    penalised: Vec<ValidPenalty>,
}

/// The entry that causes something, its place in the order, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    pub entry: usize,
    pub place: usize,
    pub at: i64,
}

/// The accounts between which credits move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parties<'a> {
    pub from: &'a str,
    pub to: &'a str,
}

impl Accounts {
    /// Moves credits; nothing is left out of the books but nothing.
    pub fn transfer(&mut self, cause: Cause, ends: Parties<'_>, amount: i64, why: &'static str) {
        if amount != 0 {
            let (from, to) = (ends.from.to_owned(), ends.to.to_owned());
            self.transfers.push(Transfer { entry: cause.entry, place: cause.place, from, to, amount, why });
        }
    }

    /// Credits attention: minutes up to half an hour, and a tenth of the bounty.
    pub fn earn(&mut self, entry: usize, witness: &str, seconds: i64, bounty: i64) {
        let milli = milli(seconds, bounty);
        self.earned.push(Earnings { entry, witness: witness.to_owned(), milli });
    }

    /// Fines `agent` for `round`: half of the bounty, and a twentieth more for each other round of the month.
    pub fn penalise(&mut self, cause: Cause, agent: &str, round: usize, bounty: i64) -> i64 {
        let others = self.penalised.iter().filter(|known| {
            known.agent == agent && known.round != round && within(cause.at, known.at, MONTH)
        });
        let amount = penalty(bounty, others.count());
        if amount > 0 {
            self.penalised.push(ValidPenalty { agent: agent.to_owned(), round, at: cause.at });
            self.transfer(cause, Parties { from: agent, to: TREASURY }, amount, "penalty");
        }
        amount
    }

    /// Gives a penalty back: it no longer counts.
    pub fn forgive(&mut self, cause: Cause, agent: &str, round: usize, amount: i64) {
        self.penalised.retain(|known| known.round != round);
        self.transfer(cause, Parties { from: TREASURY, to: agent }, amount, "penalty_back");
    }

    /// Every account that was opened or moved.
    pub fn balances(&self) -> BTreeMap<&str, i128> {
        let mut found: BTreeMap<&str, i128> =
            self.opened.iter().map(|(who, amount)| (who.as_str(), i128::from(*amount))).collect();
        for transfer in &self.transfers {
            *found.entry(&transfer.from).or_default() -= i128::from(transfer.amount);
            *found.entry(&transfer.to).or_default() += i128::from(transfer.amount);
        }
        found
    }

    /// Attention units by witness, in thousandths.
    pub fn attention(&self) -> BTreeMap<&str, i128> {
        let mut found: BTreeMap<&str, i128> = BTreeMap::new();
        for earned in &self.earned {
            *found.entry(&earned.witness).or_default() += i128::from(earned.milli);
        }
        found
    }
}

fn milli(seconds: i64, bounty: i64) -> i64 {
    // min(s / 60, 30) + b / 10, in thousandths: 50/3 a second, 100 a credit.
    seconds.clamp(0, PAID_SECONDS) * 50 / 3 + bounty.saturating_mul(100)
}

fn penalty(bounty: i64, others: usize) -> i64 {
    let twentieths = i128::try_from(others).unwrap_or(i128::MAX).saturating_add(10).min(20);
    i64::try_from(i128::from(bounty) * twentieths / 20).unwrap_or(bounty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_is_paid_by_the_minute_and_capped() {
        for (seconds, bounty, want) in
            [(0, 0, 0), (60, 0, 1_000), (61, 0, 1_016), (1_800, 7, 30_700), (9_000, 0, 30_000), (-5, 1, 100)]
        {
            assert_eq!(milli(seconds, bounty), want, "{seconds} {bounty}");
        }
    }

    #[test]
    fn penalties_rise_with_the_month_up_to_the_bounty() {
        for (bounty, others, want) in
            [(100, 0, 50), (100, 1, 55), (7, 0, 3), (7, 3, 4), (100, 10, 100), (100, 40, 100)]
        {
            assert_eq!(penalty(bounty, others), want, "{bounty} {others}");
        }
    }

    #[test]
    fn a_penalty_that_was_given_back_weighs_no_more() {
        let mut books = Accounts::default();
        let cause = |at| Cause { entry: 0, place: 0, at };
        assert_eq!(books.penalise(cause(0), "a", 1, 100), 50);
        assert_eq!(books.penalise(cause(MONTH - 1), "a", 2, 100), 55);
        assert_eq!(books.penalise(cause(MONTH), "a", 3, 100), 55);
        books.forgive(cause(MONTH), "a", 2, 55);
        books.forgive(cause(MONTH), "a", 3, 55);
        assert_eq!(books.penalise(cause(MONTH), "a", 4, 100), 50);
        assert_eq!(books.penalise(cause(MONTH), "b", 5, 1), 0);
        assert_eq!(books.balances().values().sum::<i128>(), 0);
        assert_eq!(books.balances()[TREASURY], 100);
    }
}
