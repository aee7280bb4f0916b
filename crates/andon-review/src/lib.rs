#![doc = include_str!("../README.md")]

pub mod accounts;
mod authority;
mod detectors;
pub mod entry;
pub mod fold;
mod graph;
mod law;
pub mod payload;
pub mod precedents;
pub mod round;
pub mod similarity;
pub mod simulation;
pub mod votes;
pub mod window;

pub use self::{
    accounts::*, authority::*, detectors::*, entry::*, fold::*, graph::*, law::*, payload::*, precedents::*,
    round::*, similarity::*, simulation::output::*, votes::*, window::*,
};
