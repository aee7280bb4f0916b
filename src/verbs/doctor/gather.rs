//! Looks at everything that is judged. Nothing here changes anything, and nothing reaches the network.

use std::{fs, path::PathBuf};

use super::{CallerFacts, Check, HooksPlace, RepositoryFacts, State};
use crate::install::{HookFile, HookState, Integration, Manifest, forward, inspect::inspect};
use crate::setup::place::{hooks_override, shared};
use crate::setup::{DISPLAY_REF_KEY, fetch_states, live};
use andon_core::domain::{
    AckMode, Diagnostic, Hint, Presence, RunValidity, TestEvidence, TestRun, plural::count,
};
use andon_engine::{Workspace, asking, halts::lost_halts};
use andon_git::{GitError, Repo, platform::files};
use andon_store::{Entry, Journal, Ledger, Reach, union::REMOTE_NOTES, wire::NOTES_REF};

/// Lock files are looked for among at most this many entries.
const MAX_ENTRIES: usize = 10_000;

pub fn gather(repo: &Repo, outside: CallerFacts) -> Result<RepositoryFacts, GitError> {
    let place = place(repo);
    let hooks = place.as_ref().ok().and_then(|place| place.hooks.as_ref().ok());
    Ok(RepositoryFacts {
        missing_programs: hooks.map(|hooks| missing_programs(hooks)).unwrap_or_default(),
        outside,
        place: place.map_err(|error| error.to_string()),
        manifest: Manifest::of(repo)
            .err()
            .map(|error| (Manifest::path(repo.common_dir()), error.to_string())),
        framework: presence(repo.workdir().filter(|top| live::names_andon(top))),
        display_refs: repo.config_sources(DISPLAY_REF_KEY)?,
        rewrite_refs: repo.config_sources("notes.rewriteRef")?,
        notes: presence(repo.ref_target(NOTES_REF)?),
        fetched: repo.refs_with_prefix(REMOTE_NOTES)?.into_iter().map(|(name, _)| name).collect(),
        commits: presence(repo.head()?.commit()),
        remotes: fetch_states(&repo.fetch_refspecs()?),
        locks: locks(repo),
        unwritable: unwritable(repo),
        is_shallow: repo.is_shallow(),
        is_partial: repo.is_partial(),
    })
}

fn place(repo: &Repo) -> Result<HooksPlace, GitError> {
    let dir = repo.hooks_dir()?;
    let decided_by = hooks_override(repo)?;
    // Shims are known without it.
    let manifest = Manifest::of(repo).unwrap_or_default();
    let hooks = inspect(&dir, &manifest).map_err(|error| error.to_string());
    let managed =
        manifest.mode.filter(|mode| *mode != Integration::Shim).map(|mode| (mode, live::look(repo)));
    let patches = presence(live::patches_since(repo, &dir));
    let shared = shared(repo)?;
    let leads_on = dir == forward::dir(repo.common_dir());
    Ok(HooksPlace { dir, decided_by, managed, patches, hooks, shared, leads_on })
}

fn missing_programs(hooks: &[HookState]) -> Vec<PathBuf> {
    let mut missing = Vec::new();
    for state in hooks {
        if let HookFile::Shim { program: Some(program), .. } = &state.standing
            && !live::starts(program)
            && !missing.contains(program)
        {
            missing.push(program.clone());
        }
    }
    missing
}

#[allow(clippy::needless_pass_by_value, reason = "only that there is one is asked")]
fn presence<T>(found: Option<T>) -> Presence {
    if found.is_some() { Presence::Present } else { Presence::Absent }
}

fn locks(repo: &Repo) -> Vec<PathBuf> {
    let common = repo.common_dir();
    let mut found: Vec<PathBuf> =
        Some(common.join("refs/notes/andon.lock")).into_iter().filter(|path| path.exists()).collect();
    let Ok(entries) = fs::read_dir(common.join("refs/andon/ledger")) else { return found };
    let ledgers = entries.take(MAX_ENTRIES).filter_map(Result::ok).map(|entry| entry.path());
    found.extend(ledgers.filter(|path| path.extension().is_some_and(|extension| extension == "lock")));
    found
}

/// Directories in which something is written for every commit, and may not be. Asked of the system: nothing is written.
fn unwritable(repo: &Repo) -> Vec<(PathBuf, String)> {
    let (own, common) = (repo.git_dir(), repo.common_dir());
    let mut asked =
        vec![own.join("andon"), common.join("andon"), common.join("objects"), common.join("refs")];
    asked.dedup();
    let denied = |dir: PathBuf| {
        let there = if dir.exists() { dir } else { dir.parent()?.to_owned() };
        let denied = files::check_writable(&there).err()?;
        Some((there, denied.kind().to_string()))
    };
    asked.into_iter().filter_map(denied).collect()
}

