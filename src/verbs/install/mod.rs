//! `andon install`, `andon uninstall`.

pub mod args;
pub mod purge;
pub mod run;

use std::path::PathBuf;

use self::args::{InstallArgs, InstallMode, UninstallArgs};
use self::purge::PurgeReport;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::install::apply::HookRemoval;
use crate::install::mode::Integration;
use crate::install::plan::{Displacement, Intent};
use crate::json::{
    FetchJson, HookJson, InstallJson, InstallPlanJson, InstallStepJson, PurgedJson, RemoteRefJson,
    UninstallJson,
};
use crate::report::json;
use crate::verbs::agent::run as agents;
use crate::verbs::agent::run::install::ClientRemovals;
use crate::verbs::install::{
    run as install,
    run::{
        Additions, ConfigFile, DisplayRef, FetchSpec, InstallReport, Notes, Options, Preview, PushChoice,
        Step, StepEffect, UninstallReport,
    },
};
use crate::view::status::LostHooks;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::git_hook::GitHook;
use andon_core::domain::plural::count;
use andon_core::escape;
use andon_engine::error::OpsError;
use andon_engine::guess::Guess;
use andon_engine::text::message;
use andon_git::Repo;

/// Most refs of a remote that are named.
const MAX_REFS: usize = 12;

/// Installs the hooks.
pub fn install(shell: &Shell, args: &InstallArgs) -> Result<Exit, OpsError> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    let program = shell.ctx.program.clone().unwrap_or_default();
    let options = Options {
        mode: args.mode.map(mode_of),
        notes: if args.show_notes { Notes::Show } else { Notes::AsItIs },
    };
    let along = match (args.push, args.no_push) {
        (true, _) => PushChoice::Yes,
        (false, true) => PushChoice::No,
        (false, false) => PushChoice::Unsaid,
    };
    if args.dry_run {
        let besides = Additions { fetch: args.fetch, push: along };
        let preview = install::preview(&repo, &program, options, besides)?;
        shell.out.result(&match args.format.format {
            Format::Text => preview_text(&preview),
            Format::Json => json::line(&preview_json(&preview)),
        });
        return Ok(Exit::Allowed);
    }
    let report = install::install(&repo, &program, options)?;
    let fetch = if args.fetch { install::set_fetch(&repo)? } else { Vec::new() };
    let push = install::set_push(&repo, along)?;
    let settings = fetch_text(&fetch) + push_text(push);
    shell.out.result(&match args.format.format {
        Format::Text if report.changed_nothing() && !settings.is_empty() => settings,
        Format::Text => install_text(&report) + &settings,
        Format::Json => json::line(&install_json(&report, &fetch, push)),
    });
    let Some(gone) = &report.waits else { return Ok(Exit::Allowed) };
    shell.out.message(&message::diagnostic(&waits(report.choice.mode, gone), shell.out.err));
    Ok(Exit::Usage)
}

/// What is to be done before anything is guarded.
fn waits(mode: Integration, gone: &LostHooks) -> Diagnostic {
    let what =
        format!("commits are not guarded yet, {} does not start andon here: {}", mode.as_str(), gone.what);
    let error = Diagnostic::error(what).code("hooks").help(gone.help.clone());
    if mode == Integration::PreCommit {
        return error.help("where prek runs the hooks: prek install".to_owned());
    }
    error
}

/// Lines of a file that are shown.
const SHOWN_LINES: usize = 40;

fn preview_text(preview: &Preview) -> String {
    let shown = |text: &str| escape::terminal(text).into_owned();
    let path = |path: &std::path::Path| shown(&path.to_string_lossy());
    let block = |text: &str| {
        let lines = text.lines().take(SHOWN_LINES).map(|line| format!("  | {}\n", shown(line)));
        let more = match text.lines().count().saturating_sub(SHOWN_LINES) {
            0 => None,
            more => Some(format!("  | ... and {} (--format json has all)\n", count(more, "more line"))),
        };
        lines.chain(more).collect::<String>()
    };
    let mut text = String::new();
    if let Some(because) = &preview.choice.because {
        text.push_str(&format!("mode {}: {}\n", preview.choice.mode.as_str(), shown(because)));
    }
    for step in &preview.steps {
        text.push_str(&match step {
            Step::Write { path: at, text: Some(bytes) } => {
                format!("would write {}:\n{}", path(at), block(&String::from_utf8_lossy(bytes)))
            }
            Step::Write { path: at, text: None } => {
                format!("would write {} (what andon uninstall is to put back)\n", path(at))
            }
            Step::Rename { from, to } => format!("would rename {} to {}\n", path(from), path(to)),
            Step::Insert { path: at, lines } => format!("would put into {}:\n{}", path(at), block(lines)),
            Step::Remove { path: at } => format!("would take out {}\n", path(at)),
            Step::Link { path: at, to } => format!("would link {} to {}\n", path(at), path(to)),
            Step::Set { key, value } => format!("would set {} = {}\n", shown(key), shown(value)),
            Step::Unset { key, value } => format!("would unset {} = {}\n", shown(key), shown(value)),
        });
    }
    if let Some(gone) = &preview.waits {
        text.push_str(&format!("afterwards a person runs: {}\n", shown(&gone.help)));
    }
    text.push_str(if preview.steps.is_empty() {
        "everything is installed already; nothing would change\n"
    } else {
        "nothing was changed (--dry-run)\n"
    });
    text
}

