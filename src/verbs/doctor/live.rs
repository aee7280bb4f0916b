//! `andon doctor --live`: a test notice to who is called, and a canary through each hook that was installed. Its command is started as the client would start it,
//! with a tool call that is always refused: what answers in time and leaves its fact is live.

use std::time::{Duration, Instant};
use std::{io, path::Path};

use super::{Check, State};
use crate::install::clients::{place::files, started};
use crate::install::{Scope, SettingsState};
use crate::setup::{ClientHooks, clients::roots};
use andon_agents::{canary, has_refused};
use andon_core::domain::{CANARY, Client, Hint, Notice, NoticeKind, Program, Span};
use andon_engine::effect::{best_effort, consult};
use andon_engine::{Context, Workspace};
use andon_git::Repo;
use andon_store::Journal;

#[derive(Debug)]
struct CanaryResult {
    client: Client,
    scope: Scope,
    /// `None` where the settings start nothing at that event.
    answer: Option<io::Result<HookAnswer>>,
    /// The hook kept the fact of it.
    kept: bool,
    /// The program of the client is on the PATH, where it has one.
    client_is_here: bool,
}

/// Sends a canary through the hooks of each client that has ours.
pub(super) fn live(ctx: &Context, repo: &Repo, clients: &[ClientHooks]) -> Vec<Check> {
    let mut checks = Vec::new();
    for hooks in clients {
        for place in hooks.installed() {
            // Other commands in settings may be anyone's, and are not started.
            let sent =
                (place.state == SettingsState::Installed).then(|| send(ctx, repo, hooks.client, place.scope));
            checks.push(sent.map_or_else(|| outdated(hooks.client, place.scope), |heard| judge(&heard)));
        }
    }
    if checks.is_empty() {
        let message = "no client has hooks of andon: nothing was sent";
        let hint = Some(Hint::AgentInstallAny.into());
        checks.push(Check::new("live", State::Ok, message, hint));
    }
    notice(ctx, repo).into_iter().chain(checks).collect()
}

/// Sends a test notice to the program of `[notify]`.
fn notice(ctx: &Context, repo: &Repo) -> Option<Check> {
    let ws = Workspace::open_lenient(ctx).ok()?;
    let (episode, worktree) = (format!("test:{}", ctx.now.0), repo.worktree_name());
    let message = "a test by andon doctor --live: nothing has happened".to_owned();
    let told = Notice { message, ..Notice::new(NoticeKind::Test, episode, worktree, ctx.now) };
    let called = best_effort::call(&told, &ws.site(ctx));
    let own =
        || "name it in ~/.config/andon/config.toml under [notify]:  command = [\"my-notifier\"]".to_owned();
    Some(match called {
        None => Check::warn("notify", "nobody is called when the loop halts: [notify] is not set", own()),
        Some(Ok(())) => Check::ok("notify", "the program of [notify] took a test notice"),
        Some(Err(error)) => Check::fail("notify", error.to_string(), own()),
    })
}

fn outdated(client: Client, scope: Scope) -> Check {
    let (name, title, scope) = (client.as_str(), client.title(), scope.as_str());
    let message =
        format!("{title} ({scope}): nothing was sent, its hooks are not as they would be installed now");
    Check::fail(format!("live-{name}"), message, Hint::AgentInstall.with([name, scope]))
}

fn send(ctx: &Context, repo: &Repo, client: Client, scope: Scope) -> CanaryResult {
    let session = format!("{CANARY}{}-{}", ctx.now.0, scope.as_str());
    let (event, payload) = canary(client, &session);
    let dir: &Path = repo.workdir().unwrap_or(&ctx.cwd);
    let shell = ctx.var("SHELL").unwrap_or("sh");
    let files = files(client, scope, &roots(ctx, Some(repo)));
    let argv = files.iter().find_map(|file| started(file, event, shell));
    let answer = argv.map(|argv| start(argv, dir, &payload));
    let facts = Journal::of_agents(repo.git_dir()).agent_facts();
    let kept = facts.iter().any(|fact| fact.client == client && fact.session.as_deref() == Some(&session));
    let client_is_here = client.program().is_none_or(|program| ctx.on_path(program).is_some());
    CanaryResult { client, scope, answer, kept, client_is_here }
}

