//! Starts the hook of an agent's client as the client would, for `andon doctor --live`.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use andon_core::domain::response::Program;
use andon_core::domain::time::Span;
use andon_engine::effect::consult;

/// How long a hook may take to answer, in seconds.
pub const PATIENCE: Span = Span(10);
/// How much of an answer is kept.
const MAX_ANSWER: usize = 64 << 10;

/// What a hook answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAnswer {
    /// Exit code; `None` when the time was up.
    pub code: Option<i32>,
    /// The beginning of its standard output.
    pub output: String,
    /// How long it took, to ten milliseconds.
    pub took: Duration,
}

/// Starts `argv` in `dir` with `payload` on its standard input.
///
/// # Errors
/// When it cannot be started.
pub fn send(argv: Vec<String>, dir: &Path, payload: &str) -> io::Result<HookAnswer> {
    let begun = Instant::now();
    let program = Program { argv, timeout: PATIENCE };
    let consulted = consult::run(&program, dir, payload.as_bytes(), MAX_ANSWER)?;
    Ok(HookAnswer { code: consulted.code, output: consulted.output, took: begun.elapsed() })
}
