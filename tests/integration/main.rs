//! End-to-end tests: the real program, the real `git`, one binary. See `support` for the stage.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what cannot be set up fails its test")]
#![allow(clippy::disallowed_methods, reason = "tests start programs and look at their own environment")]
#![allow(clippy::print_stdout, reason = "shown when a test fails")]

mod backfill;
mod bulk;
mod check;
mod context;
mod death;
mod denied;
mod doors;
mod doors_property;
mod escalate;
mod events;
mod evidence;
mod exact_code;
mod explain;
mod frameworks;
mod gate;
mod halt_traces;
mod honest;
mod hostile;
mod identity;
mod install_modes;
mod kinds;
mod messages;
mod pages;
mod panics;
mod range_trust;
mod record;
mod reference;
mod replay;
mod rewrites;
mod run_boundaries;
mod see;
mod sending;
mod session;
mod skip;
mod stop;
mod support;
mod sync;
mod tamper;
mod terminal;
mod test_command_guess;
mod untrusted_repository;
mod watched;