/// The state of a store of which `read` facts could be read, and `skipped` not.
fn store(id: &str, read: usize, what: &str, skipped: &[Diagnostic]) -> Check {
    let Some(first) = skipped.first() else {
        return Check::ok(id, format!("{} can be read", count(read, what)));
    };
    let all = count(read + skipped.len(), what);
    let message = format!("{} of {all} cannot be read, first: {first}", skipped.len());
    Check::new(id, State::Warn, message, first.help.first().cloned())
}

/// The newest part of the journal.
pub fn journal(ws: &Workspace) -> Check {
    let journal = Journal::open(ws.repo.git_dir());
    let (lines, skipped) = journal.read_tail();
    store("journal", lines.len(), "journal line", &skipped)
}

/// The last run of the tests, where there was nothing to run, or its exit code is all that is known.
pub fn last_run(ws: &Workspace) -> Option<Check> {
    let reach = Reach { runs: 1, commits: 0, turns: 0, since: None };
    let recent = Journal::open(ws.repo.git_dir()).recent(reach);
    let TestRun { validity, evidence, .. } = recent.runs.last()?;
    let exit_only = ws.config.test.format.is_some_and(|format| format.name() == TestEvidence::BY_EXIT_CODE);
    let command = &evidence.command;
    let (what, hint) = if *validity == RunValidity::NotStarted {
        let said = evidence.not_started.as_ref().unwrap_or(command);
        (format!("the last run of the tests could not be started: {said}"), Hint::Test.text())
    } else if *validity == RunValidity::Valid && evidence.is_by_exit_code() && !exit_only {
        let hint = "name a report under [test] in andon.toml: reports = [\"report.xml\"]; or, if the exit code is all there is \
                    to know: format = \"exit\"";
        (format!("no test is named in the last run of `{command}`: a pass does not count"), hint)
    } else {
        return None;
    };
    Some(Check::warn("test-run", what, hint))
}

/// A halt that left traces and is no more in the ledger.
fn gap(ws: &Workspace, entries: &[Entry]) -> Option<Check> {
    let head = ws.repo.head().ok()?.commit();
    let found = lost_halts::standing(ws, head).ok()??;
    let gone = !entries.iter().any(|entry| entry.id == found.id);
    let hint = Hint::SyncOrAnswer;
    gone.then(|| Check::fail("ledger", found.halt.message, hint))
}

/// The whole ledger.
pub fn ledger(ws: &Workspace) -> Check {
    match Ledger::open(&ws.repo).read_all() {
        Ok((entries, skipped)) => {
            gap(ws, &entries).unwrap_or_else(|| store("ledger", entries.len(), "ledger entry", &skipped))
        }
        Err(err) => Check::new("ledger", State::Fail, err.to_string(), err.help()),
    }
}

/// The answers that end a halt here, and who could give them all the same.
pub fn answers(ws: &Workspace) -> Check {
    match ws.config.guard.ack {
        AckMode::Delete => {
            let message = "guard.ack = \"delete\": an agent that deletes the report file answers its own halt, where nothing \
                           shows that it was the agent";
            let hint = Hint::AskForMore;
            Check::warn("answers", message, hint)
        }
        AckMode::Resume => Check::ok(
            "answers",
            "guard.ack = \"resume\": anyone who can run andon resume ends a halt; in the shell of an agent it refuses as far as \
             that can be seen",
        ),
        AckMode::Signed => signed(ws),
    }
}

fn signed(ws: &Workspace) -> Check {
    let broken = |message: String, hint| Check::fail("answers", message, hint);
    let ledger = match asking::load(ws) {
        Ok(ledger) => ledger,
        Err(err) => return broken(err.to_string(), Hint::VerifyLedger),
    };
    let policy = &ledger.folded.authority.at_end;
    if ledger.policy().is_none() {
        let id = ws.config.guard.ledger.map(asking::short).unwrap_or_default();
        return broken(
            format!("guard.ack = \"signed\", and ledger {id} is not here: no halt can end"),
            Hint::Sync,
        );
    }
    let witnesses: Vec<&str> = policy.witnesses.iter().map(String::as_str).collect();
    if witnesses.is_empty() {
        return broken(
            "guard.ack = \"signed\", and the policy names no witness".to_owned(),
            Hint::AddWitness,
        );
    }
    let unsigned = asking::unsigned_answers(ws).unwrap_or_default();
    if let Some(first) = unsigned.first() {
        return Check::warn("answers", first.message.clone(), &first.help);
    }
    let open = if policy.rules.require_touch {
        "a security key must be touched"
    } else {
        "anyone who can use a witness's key signs, such as by an unlocked ssh agent (rules.require_touch asks for a touch)"
    };
    Check::ok("answers", format!("guard.ack = \"signed\": only {} end a halt; {open}", witnesses.join(", ")))
}
