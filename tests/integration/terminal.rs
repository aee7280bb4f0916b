//! `andon test` on a terminal: the command sees one too, and what is shown is what it would show without us.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs::File, io::Read as _};

use insta::assert_snapshot;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Stage, andon_path};

const SIZE: Winsize = Winsize { ws_row: 17, ws_col: 61, ws_xpixel: 0, ws_ypixel: 0 };

/// A program whose output goes to terminals of ours.
struct RunningProgram {
    child: Child,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
    screen: OwnedFd,
}

/// What was shown in the end.
struct FinalScreen {
    code: i32,
    out: String,
    err: String,
}

/// Reads a terminal to its end, piece by piece.
fn read(mut master: File) -> Receiver<Vec<u8>> {
    let (sender, pieces) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}

fn start(mut command: Command) -> RunningProgram {
    let [out, err] = [(); 2].map(|()| openpty(&SIZE, None).unwrap());
    let screen = out.master.try_clone().unwrap();
    command.stdin(Stdio::null()).stdout(out.slave).stderr(err.slave);
    let child = command.spawn().unwrap();
    // With the command its copies of the ends go that are not ours.
    drop(command);
    RunningProgram { child, out: read(File::from(out.master)), err: read(File::from(err.master)), screen }
}

impl RunningProgram {
    fn end(mut self) -> FinalScreen {
        // A byte a character: the output may be no text.
        let text = |pieces: &Receiver<Vec<u8>>| pieces.iter().flatten().map(char::from).collect::<String>();
        let (out, err) = (text(&self.out), text(&self.err));
        FinalScreen { code: self.child.wait().unwrap().code().unwrap_or(-1), out, err }
    }

    /// Waits until standard output has said `word`.
    fn said(&self, word: &str) {
        let mut said = Vec::new();
        while !String::from_utf8_lossy(&said).contains(word) {
            said.extend(self.out.recv_timeout(Duration::from_secs(30)).unwrap());
        }
    }
}

fn andon(stage: &Stage, args: &[&str]) -> Command {
    let mut command = stage.command(stage.dir(), andon_path());
    command.args(args);
    command
}

fn sh(stage: &Stage, script: &str) -> Command {
    let mut command = stage.command(stage.dir(), "sh");
    command.args(["-c", script]);
    command
}

#[test]
fn what_is_shown_is_what_the_command_shows_without_us() {
    let stage = Stage::installed();
    let scripts = [
        "test -t 1 && test -t 2 && echo both; stty size <&1; stty size <&2; echo ${NO_COLOR-unset}",
        "printf '\\033[32mgreen\\033[0m\\r\\033[K1/2\\r2/2\\ntab\\tbell\\007\\nno line end'",
        "echo out; echo err >&2; printf '\\xff\\xfe\\0'; exit 3",
        "yes 0123456789 | head -c 300000; exit 1",
    ];
    for (script, no_color) in scripts.into_iter().zip([None, Some("1"), None, None]) {
        no_color.map_or_else(|| stage.unset("NO_COLOR"), |value| stage.set("NO_COLOR", value));
        let alone = start(sh(&stage, script)).end();
        let within = start(andon(&stage, &["test", "--", "sh", "-c", script])).end();
        assert_eq!((within.code, &within.out), (alone.code, &alone.out), "{script}");
        assert!(within.err.starts_with(&alone.err), "{script}: {} / {}", within.err, alone.err);
    }
    let shown = start(andon(&stage, &["test", "--", "sh", "-c", scripts[0]])).end();
    assert_eq!(shown.out, "both\r\n17 61\r\n17 61\r\nunset\r\n");
    stage.set("NO_COLOR", "1");
    let shown = start(andon(&stage, &["test", "--", "sh", "-c", scripts[0]])).end();
    assert!(shown.out.ends_with("17 61\r\n1\r\n"), "{}", shown.out);
}

