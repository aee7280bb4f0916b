//! The judgements of the doctor: pure, one function a subject.

use super::{Check, Diagnosis, HooksPlace, RepositoryFacts, State};
use crate::install::{HookFile, HookMode, HookState, Integration, Owner};
use crate::setup::{
    ClientHooks, FetchState, GuardState, Override, Trust, is_ours_alone, names_notes_ref, place::hooks_hint,
    quoted,
};
use andon_core::domain::{GitHook, Hint, Presence};
use andon_core::escape::shell_quote;
use andon_engine::test_program::TestProgram;
use andon_git::{ConfigScope, SourcedValue};
use andon_store::wire::NOTES_REF;

pub(super) fn checks(facts: &RepositoryFacts) -> Diagnosis {
    let mut checks = vec![program(facts)];
    checks.extend(switch(facts));
    checks.extend(hooks(facts));
    checks.extend(facts.manifest.as_ref().map(|(path, error)| {
        Check::warn("manifest", error.clone(), Hint::SetManifestAside.with([&quoted(path)]))
    }));
    checks.push(display_ref(facts));
    checks.extend(rewrite_refs(facts));
    checks.push(notes(facts));
    checks.extend(facts.remotes.iter().map(fetch));
    checks.push(facts.outside.config.clone());
    checks.push(test_command(facts));
    checks.extend(facts.outside.last_run.clone());
    checks.push(facts.outside.journal.clone());
    checks.push(facts.outside.ledger.clone());
    checks.push(facts.outside.answers.clone());
    checks.extend(facts.outside.clients.iter().filter_map(client));
    checks.extend(facts.locks.iter().map(|lock| {
        let hint = Hint::RemoveLock.with([&quoted(lock)]);
        Check::warn("lock", format!("{} blocks every record until it goes", lock.display()), &hint)
    }));
    checks.extend(facts.unwritable.iter().map(|(dir, why)| {
        let hint = andon_git::access_help(dir);
        Check::fail(
            "writable",
            format!("nothing can be recorded, {} cannot be written: {why}", dir.display()),
            &hint,
        )
    }));
    checks.extend(facts.is_shallow.then(|| {
        let what = "history was cut at cloning: records of older commits cannot be checked";
        Check::warn("shallow", what, Hint::Unshallow.text())
    }));
    checks.extend(facts.is_partial.then(|| {
        let what = "objects are fetched on demand: changes in missing ones are compared by their ids only";
        Check::new("partial-clone", State::Warn, what, None)
    }));
    Diagnosis { checks }
}

fn program(facts: &RepositoryFacts) -> Check {
    let own = facts.outside.program.display();
    match facts.missing_programs.first() {
        Some(gone) => Check::fail(
            "program",
            format!("the hooks start {}, which is not there; this is {own}", gone.display()),
            Hint::Install.text(),
        ),
        None => Check::ok("program", format!("andon {} at {own}", env!("CARGO_PKG_VERSION"))),
    }
}

fn switch(facts: &RepositoryFacts) -> Option<Check> {
    let value = facts.outside.switch.as_deref()?;
    (value == "0")
        .then(|| Check::warn("switch", "ANDON=0 is set here: hooks check and record nothing", "unset ANDON"))
}

fn hooks(facts: &RepositoryFacts) -> Vec<Check> {
    let place = match &facts.place {
        Ok(place) => place,
        Err(error) => {
            return vec![Check::fail("hooks-path", error.clone(), Hint::HooksPath)];
        }
    };
    if let Some((mode, guarded)) = &place.managed {
        let patches = patches(*mode, place.patches).filter(|_| !matches!(guarded, GuardState::Gone(_)));
        return hidden(place).into_iter().chain([managed(*mode, guarded)]).chain(patches).collect();
    }
    let mut checks = vec![hooks_path(place)];
    checks.extend(hidden(place));
    let fails = |what: String| Check::fail("hooks", what, Hint::Install.text());
    match &place.hooks {
        Err(error) => checks.push(fails(error.clone())),
        Ok(states) if states.iter().all(|state| state.standing == HookFile::Nothing) => {
            checks.push(fails(format!("none is installed in {}", place.dir.display())));
        }
        Ok(states) => checks.extend(states.iter().map(|state| hook(state, facts.framework))),
    }
    checks
}

