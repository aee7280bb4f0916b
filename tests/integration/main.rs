//! End-to-end tests: the real program, the real `git`, one binary. See `support` for the stage.

mod check;
mod gate;
mod record;
mod replay;
mod stop;
mod support;