#[test]
fn a_stream_that_goes_elsewhere_is_no_terminal() {
    let stage = Stage::installed();
    let script = "test -t 1 || echo no >&2; test -t 2 && echo yes >&2";
    let err = openpty(&SIZE, None).unwrap();
    let mut command = andon(&stage, &["test", "--", "sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(err.slave);
    let child = command.spawn().unwrap();
    drop(command);
    let pieces = read(File::from(err.master));
    child.wait_with_output().unwrap();
    let said = String::from_utf8(pieces.iter().flatten().collect()).unwrap();
    assert!(said.starts_with("no\r\nyes\r\n"), "{said}");
    assert_snapshot!(
        stage.andon(&["test", "--", "sh", "-c", "test -t 1 || test -t 2 || echo neither"]).shown(),
        @"
    exit 0
    --- stdout
    neither
    --- stderr
    warning: the exit code is that of `echo`, and nothing else tells how the tests ended
    warning[test-run]: this is not the configured test.command; the run is kept, and proves nothing
      help: andon test
    "
    );
}

#[test]
fn output_in_colours_with_progress_is_read() {
    let stage = Stage::installed();
    stage.write(
        "check.sh",
        "test -t 1 || exit 9\nprintf '1..2\\n\\033[32mok 1 - a\\033[0m\\n 50%%\\r\\033[K\\033[31mnot ok 2 - b\\033[0m\\r\\n'; exit 1\n",
    );
    let shown = start(andon(&stage, &["test"])).end();
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    stage.commit_of(".", "Red");
    let tests = &stage.record("HEAD")["tests"];
    assert_eq!((tests["runner"].as_str(), tests["total"].as_u64()), (Some("tap"), Some(2)), "{tests}");
    assert_eq!(tests["failing"], serde_json::json!(["b"]));
}

#[test]
fn the_size_follows_the_terminal() {
    let stage = Stage::installed();
    let script = "trap 'stty size <&1; exit 0' WINCH; echo ready; while :; do sleep 0.1; done";
    let running = start(andon(&stage, &["test", "--", "sh", "-c", script]));
    running.said("ready");
    let mut size = rustix::termios::tcgetwinsize(&running.screen).unwrap();
    size.ws_col = 99;
    rustix::termios::tcsetwinsize(&running.screen, size).unwrap();
    let pid = i32::try_from(running.child.id()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGWINCH).unwrap();
    let shown = running.end();
    assert_eq!((shown.code, shown.out.as_str()), (0, "17 99\r\n"), "{}", shown.err);
}

#[test]
fn a_process_that_stays_behind_with_the_terminal_is_not_waited_for() {
    let stage = Stage::installed();
    let begun = Instant::now();
    let running = start(andon(&stage, &["test", "--", "sh", "-c", "sleep 60 & echo done"]));
    running.said("done");
    let mut child = running.child;
    child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// A text without what sets colours: `ESC [ ... m`.
fn uncoloured(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').unwrap().1)
}

#[test]
fn help_and_usage_errors_are_coloured_where_a_terminal_shows_them() {
    let stage = Stage::installed();
    stage.unset("NO_COLOR");
    stage.set("TERM", "xterm");
    let cases: [(&[&str], i32); 3] =
        [(&["--help"], 0), (&["status", "--help"], 0), (&["status", "--such"], 2)];
    for (args, code) in cases {
        let coloured = start(andon(&stage, args)).end();
        let text = |shown: &FinalScreen| format!("{}{}", shown.out, shown.err);
        assert_eq!(coloured.code, code);
        assert!(text(&coloured).contains("\u{1b}["), "{args:?}: {}", text(&coloured));
        for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            stage.set(name, value);
            let plain = start(andon(&stage, args)).end();
            assert_eq!(text(&plain), uncoloured(&text(&coloured)), "{name}={value}");
            stage.unset(name);
        }
        stage.set("TERM", "xterm");
        let never = start(andon(&stage, &[args, &["--color=never"]].concat())).end();
        assert!(!text(&never).contains('\u{1b}'), "{args:?}");
        assert!(!stage.andon(args).all().contains('\u{1b}'), "{args:?} off a terminal");
    }
}