/// The hooks of a manager, or of the configuration, that start Andon.
fn managed(mode: Integration, guarded: &GuardState) -> Check {
    match guarded {
        GuardState::Gone(gone) => Check::fail("hooks", format!("gone: {}", gone.what), &gone.help),
        GuardState::Yes | GuardState::Never => {
            Check::ok("hooks", format!("installed, mode {}", mode.as_str()))
        }
    }
}

/// The hooks of patches, which an earlier version did not install.
fn patches(mode: Integration, patches: Presence) -> Option<Check> {
    let hint = match mode {
        // It has no stages for them.
        Integration::PreCommit => return None,
        Integration::Lefthook => Hint::InstallLefthook.into(),
        Integration::Shim | Integration::Config | Integration::Husky => {
            Hint::InstallMode.with([mode.as_str()])
        }
    };
    let what = "pre-applypatch and post-applypatch are missing: a halt does not stop git am, and what it makes is \
                recorded at the next commit only";
    (patches == Presence::Absent).then(|| Check::warn("hook-post-applypatch", what, &hint))
}

/// Hooks of all repositories of the user or the machine that do not run in this one, or by ours.
fn hidden(place: &HooksPlace) -> Option<Check> {
    let shared = place.shared.as_ref().filter(|shared| shared.hidden)?;
    let (theirs, origin) = (&shared.set_by.value, &shared.set_by.origin);
    let what = format!("core.hooksPath is {theirs:?} for all your repositories ({origin})");
    Some(if place.leads_on {
        Check::ok("shared-hooks", format!("{what}; the hooks there run too"))
    } else {
        let message = format!("{what}, and this repository sets another: the hooks there do not run here");
        // Hooks of others in this directory would not run any more.
        let is_other = |file: &HookFile| matches!(file, HookFile::Foreign { .. } | HookFile::EditedShim);
        let ours = |state: &HookState| !is_other(&state.standing) && !is_other(&state.chained);
        let ours_alone =
            place.managed.is_none() && place.hooks.as_ref().is_ok_and(|states| states.iter().all(ours));
        Check::new("shared-hooks", State::Warn, message, ours_alone.then(|| Hint::UseSharedHooks.into()))
    })
}

fn hooks_path(place: &HooksPlace) -> Check {
    let dir = place.dir.display();
    match &place.decided_by {
        Override::None => Check::ok("hooks-path", dir.to_string()),
        Override::Own(found) => {
            Check::ok("hooks-path", format!("{dir} (core.hooksPath in {})", found.origin))
        }
        Override::Foreign(found) => {
            let how = if found.scope == ConfigScope::Command {
                " for this command only: hooks are bypassed".to_owned()
            } else {
                format!(", set in {}: git runs the hooks there instead", found.origin)
            };
            let message = format!("core.hooksPath is {:?}{how}", found.value);
            Check::fail("hooks-path", message, hooks_hint(found.scope))
        }
    }
}

/// The gravity of a hook that is not there.
fn absence(hook: GitHook) -> State {
    if hook.is_needed() { State::Fail } else { State::Warn }
}

fn hook(state: &HookState, framework: Presence) -> Check {
    let id = format!("hook-{}", state.hook.name());
    let missing =
        |message: &str| Check::new(id.clone(), absence(state.hook), message, Some(Hint::Install.into()));
    match &state.standing {
        HookFile::Shim { mode: HookMode::Runs, .. } => Check::ok(id, chained(&state.chained)),
        HookFile::Shim { mode: HookMode::Ignored, .. } => missing("not executable: git ignores it"),
        HookFile::Nothing => missing("missing"),
        HookFile::EditedShim => {
            Check::warn(id, "the shim was edited; what it does now is not known", Hint::Install.text())
        }
        HookFile::NoFile => missing("not a file"),
        HookFile::Foreign { owner, .. } => foreign(id, state, *owner, framework),
    }
}

