#![doc = include_str!("../README.md")]
#![allow(missing_docs, reason = "fields and variants are named as docs/review.md names them")]

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
pub mod lookback;
pub mod payload;
pub mod precedents;
pub mod round;
pub mod similarity;
pub mod simulation;
pub mod sliding;
pub mod votes;