fn preview_json(preview: &Preview) -> InstallPlanJson<'_> {
    InstallPlanJson {
        schema: "andon/install-plan@1",
        mode: preview.choice.mode.as_str(),
        mode_because: preview.choice.because.as_deref(),
        steps: preview.steps.iter().map(step_json).collect(),
        waits: preview.waits.as_ref(),
    }
}

fn step_json(step: &Step) -> InstallStepJson<'_> {
    match step {
        Step::Write { path, text } => InstallStepJson::Write {
            path: path.to_string_lossy(),
            text: text.as_deref().map(String::from_utf8_lossy),
        },
        Step::Rename { from, to } => {
            InstallStepJson::Rename { from: from.to_string_lossy(), to: to.to_string_lossy() }
        }
        Step::Insert { path, lines } => InstallStepJson::Insert { path: path.to_string_lossy(), lines },
        Step::Remove { path } => InstallStepJson::Remove { path: path.to_string_lossy() },
        Step::Link { path, to } => {
            InstallStepJson::Link { path: path.to_string_lossy(), to: to.to_string_lossy() }
        }
        Step::Set { key, value } => InstallStepJson::Set { key, value },
        Step::Unset { key, value } => InstallStepJson::Unset { key, value },
    }
}

fn mode_of(asked: InstallMode) -> Integration {
    match asked {
        InstallMode::Shim => Integration::Shim,
        InstallMode::Config => Integration::Config,
        InstallMode::Husky => Integration::Husky,
        InstallMode::Lefthook => Integration::Lefthook,
        InstallMode::PreCommit => Integration::PreCommit,
    }
}

fn hook_word(hook: GitHook, intent: Intent) -> String {
    match intent {
        Intent::Keep => "there".to_owned(),
        Intent::RunsThrough(owner) => format!("runs through {}", owner.name()),
        Intent::Write(Displacement::Nothing) => "installed".to_owned(),
        Intent::Write(Displacement::OlderShim) => "renewed".to_owned(),
        Intent::Write(Displacement::Chained | Displacement::Twin | Displacement::NewerOfSameTool) => {
            let name = hook.name();
            let order = if name.starts_with("post-") { "after" } else { "before" };
            format!("installed; the hook that was there, now {name}.andon-chained, runs {order} it")
        }
    }
}

fn install_text(report: &InstallReport) -> String {
    let shown = |text: &str| escape::terminal(text).into_owned();
    let mut text = String::new();
    if let Some(because) = &report.choice.because {
        let mode = report.choice.mode.as_str();
        text.push_str(&format!("mode {mode}: {} (another: andon install --mode MODE)\n", shown(because)));
    }
    if report.changed_nothing() {
        text.push_str(&format!("Andon is installed {} already; nothing changed\n", shown(&place(report))));
        return text;
    }
    text.push_str(&hooks_text(report));
    if report.display_ref == DisplayRef::Added {
        text.push_str("git log shows the records: notes.displayRef was set\n");
    }
    match &report.config_file {
        ConfigFile::Written { guess, scopes, .. } => {
            text.push_str(&guess_text(guess));
            if *scopes > 0 {
                let many = count(*scopes, "scope");
                text.push_str(&format!(
                    "it has {many} with tests of their own, from the manifests: andon test --scopes\n"
                ));
            }
        }
        ConfigFile::There { .. } => {}
    }
    text.extend(report.remarks.iter().map(|remark| format!("note: {}\n", shown(remark))));
    text
}

