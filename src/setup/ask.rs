//! Asks a line-based program one question. Its input stays open until the answer has come or the time is up.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes that are read before an answer is given up.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;
/// How long it may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

/// Starts `argv` in `dir`, writes `input` and returns the first line that `is_answer`; `None` where none came within
/// `limit`.
///
/// # Errors
/// When the program cannot be started.
pub fn ask(
    argv: &[&str],
    dir: &Path,
    input: &str,
    is_answer: fn(&str) -> bool,
    limit: Duration,
) -> io::Result<Option<String>> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "an empty command");
    let (program, arguments) = argv.split_first().ok_or_else(missing)?;
    #[allow(
        clippy::disallowed_methods,
        reason = "the door to agents' clients that are asked about their hooks"
    )]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (sender, answer) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(stdout.take(MAX_OUTPUT)).lines().map_while(Result::ok);
            let _nobody_waits = lines.into_iter().find(|line| is_answer(line)).map(|line| sender.send(line));
        });
    }
    let mut stdin = child.stdin.take();
    // One that does not read its input does not answer either.
    let written = stdin.as_mut().is_some_and(|stdin| stdin.write_all(input.as_bytes()).is_ok());
    let found = if written { answer.recv_timeout(limit).ok() } else { None };
    drop(stdin);
    let deadline = Instant::now() + GRACE;
    while child.try_wait()?.is_none() && Instant::now() < deadline {
        thread::sleep(TICK);
    }
    let _gone = child.kill();
    child.wait()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_answers_is_taken_and_silence_ends() {
        let answer = |script: &str, limit| {
            ask(&["sh", "-c", script], Path::new("/"), "question\n", |line| line.starts_with("yes"), limit)
        };
        let long = Duration::from_secs(20);
        assert_eq!(
            answer("read q; echo no; echo yes $q; cat", long).unwrap().as_deref(),
            Some("yes question")
        );
        assert_eq!(answer("echo no", long).unwrap(), None);
        assert_eq!(answer("exec sleep 60", Duration::from_millis(50)).unwrap(), None);
        assert!(ask(&["/no/such/program"], Path::new("/"), "", |_| true, long).is_err());
        assert!(ask(&[], Path::new("/"), "", |_| true, long).is_err());
    }
}
