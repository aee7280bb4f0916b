//! End-to-end tests: the real program, the real `git`, one binary. See `support` for the stage.

mod check;
mod frameworks;
mod gate;
mod hostile;
mod readme;
mod record;
mod replay;
mod see;
mod stop;
mod support;
