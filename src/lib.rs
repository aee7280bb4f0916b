//! Andon: a git-native circuit breaker for autonomous coding loops.
//!
//! The modules in rank order; each imports only from lower ranks (`tests/architecture.rs`):
//!
//! | rank | module | what |
//! |---|---|---|
//! | 0 | [`domain`] | pure: the words of the product as values |
//! | 0 | [`platform`] | what operating systems do differently |
//! | 1 | [`history`] | pure: facts to a timeline |
//! | 1 | [`wire`] | pure: what is stored and printed, as serde types; the envelope of caches |
//! | 1 | [`change`] | pure: what a commit did: hunks, normalization, diff hash, nature, fingerprint |
//! | 1 | [`git`] | the only door to git2 and to the git program |
//! | 1 | [`signing`] | the only door to keys: sign, verify |
//! | 2 | [`detect`] | pure: timeline to findings, one file a rule |
//! | 2 | [`signals`] | pure: signs of being stuck, taken together |
//! | 2 | [`policy`] | pure: findings to a decision and a plan |
//! | 2 | `review` | pure: rounds put to people, and what follows from their answers |
//! | 2 | [`report`] | pure: values to text |
//! | 2 | [`store`] | the journal, the commit records, receipts, caches |
//! | 2 | [`ledger`] | halts and acknowledgements |
//! | 3 | [`config`] | layers, validation, schema |
//! | 3 | [`adapter`] | git hooks and pre-commit: foreign input to facts |
//! | 3 | [`effect`] | carries out what a decision asks for |
//! | 4 | [`engine`] | what every door runs |
//! | 5 | [`ops`] | the verbs |
//! | 6 | [`cli`] | arguments, output, exit codes |

pub mod adapter;
pub mod change;
pub mod cli;
pub mod config;
pub mod detect;
pub mod domain;
pub mod effect;
pub mod engine;
pub mod git;
pub mod history;
pub mod ledger;
pub mod ops;
pub mod platform;
pub mod policy;
pub mod report;
pub(crate) mod review;
pub mod signals;
pub mod signing;
pub mod store;
pub mod wire;