/// What became of the test command in the file that was written.
fn guess_text(guess: &Guess) -> String {
    let shown = |text: &str| escape::terminal(text).into_owned();
    let Guess::Sure(candidate) = guess else {
        return format!(
            "andon.toml was written without a test command: {}\n  help: in andon.toml, below [test], take the # from `command` and write yours, then commit the file\n",
            shown(&guess.doubt().unwrap_or_default())
        );
    };
    let note = candidate.note.map_or_else(String::new, |note| format!("  note: {note}\n"));
    format!(
        "andon.toml was written, with the test command {} ({})\n{note}  help: check it, then commit it\n",
        shown(&candidate.command),
        shown(&candidate.because)
    )
}

/// Where it was installed, behind the word "installed".
fn place(report: &InstallReport) -> String {
    match report.choice.mode {
        Integration::Shim => format!("in {}", report.hooks_dir.to_string_lossy()),
        Integration::Config => "in the configuration of the repository".to_owned(),
        mode @ (Integration::Husky | Integration::Lefthook | Integration::PreCommit) => {
            format!("by {}", mode.as_str())
        }
    }
}

fn hooks_text(report: &InstallReport) -> String {
    let shown = |text: &str| escape::terminal(text).into_owned();
    match report.choice.mode {
        Integration::Shim => {
            let dir = shown(&report.hooks_dir.to_string_lossy());
            let line = |(hook, intent): &(GitHook, Intent)| {
                format!("  {:<20}{}\n", hook.name(), hook_word(*hook, *intent))
            };
            format!("hooks in {dir}:\n{}", report.hooks.iter().map(line).collect::<String>())
        }
        Integration::Config => {
            "hooks in the configuration of the repository: git config --get-regexp '^hook'\n".to_owned()
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit if report.files.is_empty() => {
            "the configuration names andon already; nothing was added to it\n".to_owned()
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
            let word = |changed: StepEffect| {
                if changed == StepEffect::Nothing { "there" } else { "marked lines added" }
            };
            let line = |(path, changed): &(PathBuf, StepEffect)| {
                format!("  {}: {}\n", shown(&path.to_string_lossy()), word(*changed))
            };
            report.files.iter().map(line).collect()
        }
    }
}

fn fetch_text(added: &[FetchSpec]) -> String {
    let line = |(key, spec): &FetchSpec| {
        format!("{} = {}\n", escape::terminal(key).into_owned(), escape::terminal(spec).into_owned())
    };
    added.iter().map(line).collect()
}

fn push_text(set: Option<&str>) -> &'static str {
    match set {
        Some("true") => {
            "each git push also sends the records; to turn that off: git config andon.push false\n"
        }
        Some(_) => "git push sends branches alone; to send records: andon sync\n",
        None => "",
    }
}

fn install_json<'a>(
    report: &'a InstallReport,
    fetch: &'a [FetchSpec],
    push: Option<&'a str>,
) -> InstallJson<'a> {
    let hook = |(hook, intent): &(GitHook, Intent)| HookJson {
        dir: None,
        hook: hook.name(),
        state: hook_word(*hook, *intent),
    };
    let guess = match &report.config_file {
        ConfigFile::Written { guess, .. } => Some(guess),
        ConfigFile::There { .. } => None,
    };
    InstallJson {
        schema: "andon/install@1",
        changed: !report.changed_nothing() || !fetch.is_empty() || push.is_some(),
        push_set: push,
        fetch_added: fetch.iter().map(|(key, refspec)| FetchJson { key, refspec }).collect(),
        hooks_dir: report.hooks_dir.to_string_lossy(),
        hooks: report.hooks.iter().map(hook).collect(),
        mode: report.choice.mode.as_str(),
        mode_because: report.choice.because.as_deref(),
        files: report.files.iter().map(|(path, _)| path.to_string_lossy()).collect(),
        display_ref_added: report.display_ref == DisplayRef::Added,
        config_written: guess.is_some(),
        test_command: guess.and_then(Guess::command),
        test_command_doubt: guess.and_then(Guess::doubt),
        remarks: &report.remarks,
        waits: report.waits.as_ref(),
    }
}

/// Takes the hooks out again.
pub fn uninstall(shell: &Shell, args: &UninstallArgs) -> Result<Exit, OpsError> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    if args.purge {
        purge::may(&shell.ctx)?;
    }
    // Before what was noted of them goes.
    let clients = agents::install::take_along(&shell.ctx, &repo)?;
    let mut report = install::uninstall(&repo)?;
    let purged = (args.purge && !report.is_incomplete()).then(|| purge::run(&repo)).transpose()?;
    if purged.is_some() {
        report.remarks = install::remarks(&repo, report.mode);
    }
    report.remarks.extend(clients.stay.iter().cloned());
    shell.out.result(&match args.format.format {
        Format::Text => {
            uninstall_text(&report, &clients) + &purged.as_ref().map(purged_text).unwrap_or_default()
        }
        Format::Json => json::line(&uninstall_json(&report, &clients, purged.as_ref())),
    });
    Ok(if report.is_incomplete() { Exit::Refused } else { Exit::Allowed })
}