fn judge(heard: &CanaryResult) -> Check {
    let CanaryResult { client, scope, answer, kept, client_is_here } = heard;
    let (name, title) = (client.as_str(), client.title());
    let again = Hint::AgentInstall.with([name, scope.as_str()]);
    let (state, what, hint) = match answer {
        None => (State::Fail, "its settings start nothing before a tool".to_owned(), Some(again)),
        Some(Err(error)) => (State::Fail, format!("its hook cannot be started: {error}"), Some(again)),
        Some(Ok(answer)) => {
            let took = answer.took.as_millis();
            let refused = has_refused(*client, answer.code, &answer.output);
            match (answer.code, refused, kept) {
                (None, _, _) => {
                    let what = format!("its hook gave no answer within {} s", PATIENCE.0);
                    (State::Fail, what, Some(Hint::Doctor.into()))
                }
                (_, true, true) => (State::Ok, format!("its hook refused the canary in {took} ms"), None),
                (_, true, false) => {
                    let what = format!("its hook refused the canary in {took} ms, and no fact of it is here");
                    (State::Fail, what, Some(Hint::Doctor.into()))
                }
                (Some(code), false, kept) => {
                    let fact = if *kept { "" } else { ", and no fact of it is here" };
                    let what = format!("its hook ended with {code} and refused nothing{fact}");
                    (State::Fail, what, Some(again))
                }
            }
        }
    };
    let absent = if *client_is_here { "" } else { " (the client itself is not on the PATH)" };
    let message = format!("{title} ({}): {what}{absent}", scope.as_str());
    Check::new(format!("live-{name}"), state, message, hint)
}

const PATIENCE: Span = Span(10);
/// Most bytes of an answer that are kept.
const MAX_ANSWER: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
struct HookAnswer {
    /// Exit code; `None` when the time was up.
    code: Option<i32>,
    /// The beginning of its standard output.
    output: String,
    /// Measured to ten milliseconds.
    took: Duration,
}

/// Starts `argv` in `dir` with `payload` on its standard input.
///
/// # Errors
/// When it cannot be started.
fn start(argv: Vec<String>, dir: &Path, payload: &str) -> io::Result<HookAnswer> {
    let begun = Instant::now();
    let program = Program { argv, timeout: PATIENCE };
    let consulted = consult::run(&program, dir, payload.as_bytes(), MAX_ANSWER)?;
    Ok(HookAnswer { code: consulted.code, output: consulted.output, took: begun.elapsed() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let answer = |code, output: &str| {
            Some(Ok(HookAnswer { code, output: output.to_owned(), took: Duration::from_millis(12) }))
        };
        let heard = |client, answer, kept| {
            let client_is_here = client != Client::Goose;
            CanaryResult { client, scope: Scope::Project, answer, kept, client_is_here }
        };
        let absent = || Some(Err(io::Error::from(io::ErrorKind::NotFound)));
        let cases = [
            heard(Client::Claude, answer(Some(2), ""), true),
            heard(Client::Cline, answer(Some(0), "{\"overrideInput\":{}}"), true),
            heard(Client::Claude, answer(Some(2), ""), false),
            heard(Client::Gemini, answer(Some(0), ""), false),
            heard(Client::Gemini, answer(Some(0), ""), true),
            heard(Client::Codex, answer(None, ""), false),
            heard(Client::Codex, absent(), false),
            heard(Client::Goose, None, false),
        ];
        let checks: Vec<Check> = cases.iter().map(judge).collect();
        insta::assert_snapshot!(super::super::Diagnosis { checks }.to_text(andon_engine::text::Style::Plain));
    }
}