fn chained(chained: &HookFile) -> String {
    match chained {
        HookFile::Nothing => "installed".to_owned(),
        HookFile::Foreign { owner, mode: HookMode::Runs } => {
            format!("installed, then runs {}", owner.as_str())
        }
        HookFile::Foreign { mode: HookMode::Ignored, .. } => {
            "installed; the chained hook is not executable and is not run".to_owned()
        }
        HookFile::Shim { .. } | HookFile::EditedShim | HookFile::NoFile => {
            "installed; what is chained is no hook and is not run".to_owned()
        }
    }
}

fn foreign(id: String, state: &HookState, owner: Owner, framework: Presence) -> Check {
    if owner.is_framework() && matches!(state.legacy, HookFile::Shim { mode: HookMode::Runs, .. }) {
        return Check::ok(id, format!("{} runs the andon shim as its legacy hook", owner.as_str()));
    }
    if owner.is_framework() && framework == Presence::Present {
        return Check::ok(id, format!("belongs to {}, whose configuration names andon", owner.as_str()));
    }
    let message = if state.chained == HookFile::Nothing {
        format!("belongs to {}; andon is not installed here", owner.as_str())
    } else {
        format!("{} replaced the andon shim", owner.as_str())
    };
    Check::new(id, absence(state.hook), message, Some(Hint::Install.into()))
}

fn display_ref(facts: &RepositoryFacts) -> Check {
    let shows = facts.display_refs.iter().any(|found| names_notes_ref(&found.value));
    let what = if shows { "shown".to_owned() } else { format!("not shown ({})", Hint::ShowNotes) };
    Check::ok("display-ref", format!("records in git log: {what}"))
}

/// git copies notes after our hooks: appended to the new record, or over it (docs/git-facts.md).
fn rewrite_refs(facts: &RepositoryFacts) -> Vec<Check> {
    let garbles = "makes git copy old records over those of amended and rebased commits";
    if let Some(value) = &facts.outside.rewrite_ref_env {
        let hit = value.to_string_lossy().split(':').any(names_notes_ref);
        let message = format!("GIT_NOTES_REWRITE_REF {garbles}");
        let check = Check::warn("rewrite-ref", message, "unset GIT_NOTES_REWRITE_REF");
        return Some(check).filter(|_| hit).into_iter().collect();
    }
    let trap = |found: &SourcedValue| {
        let message = format!("notes.rewriteRef = {:?} in {} {garbles}", found.value, found.origin);
        Check::warn("rewrite-ref", message, rewrite_hint(found))
    };
    facts.rewrite_refs.iter().filter(|found| names_notes_ref(&found.value)).map(trap).collect()
}

fn rewrite_hint(found: &SourcedValue) -> String {
    if found.scope == ConfigScope::Command {
        return "run git without `-c notes.rewriteRef=...`".to_owned();
    }
    let pattern = shell_quote(&format!("^{}$", regex::escape(&found.value)));
    Hint::DropRewriteRef.with([&shell_quote(&found.origin), &pattern])
}

fn notes(facts: &RepositoryFacts) -> Check {
    match (facts.notes, facts.fetched.first(), facts.commits) {
        (Presence::Present, _, _) => Check::ok("records", NOTES_REF),
        (Presence::Absent, Some(fetched), _) => Check::warn(
            "records",
            format!("none here, but {fetched} was fetched"),
            Hint::TakeFetched.with([fetched]),
        ),
        (Presence::Absent, None, Presence::Present) => Check::warn(
            "records",
            format!("{NOTES_REF} is not here; the next commit makes it"),
            Hint::FetchRecords.led("if a remote has records"),
        ),
        (Presence::Absent, None, Presence::Absent) => Check::ok("records", "none yet: nothing is committed"),
    }
}