fn purged_text(purged: &PurgeReport) -> String {
    let (records, entries) = (count(purged.records, "record"), count(purged.entries, "ledger entry"));
    let mut text = format!("purged: {records}, {entries}\n");
    for path in &purged.folders {
        text.push_str(&format!("  {}: removed\n", escape::terminal(&path.to_string_lossy())));
    }
    for (remote, refs) in &purged.left_at_remotes {
        let shown: Vec<String> =
            refs.iter().take(MAX_REFS).map(|name| escape::terminal(name).into_owned()).collect();
        let more = refs.len().saturating_sub(MAX_REFS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let remote = escape::terminal(remote).into_owned();
        text.push_str(&format!(
            "note: {remote} has {} still, as far as is known here; to delete them for everybody: git push --no-verify {} --delete {}\n",
            shown.join(", ") + &more,
            escape::shell_quote(&remote),
            if more.is_empty() { shown.join(" ") } else { "REF...".to_owned() },
        ));
    }
    text.push_str("note: what was pushed elsewhere stays there, and other clones have theirs\n");
    text
}

fn removed_word(removed: &HookRemoval) -> Option<String> {
    match removed {
        HookRemoval::Nothing => None,
        HookRemoval::Gone => Some("removed".to_owned()),
        HookRemoval::Restored => Some("the hook from before is back".to_owned()),
        HookRemoval::Left(conflict) => Some(format!("left as it is: {conflict}")),
    }
}

fn each_removed(report: &UninstallReport) -> impl Iterator<Item = (&std::path::Path, GitHook, String)> {
    report.places.iter().flat_map(|place| {
        let words =
            |(hook, removed): &(GitHook, HookRemoval)| removed_word(removed).map(|word| (*hook, word));
        place.hooks.iter().filter_map(words).map(|(hook, word)| (place.dir.as_path(), hook, word))
    })
}

fn uninstall_text(report: &UninstallReport, clients: &ClientRemovals) -> String {
    let shown = |text: &str| escape::terminal(text).into_owned();
    let mut text = String::new();
    for (dir, hook, word) in each_removed(report) {
        text.push_str(&format!("  {}/{}: {}\n", shown(&dir.to_string_lossy()), hook.name(), shown(&word)));
    }
    for path in &report.files {
        text.push_str(&format!("  {}: the lines of andon are out of it\n", shown(&path.to_string_lossy())));
    }
    if report.config_hooks > 0 {
        text.push_str("  the hooks in the configuration: removed\n");
    }
    for (client, path) in &clients.taken {
        let path = shown(&path.to_string_lossy());
        text.push_str(&format!("  {path}: the hooks of andon in {} are out of it\n", client.title()));
    }
    if text.is_empty() {
        text.push_str("no hooks of Andon were there\n");
    }
    if !report.display_refs.is_empty() {
        text.push_str("notes.displayRef: taken out again\n");
    }
    for (key, _) in &report.fetch {
        text.push_str(&format!("{}: taken out again\n", shown(key)));
    }
    text.extend(report.remarks.iter().map(|remark| format!("note: {}\n", shown(remark))));
    text
}

fn uninstall_json<'a>(
    report: &'a UninstallReport,
    clients: &'a ClientRemovals,
    purged: Option<&'a PurgeReport>,
) -> UninstallJson<'a> {
    let hooks = each_removed(report);
    UninstallJson {
        schema: "andon/uninstall@1",
        complete: !report.is_incomplete(),
        hooks: hooks
            .map(|(dir, hook, state)| HookJson { dir: Some(dir.to_string_lossy()), hook: hook.name(), state })
            .collect(),
        files: report.files.iter().map(|path| path.to_string_lossy()).collect(),
        config_hooks: report.config_hooks,
        clients: clients.taken.iter().map(|(_, path)| path.to_string_lossy()).collect(),
        display_refs: &report.display_refs,
        fetch_removed: report.fetch.len(),
        purged: purged.map(|purged| PurgedJson {
            left_at_remotes: purged
                .left_at_remotes
                .iter()
                .flat_map(|(remote, refs)| {
                    refs.iter().map(|name| RemoteRefJson { remote: remote.as_str(), name: name.as_str() })
                })
                .collect(),
            records: purged.records,
            ledger_entries: purged.entries,
            folders: purged.folders.iter().map(|path| path.to_string_lossy()).collect(),
        }),
        remarks: &report.remarks,
    }
}
