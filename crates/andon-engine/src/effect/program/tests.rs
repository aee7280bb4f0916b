#![allow(clippy::disallowed_methods, reason = "tests start themselves as a second process")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::{SentSignal, *};

fn env() -> Environment {
    let inherited = std::env::vars_os().filter(|(name, _)| name != "CARGO_PKG_NAME");
    inherited.chain([("ANDON_SET".into(), "yes".into())]).collect()
}

fn at<'a>(directory: &'a str, environment: &'a Environment) -> Surroundings<'a> {
    const NONE: Screens = Screens { stdout: None, stderr: None };
    Surroundings { directory: Path::new(directory), environment, screens: &NONE, at_end: &|| () }
}

fn run_test_command(
    spec: &TestCommand,
    around: Surroundings<'_>,
    timeout: Option<Span>,
    sink: &mut dyn FnMut(Stream, &[u8]),
) -> Result<ProgramEnd, ProgramError> {
    Signals::hold()?.run(spec, around, timeout, sink)
}

fn run(script: &str, timeout: Option<u64>) -> (ProgramEnd, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let spec = TestCommand::Shell(script.to_owned());
    let mut sink = |stream: Stream, bytes: &[u8]| match stream {
        Stream::Stdout => out.extend_from_slice(bytes),
        Stream::Stderr => err.extend_from_slice(bytes),
    };
    let end = run_test_command(&spec, at("/", &env()), timeout.map(Span), &mut sink).unwrap();
    (end, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn exit_codes_and_signals_come_through() {
    let cases = [
        ("exit 0", CommandExit::Code(0), 0),
        ("exit 3", CommandExit::Code(3), 3),
        ("no-such-program-anywhere 2>/dev/null", CommandExit::Code(127), 127),
        ("kill -ABRT $$", CommandExit::Signal(6), 134),
        ("kill -KILL $$", CommandExit::Signal(9), 137),
        ("kill -40 $$", CommandExit::Signal(40), 168),
    ];
    for (script, exit, code) in cases {
        let (end, ..) = run(script, None);
        assert_eq!((end.exit, end.stopped, end.code()), (exit, StopCause::No, code), "{script}");
    }
}

#[test]
fn both_streams_directory_and_environment() {
    let (_, out, err) = run("pwd; echo $ANDON_SET ${CARGO_PKG_NAME-gone}; echo oops >&2", None);
    assert_eq!((out.as_str(), err.as_str()), ("/\nyes gone\n", "oops\n"));
}

#[test]
fn the_command_inherits_no_signal_that_is_held_back() {
    let argv = ["grep", "SigBlk", "/proc/self/status"].map(str::to_owned).to_vec();
    let mut out = Vec::new();
    let mut sink = |_: Stream, bytes: &[u8]| out.extend_from_slice(bytes);
    run_test_command(&TestCommand::Argv(argv), at("/", &env()), None, &mut sink).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "SigBlk:\t0000000000000000\n");
}

#[test]
fn output_comes_live_and_in_order() {
    let (start, mut seen) = (Instant::now(), Vec::new());
    let spec = TestCommand::Shell("echo one; sleep 0.4; echo two >&2; sleep 0.4; echo three".to_owned());
    let mut sink = |_: Stream, bytes: &[u8]| seen.push((start.elapsed(), bytes.to_vec()));
    run_test_command(&spec, at("/", &env()), None, &mut sink).unwrap();
    let words: Vec<&[u8]> = seen.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(words, [&b"one\n"[..], b"two\n", b"three\n"]);
    assert!(seen[2].0.saturating_sub(seen[0].0) >= Duration::from_millis(500), "{seen:?}");
}

#[test]
fn much_output_is_whole() {
    let (_, out, _) = run("i=0; while [ $i -lt 20000 ]; do echo line number $i; i=$((i+1)); done", None);
    assert_eq!(out.lines().count(), 20_000);
    assert!(out.ends_with("line number 19999\n"));
}

#[test]
fn a_timeout_ends_the_command_and_what_it_started() {
    let start = Instant::now();
    let (end, out, _) = run("echo before; sleep 60; echo after", Some(1));
    assert_eq!((end.stopped, out.as_str()), (StopCause::TimedOut, "before\n"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// As on a terminal, where the command is in our own process group.
#[test]
#[cfg(target_os = "linux")]
fn in_our_group_a_signal_reaches_what_the_command_started() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 60 & echo $!; wait; exit 5"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    Group::Ours.send(Pid::from_raw(i32::try_from(child.id()).unwrap()), SentSignal::Terminate);
    // The pipe closes when `sleep`, which holds it too, is gone.
    let start = Instant::now();
    out.read_to_string(&mut line).unwrap();
    child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn a_command_that_ignores_sigterm_is_killed() {
    let (end, ..) = run("trap '' TERM; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done", Some(1));
    assert_eq!((end.exit, end.stopped), (CommandExit::Signal(9), StopCause::TimedOut));
}

#[test]
fn a_process_left_behind_with_the_pipe_is_not_waited_for() {
    let start = Instant::now();
    let (end, out, _) = run("sleep 30 & echo left; exit 4", None);
    assert_eq!((end.exit, out.as_str()), (CommandExit::Code(4), "left\n"));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn the_command_starts_with_no_signal_held_back() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let (_, out, _) = run("grep SigBlk /proc/self/status", None);
    assert_eq!(out.trim().trim_start_matches("SigBlk:").trim().trim_matches('0'), "");
}

#[test]
fn what_cannot_start_says_so() {
    let fails = |spec: TestCommand, root: &str| {
        run_test_command(&spec, at(root, &env()), None, &mut |_, _| {}).unwrap_err().to_string()
    };
    let missing = fails(TestCommand::Argv(vec!["no-such-program-anywhere".into()]), "/");
    assert_eq!(missing, "no-such-program-anywhere: command not found");
    insta::assert_snapshot!(fails(TestCommand::Argv(Vec::new()), "/"), @"the test command is empty");
    insta::assert_snapshot!(fails(TestCommand::Shell(" ".into()), "/"), @"the test command is empty");
    insta::assert_snapshot!(fails(TestCommand::Argv(vec!["/etc/passwd".into()]), "/"), @"/etc/passwd could not be started: Permission denied (os error 13)");
    insta::assert_snapshot!(fails(TestCommand::Shell("true".into()), "/no/such/dir"), @"cannot run the test command in /no/such/dir: no such directory");
}

/// Not a test of its own: the process that [`signals_are_forwarded`] starts and sends a signal to.
#[test]
#[ignore = "the second process of signals_are_forwarded"]
fn second_process() {
    let script = "trap 'echo got TERM; exit 7' TERM; trap 'echo got INT; exit 8' INT; trap 'echo got HUP; exit 9' HUP\n\
                  echo ready; i=0; while [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; exit 1";
    let mut stdout = io::stdout();
    let mut sink = |_: Stream, bytes: &[u8]| {
        stdout.write_all(bytes).unwrap();
        stdout.flush().unwrap();
    };
    let spec = TestCommand::Shell(script.to_owned());
    let end = run_test_command(&spec, at("/", &env()), None, &mut sink).unwrap();
    println!("end {} {:?}", end.code(), end.stopped);
}

/// The second process gets the signals held back in all its threads from `env --block-signal`, as the real
/// program, which has one thread, holds them back itself.
#[test]
#[cfg(target_os = "linux")]
fn signals_are_forwarded() {
    let cases = [("TERM", "got TERM", "end 7 Forwarded(15)"), ("INT", "got INT", "end 8 Forwarded(2)")];
    for (signal, heard, ended) in cases.into_iter().chain([("HUP", "got HUP", "end 9 Forwarded(1)")]) {
        let mut second = Command::new("env")
            // A shell that starts the tests in the background has INT ignored for them, `nohup` HUP; what is
            // ignored at the start cannot be trapped.
            .arg("--default-signal=INT,TERM,HUP,QUIT")
            .arg("--block-signal=INT,TERM,HUP,QUIT,CHLD")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "effect::program::tests::second_process", "--ignored", "--nocapture"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(second.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "the second process ended early");
        }
        let mut kill = Command::new("kill");
        assert!(kill.args(["-s", signal, &second.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        second.wait().unwrap();
        assert!(rest.contains(heard) && rest.contains(ended), "{signal}: {rest}");
    }
}