fn fetch(state: &FetchState) -> Check {
    let remote = &state.remote;
    let key = shell_quote(&format!("remote.{remote}.fetch"));
    let id = format!("fetch-{remote}");
    if let Some(spec) = state.overwrites.first() {
        let hint = if is_ours_alone(spec) {
            Hint::Install.into()
        } else {
            Hint::DropFetch.with([&key, &shell_quote(spec)])
        };
        let what = format!("{spec:?} lets every fetch overwrite or prune records and halts of this clone");
        return Check::fail(id, what, &hint);
    }
    if state.missing.is_empty() {
        return Check::ok(id, "git fetch brings records and ledger");
    }
    let what = format!("git fetch {remote} does not bring all records and ledger entries of others");
    Check::warn(id, what, Hint::InstallFetch.text())
}

/// Only clients that have our hooks, or settings that cannot be read.
fn client(hooks: &ClientHooks) -> Option<Check> {
    let (id, title) = (format!("agent-{}", hooks.client.as_str()), hooks.client.title());
    let broken = hooks.places.iter().find_map(|place| place.state.problem());
    if let Some(why) = broken {
        let what = format!("the settings of {title} cannot be read: {why}");
        return Some(Check::new(id, State::Warn, what, None));
    }
    let scopes: Vec<&str> = hooks.installed().map(|place| place.scope.as_str()).collect();
    if scopes.is_empty() {
        return None;
    }
    let place = scopes.join(" and ");
    let steps = Some(hooks.steps().join("; ")).filter(|steps| !steps.is_empty());
    let (state, what, steps) = match hooks.live() {
        Some(true) if hooks.trust == Trust::Given => {
            (State::Ok, format!("runs the hooks ({place}), and trusts them"), None)
        }
        Some(true) => (State::Ok, format!("runs the hooks ({place})"), None),
        Some(false) => (State::Warn, format!("has hooks of andon ({place}) and does not run them"), steps),
        None => {
            (State::Warn, format!("has hooks of andon ({place}); whether it trusts them is not known"), steps)
        }
    };
    Some(Check::new(id, state, format!("{title} {what}"), steps))
}

fn test_command(facts: &RepositoryFacts) -> Check {
    let Some(command) = &facts.outside.test_command else {
        let what = "no test.command is set: untested edits are only warned about";
        return Check::warn("test-command", what, "set `command = \"...\"` under [test] in andon.toml");
    };
    let gone = |program: &str| format!("`{command}` cannot be started: {program} is not found");
    let (what, hint) = match &facts.outside.test_program {
        TestProgram::There => return Check::ok("test-command", command.clone()),
        TestProgram::Missing { program, instead: Some(instead) } => {
            let command = toml::Value::from(with_word(command, program, instead)).to_string();
            (gone(program), Hint::OtherCommand.with([&command]))
        }
        TestProgram::Missing { program, instead: None } => {
            (gone(program), format!("install {program}, or correct `command` under [test] in andon.toml"))
        }
        TestProgram::MissingPath { path } => {
            (gone(path), format!("restore {path}, or correct `command` under [test] in andon.toml"))
        }
        TestProgram::NotExecutable { program } => (
            format!("{program} is not executable, so `{command}` does not run"),
            Hint::MakeExecutable.with([&shell_quote(program)]),
        ),
    };
    Check::fail("test-command", what, &hint)
}

/// `command` with the first word `program` replaced; other words may hold its name (`env RUNNER=pytest pytest`).
fn with_word(command: &str, program: &str, instead: &str) -> String {
    let space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = command.as_bytes();
    let at = command.match_indices(program).map(|(at, _)| at).find(|at| {
        space(at.checked_sub(1).and_then(|before| bytes.get(before))) && space(bytes.get(at + program.len()))
    });
    let parts = at.and_then(|at| Some((command.get(..at)?, command.get(at + program.len()..)?)));
    parts.map_or_else(|| instead.to_owned(), |(before, after)| format!("{before}{instead}{after}"))
}
