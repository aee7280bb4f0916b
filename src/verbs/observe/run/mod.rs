//! `andon observe KIND`: facts from CI and orchestrators. One file for each kind; each checks its input and appends one
//! line to the journal, as `andon test` and the hooks do for what they see themselves.

pub mod stream;
pub mod test_run;
