//! Random stories through every door, compared step by step.
//!
//! A story is a list of steps: edits, test runs, commits, turns, tool calls, outputs, votes, answers, pauses, new
//! sessions. It is played in a repository with hooks ([`live`]), and its facts are replayed through the other doors
//! ([`doors`]): line by line and in one batch of `observe`, as a stream (`replay --events`), and, as far as it consists
//! of commits with their tests, as a history (`replay RANGE`). Each door must come to the same decision for the same
//! rule at the same iteration. Streams with lines without a time have a test of their own ([`undated`]).
//!
//! `ANDON_DOORS_SEEDS=200 cargo test --test integration doors_property` runs more seeds, `ANDON_DOORS_FROM` says where they
//! begin (from 1000000 on HEAD is moved about), and `ANDON_DOORS_STORY='once; edit a 1; commit'` runs one story.

mod cases;
mod compare;
mod doors;
mod ground;
mod live;
mod outcomes;
mod random;
mod story;
mod undated;
