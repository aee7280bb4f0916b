#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod authority;
pub mod detectors;
pub mod entry;
pub mod fold;
pub mod graph;
pub mod law;
pub mod payload;
pub mod precedents;
pub mod round;
pub mod similarity;
pub mod simulation;
pub mod votes;
pub mod window;
