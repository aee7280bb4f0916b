//! The trust of clients in the hooks that were installed: some ask their person first, each in its own way.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{path::Path, sync::mpsc, thread};

use serde_json::Value;

use crate::install::clients::place::{Roots, Scope};
use andon_core::domain::{agent::Client, client_spec::TrustBy};
use andon_engine::context::Context;

/// Most time that a client may take to list what it trusts.
const PATIENCE: Duration = Duration::from_secs(10);
/// A list of trusted folders is no longer than this.
const MAX_TRUST_BYTES: u64 = 1024 * 1024;

andon_core::named_enum! {
    /// The trust of a client in hooks that were installed.
    pub enum Trust {
        /// It needs no trust.
        NotNeeded = "not needed",
        /// A person has trusted them.
        Given = "yes",
        /// No one has, so that the client starts none of them.
        Missing = "no",
        /// The client, or its list, is not here to be asked.
        Unknown = "unknown",
    }
}

/// The trust of `client` in hooks that were installed in these scopes.
pub(super) fn trust(ctx: &Context, client: Client, installed: &[Scope], roots: &Roots) -> Trust {
    let in_user = installed.contains(&Scope::User);
    let in_project = installed.contains(&Scope::Project);
    match client.spec().trust {
        TrustBy::Codex if in_user || in_project => codex_trust(ctx, roots),
        TrustBy::Folders(list) if in_project && !in_user => listed_trust(list, roots),
        TrustBy::Unlisted if in_project && !in_user => Trust::Unknown,
        TrustBy::NoOne | TrustBy::Codex | TrustBy::Folders(_) | TrustBy::Unlisted => Trust::NotNeeded,
    }
}

/// Asks Codex itself (`hooks/list`): it keeps what it trusts by a hash that only it knows to make.
fn codex_trust(ctx: &Context, roots: &Roots) -> Trust {
    if ctx.on_path("codex").is_none() {
        return Trust::Unknown;
    }
    let dir = roots.project.as_deref().unwrap_or(&ctx.cwd);
    let Some(dir_text) = dir.to_str() else { return Trust::Unknown };
    let lines = [
        serde_json::json!({"id": 1, "method": "initialize",
            "params": {"clientInfo": {"name": "andon", "version": env!("CARGO_PKG_VERSION")}}}),
        serde_json::json!({"method": "initialized"}),
        serde_json::json!({"id": 2, "method": "hooks/list", "params": {"cwds": [dir_text]}}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = ask(&["codex", "app-server"], dir, &input, is_hooks_list, PATIENCE);
    answer.ok().flatten().map_or(Trust::Unknown, |line| trust_in(&line))
}

fn is_hooks_list(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|answer| answer.get("id") == Some(&Value::from(2)))
}

/// The trust that an answer to `hooks/list` shows in our hooks.
fn trust_in(line: &str) -> Trust {
    let answer: Value = serde_json::from_str(line).unwrap_or_default();
    let Some(places) = answer.pointer("/result/data").and_then(Value::as_array) else {
        return Trust::Unknown;
    };
    let hooks = places.iter().filter_map(|place| place.get("hooks")).filter_map(Value::as_array).flatten();
    let text =
        |hook: &Value, name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut ours = hooks.filter(|hook| text(hook, "command").contains(" agent hook codex ")).peekable();
    let trusted = |hook: &Value| {
        matches!(text(hook, "trustStatus").as_str(), "trusted" | "managed")
            && hook.get("enabled").and_then(Value::as_bool) != Some(false)
    };
    if ours.peek().is_some() && ours.all(trusted) { Trust::Given } else { Trust::Missing }
}

/// The trust that a client keeps in that file of the home directory.
fn listed_trust(list: &str, roots: &Roots) -> Trust {
    let (Some(home), Some(project)) = (&roots.home, &roots.project) else { return Trust::Unknown };
    let path = home.join(list);
    let read = std::fs::metadata(&path).is_ok_and(|facts| facts.len() <= MAX_TRUST_BYTES);
    let text = if read { std::fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    folder_trust(&text, project)
}

fn folder_trust(text: &str, project: &Path) -> Trust {
    let rules: Value = serde_json::from_str(text).unwrap_or_default();
    let rules = rules.as_object().into_iter().flatten();
    let trusts = |folder: &String, level: &Value| match level.as_str() {
        Some("TRUST_FOLDER") => project.starts_with(folder),
        Some("TRUST_PARENT") => Path::new(folder).parent().is_some_and(|parent| project.starts_with(parent)),
        _ => false,
    };
    if rules.into_iter().any(|(folder, level)| trusts(folder, level)) { Trust::Given } else { Trust::Missing }
}

/// Most bytes that are read before an answer is given up.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;
/// Most time that it may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

/// Starts `argv` in `dir`, writes `input` and returns the first line that `is_answer`; `None` where none came within
/// `limit`.
///
/// # Errors
/// When the program cannot be started.
fn ask(
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
    fn codex_says_what_it_trusts() {
        let answer =
            |hooks: &str| format!(r#"{{"id":2,"result":{{"data":[{{"cwd":"/p","hooks":[{hooks}]}}]}}}}"#);
        let hook = |trust: &str, more: &str| {
            format!(r#"{{"command":"andon agent hook codex Stop","trustStatus":"{trust}"{more}}}"#)
        };
        let other = r#"{"command":"mine","trustStatus":"untrusted"}"#;
        let cases = [
            (answer(""), Trust::Missing),
            (answer(&hook("trusted", "")), Trust::Given),
            (answer(&hook("untrusted", "")), Trust::Missing),
            (answer(&hook("modified", "")), Trust::Missing),
            (answer(&hook("trusted", r#","enabled":false"#)), Trust::Missing),
            (
                answer(
                    &[hook("managed", ""), hook("trusted", r#","enabled":true"#), other.to_owned()].join(","),
                ),
                Trust::Given,
            ),
            (answer(&[hook("trusted", ""), hook("untrusted", "")].join(",")), Trust::Missing),
            (r#"{"id":2,"error":{"code":-32601}}"#.to_owned(), Trust::Unknown),
            ("no json".to_owned(), Trust::Unknown),
        ];
        for (line, wanted) in cases {
            assert_eq!(trust_in(&line), wanted, "{line}");
        }
        assert!(is_hooks_list(&answer("")) && !is_hooks_list(r#"{"id":1}"#) && !is_hooks_list("x"));
    }

    #[test]
    fn gemini_trusts_folders_and_those_in_them() {
        let cases = [
            (r#"{"/w/p":"TRUST_FOLDER"}"#, Trust::Given),
            (r#"{"/w":"TRUST_FOLDER","/w/p":1}"#, Trust::Given),
            (r#"{"/w/other":"TRUST_PARENT"}"#, Trust::Given),
            (r#"{"/w/p":"DO_NOT_TRUST"}"#, Trust::Missing),
            (r#"{"/w/pp":"TRUST_FOLDER"}"#, Trust::Missing),
            ("", Trust::Missing),
            ("[]", Trust::Missing),
        ];
        for (text, wanted) in cases {
            assert_eq!(folder_trust(text, Path::new("/w/p")), wanted, "{text}");
        }
    }

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
