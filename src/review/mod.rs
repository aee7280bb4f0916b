//! Rounds put to people, and what follows from their answers: folds over ledger entries (`docs/review.md`).
//!
//! Everything here is derived from entries at every reading and never stored: which round waits for whom, what was
//! decided, who may act, reputations, accounts, precedents. Two readers fill the one input type,
//! [`entry::ReviewEntry`]: the signed ledger, and the lines of a simulation.
//!
//! Rank 2, pure: `now` is passed in, and order is never taken from a clock. The rules are numbered as in
//! `docs/review.md`: R for rules, S for what is stored, T for time.

pub mod accounts;
pub mod authority;
pub mod capture;
pub mod code;
pub mod concerns;
pub mod entry;
pub mod fold;
pub mod gaming;
pub mod graph;
pub mod law;
pub mod payload;
pub mod precedents;
pub mod round;
pub mod similarity;
pub mod simulation;
pub mod sliding;
pub mod votes;
pub mod window;
