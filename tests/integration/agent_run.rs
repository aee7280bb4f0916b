//! `andon agent run`: the client is started unless the loop is halted, and the exit code says whether it is.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::support::{Stage, andon_path};

/// A stage with a `claude` on its PATH that runs `script` and keeps what it was started with.
fn with_client(stage: &Stage, script: &str) {
    let bin = stage.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let text = format!("#!/bin/sh\necho \"$@\" >> '{}'\n{script}\n", stage.root().join("started").display());
    std::fs::write(bin.join("claude"), text).unwrap();
    std::fs::set_permissions(bin.join("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    stage.set("PATH", &format!("{}:{path}", bin.display()));
}

fn started(stage: &Stage) -> String {
    std::fs::read_to_string(stage.root().join("started")).unwrap_or_default()
}

#[test]
fn arguments_streams_and_exit_code_are_the_clients() {
    let stage = Stage::installed();
    with_client(&stage, "cat; echo told >&2; exit 7");
    let run = ["agent", "run", "claude", "--", "-p", "go on", "--halt"];
    let out = stage.feed(&run, b"the prompt\n").exits(7);
    assert_eq!((out.stdout.as_str(), out.stderr.as_str()), ("the prompt\n", "told\n"));
    assert_eq!(started(&stage), "-p go on --halt\n");
    with_client(&stage, "kill -TERM $$");
    stage.andon(&["agent", "run", "claude"]).exits(128 + 15);
    stage.andon(&["agent", "run", "codex", "--", "exec"]).exits(127).says("codex: command not found");
    stage.andon(&["agent", "run", "cline"]).exits(2).says("andon agent run cline -- PROGRAM");
    stage.andon(&["agent", "run", "cline", "--", "sh", "-c", "exit 4"]).exits(4);
    stage.andon(&["agent", "run", "nobody"]).exits(2);
}

#[test]
fn nothing_is_started_while_the_loop_is_halted() {
    let stage = Stage::installed();
    with_client(&stage, "");
    for code in ["1\n", "2\n", "3\n"] {
        stage.iterate(code, &["ok a", "not ok b"], "Try").ok();
    }
    let out = stage.andon(&["agent", "run", "claude", "--", "-p", "x"]).exits(1);
    out.says("agent not started: halted").says("repeated-failures");
    assert_eq!(started(&stage), "");
    stage.set("ANDON", "0");
    stage.andon(&["agent", "run", "claude", "--", "off"]).ok();
    stage.unset("ANDON");
    stage.steps("andon resume -r 'read the error first'; andon agent run claude -- on");
    stage.write(".andon/STOP", "");
    stage.andon(&["agent", "run", "claude", "--", "stopped"]).exits(1).says("user-stop");
    assert_eq!(started(&stage), "off\non\n");
}

#[test]
fn a_bare_while_ends_with_the_halt() {
    let stage = Stage::installed();
    let andon = andon_path();
    let turn = format!(
        "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; echo $n > code.txt; echo 'not ok b' > tests.txt\n\
         {0} test > /dev/null 2>&1; git commit -qam \"Try $n\"; exit 0",
        andon.display()
    );
    with_client(&stage, &turn);
    stage.write(".gitignore", "n\n");
    let bare = format!("while {} agent run claude -- -p go; do :; done", andon.display());
    let out = stage.run_in(stage.dir(), "sh", &["-c", &bare], None);
    out.says("repeated-failures");
    assert_eq!(started(&stage).lines().count(), 3, "the third is the last");
}

#[test]
fn a_signal_reaches_the_client() {
    let stage = Stage::installed();
    with_client(&stage, "trap 'echo cleaned; exit 9' TERM; echo ready; while :; do sleep 0.1; done");
    let mut command = stage.command(stage.dir(), andon_path());
    let mut child =
        command.args(["agent", "run", "claude"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert_eq!(line, "ready\n");
    let kill = ["-TERM", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
    line.clear();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("cleaned\n", Some(9)));
}
