//! End-to-end tests: the real program, the real `git`, one binary. See `support` for the stage.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what cannot be set up fails its test")]
#![allow(clippy::disallowed_methods, reason = "tests start programs and look at their own environment")]
#![allow(clippy::print_stdout, reason = "shown when a test fails")]

mod agent_hooks;
mod agent_settings;
mod attestations;
mod backfill;
mod broken_state;
mod bulk;
mod check;
mod check_formats;
mod check_histories;
mod context;
mod documentation_rule;
mod doors;
mod doors_property;
mod escalate;
mod events;
mod evidence;
mod exact_code;
mod explain;
mod export;
mod false_halts;
mod frameworks;
mod full_and_read_only_disks;
mod gate;
mod halt_traces;
mod handed_in_runs;
mod identity;
mod install_modes;
mod killed_processes;
mod kinds;
mod messages;
mod notices;
mod pages;
mod panics;
mod range_trust;
mod record;
mod reference;
mod replay;
mod report;
mod review;
mod rewrites;
mod rounds;
mod run_boundaries;
mod sending;
mod session;
mod signed_faults;
mod signed_halts;
mod skip;
mod status_and_log;
mod stop;
mod support;
mod sync;
mod sync_at_once;
mod tamper;
mod terminal;
mod test_command_guess;
mod test_runs;
mod untrusted_input;
mod untrusted_repository;
mod watch;
mod watched;
mod weakened_tests;
mod witness;
