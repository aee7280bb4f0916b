//! The door through which programs of the user's own configuration are started: notices, an advisor, the next provider.
//!
//! They get standard input and a time limit, and lead a process group of their own, so that all their processes can be
//! ended. Only the beginning of their output is kept.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{path::Path, sync::mpsc, thread};

use crate::context::hook_variables;
use andon_core::domain::Program;
use andon_git::platform::processes;

/// Interval between looks for the end.
const TICK: Duration = Duration::from_millis(10);
/// Longest wait for the rest of the output after the end.
const REST: Duration = Duration::from_millis(500);

/// The exit code and output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsultOutput {
    /// Exit code; 128 + signal when it was killed, `None` when the time was up.
    pub code: Option<i32>,
    /// The beginning of its standard output, made UTF-8 lossily.
    pub output: String,
}

/// Runs `program` in `dir` with `input` on its standard input, and keeps at most `most` bytes of what it says.
pub fn run(program: &Program, dir: &Path, input: &[u8], most: usize) -> io::Result<ConsultOutput> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "an empty command");
    let (name, arguments) = program.argv.split_first().ok_or_else(missing)?;
    #[allow(clippy::disallowed_methods, reason = "the door of the user's own programs")]
    let mut command = Command::new(name);
    processes::lead_group(command.args(arguments).current_dir(dir));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    for variable in hook_variables() {
        command.env_remove(variable);
    }
    let mut child = command.spawn()?;
    let output = speak(&mut child, input.to_vec(), most);
    let deadline = Instant::now().checked_add(Duration::from_secs(program.timeout.0));
    let code = loop {
        if let Some(status) = child.try_wait()? {
            let signal = processes::signal_of(status);
            break Some(status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0)));
        }
        if deadline.is_none_or(|deadline| Instant::now() >= deadline) {
            end(&mut child);
            break None;
        }
        thread::sleep(TICK);
    };
    // A process that it left behind may hold the pipe open for ever.
    let bytes = output.recv_timeout(REST).unwrap_or_default();
    Ok(ConsultOutput { code, output: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Writes the input and reads the output at the same time, so that neither side waits for the other.
fn speak(child: &mut Child, input: Vec<u8>, most: usize) -> mpsc::Receiver<Vec<u8>> {
    let (sender, output) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read its input is no failure.
        thread::spawn(move || stdin.write_all(&input));
    }
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut kept = Vec::new();
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                let room = most.saturating_sub(kept.len()).min(count);
                kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
            let _nobody_waits = sender.send(kept);
        });
    }
    output
}

fn end(child: &mut Child) {
    processes::end_group(child.id());
    let _gone = child.kill();
    let _reaped = child.wait();
}

/// True where standard input is a terminal, so that an editor has a person to talk to.
pub fn has_person() -> bool {
    io::stdin().is_terminal()
}

/// Opens `file` with `editor` and waits for its end; whether it ended well.
///
/// # Errors
/// When it cannot be started.
pub fn edit(editor: &str, file: &Path) -> io::Result<bool> {
    #[allow(clippy::disallowed_methods, reason = "the door to the person's editor")]
    let mut command = Command::new("sh");
    // `vim -f`, or a path with blanks that is quoted: what git accepts.
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Span;

    fn sh(script: &str, seconds: u64) -> Program {
        Program { argv: vec!["sh".into(), "-c".into(), script.into()], timeout: Span(seconds) }
    }

    fn ran(program: &Program, input: &[u8], most: usize) -> ConsultOutput {
        run(program, Path::new("/"), input, most).unwrap()
    }

    #[test]
    fn input_goes_in_and_the_beginning_of_the_output_comes_back() {
        let echo = ran(&sh("cat", 10), b"hello", 100);
        assert_eq!((echo.code, echo.output.as_str()), (Some(0), "hello"));
        let cut = ran(&sh("head -c 100000 /dev/zero | tr '\\0' x; exit 3", 10), &vec![b'i'; 200_000], 10);
        assert_eq!((cut.code, cut.output.as_str()), (Some(3), "xxxxxxxxxx"));
        assert!(run(&Program { argv: vec![], timeout: Span(1) }, Path::new("/"), b"", 1).is_err());
        let none = Program { argv: vec!["/no/such/program".into()], timeout: Span(1) };
        assert!(run(&none, Path::new("/"), b"", 1).is_err());
    }

    #[test]
    fn the_time_is_limited_for_it_and_its_children() {
        let begun = Instant::now();
        assert_eq!(ran(&sh("sleep 60 & sleep 60", 1), b"", 10).code, None);
        assert!(begun.elapsed() < Duration::from_secs(20));
        // A child that is left behind with the pipe in its hands.
        let left = ran(&sh("sleep 30 & echo done", 10), b"", 10);
        assert_eq!(left.code, Some(0));
        assert!(begun.elapsed() < Duration::from_secs(25));
    }
}
