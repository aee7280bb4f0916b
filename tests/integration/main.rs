//! End-to-end tests: the real program, the real `git`, one binary. See `support` for the stage.

mod gate;
mod hostile;
mod record;
mod stop;
mod support;
