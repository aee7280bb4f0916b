//! `andon install`, `andon uninstall`.

use std::path::PathBuf;

use crate::cli::Shell;
use crate::cli::args::{InstallArgs, InstallMode, UninstallArgs};
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::domain::counted::count;
use crate::effect::install::apply::Removed;
use crate::effect::install::guess::Guess;
use crate::effect::install::hooks::Hook;
use crate::effect::install::mode::Integration;
use crate::effect::install::plan::{Displaced, Intent};
use crate::engine::error::OpsError;
use crate::git::Repo;
use crate::ops::install::{
    self, Along, Changed, ConfigFile, DisplayRef, FetchSpec, InstallReport, Notes, Options, UninstallReport,
};
use crate::ops::purge::{self, Purged};
use crate::report::escape;
use crate::report::json;
use crate::wire::v1::output::{FetchJson, HookJson, InstallJson, PurgedJson, UninstallJson};

/// Installs the hooks.
pub fn install(shell: &Shell, args: &InstallArgs) -> Result<Exit, OpsError> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    let program = shell.ctx.program.clone().unwrap_or_default();
    let options = Options {
        mode: args.mode.map(mode_of),
        notes: if args.show_notes { Notes::Show } else { Notes::AsItIs },
    };
    let report = install::install(&repo, &program, options)?;
    let fetch = if args.fetch { install::set_fetch(&repo)? } else { Vec::new() };
    let along = match (args.push, args.no_push) {
        (true, _) => Along::Yes,
        (false, true) => Along::No,
        (false, false) => Along::Unsaid,
    };
    let push = install::set_push(&repo, along)?;
    let settings = fetch_text(&fetch) + push_text(push);
    shell.out.result(&match args.format.format {
        Format::Text if report.changed_nothing() && !settings.is_empty() => settings,
        Format::Text => install_text(&report) + &settings,
        Format::Json => json::line(&install_json(&report, &fetch, push)),
    });
    Ok(Exit::Allowed)
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

fn hook_word(hook: Hook, intent: Intent) -> String {
    match intent {
        Intent::Keep => "there".to_owned(),
        Intent::RunsThrough(owner) => format!("runs through {}", owner.name()),
        Intent::Write(Displaced::Nothing) => "installed".to_owned(),
        Intent::Write(Displaced::OlderShim) => "renewed".to_owned(),
        Intent::Write(Displaced::Chained | Displaced::Twin | Displaced::NewerOfSameTool) => {
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
        ConfigFile::Written { guess, .. } => text.push_str(&guess_text(guess)),
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
            "andon.toml was written without a test command: {}\n  help: set [test] command in andon.toml, and commit it\n",
            shown(&guess.doubt().unwrap_or_default())
        );
    };
    let note = candidate.note.map_or_else(String::new, |note| format!("  note: {note}\n"));
    format!(
        "andon.toml was written, with the test command {} ({})\n{note}  help: look at it, and commit it\n",
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
            let line = |(hook, intent): &(Hook, Intent)| {
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
            let word =
                |changed: Changed| if changed == Changed::Nothing { "there" } else { "marked lines added" };
            let line = |(path, changed): &(PathBuf, Changed)| {
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
            "every git push of a branch sends its records along; to push branches alone: git config andon.push false\n"
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
    let hook = |(hook, intent): &(Hook, Intent)| HookJson {
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
    }
}

/// Takes the hooks out again.
pub fn uninstall(shell: &Shell, args: &UninstallArgs) -> Result<Exit, OpsError> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    if args.purge {
        purge::may(&shell.ctx)?;
    }
    let mut report = install::uninstall(&repo)?;
    let purged = (args.purge && !report.is_incomplete()).then(|| purge::run(&repo)).transpose()?;
    if purged.is_some() {
        report.remarks = install::remarks(&repo);
    }
    shell.out.result(&match args.format.format {
        Format::Text => uninstall_text(&report) + &purged.as_ref().map(purged_text).unwrap_or_default(),
        Format::Json => json::line(&uninstall_json(&report, purged.as_ref())),
    });
    Ok(if report.is_incomplete() { Exit::Refused } else { Exit::Allowed })
}

fn purged_text(purged: &Purged) -> String {
    let (records, entries) = (count(purged.records, "record"), count(purged.entries, "ledger entry"));
    let mut text = format!("purged: {records}, {entries}\n");
    for path in &purged.folders {
        text.push_str(&format!("  {}: removed\n", escape::terminal(&path.to_string_lossy())));
    }
    text.push_str("note: what was pushed stays with the remotes, and other clones have theirs\n");
    text
}

fn removed_word(removed: &Removed) -> Option<String> {
    match removed {
        Removed::Nothing => None,
        Removed::Gone => Some("removed".to_owned()),
        Removed::Restored => Some("the hook from before is back".to_owned()),
        Removed::Left(conflict) => Some(format!("left as it is: {conflict}")),
    }
}

fn each_removed(report: &UninstallReport) -> impl Iterator<Item = (&std::path::Path, Hook, String)> {
    report.places.iter().flat_map(|place| {
        let words = |(hook, removed): &(Hook, Removed)| removed_word(removed).map(|word| (*hook, word));
        place.hooks.iter().filter_map(words).map(|(hook, word)| (place.dir.as_path(), hook, word))
    })
}

fn uninstall_text(report: &UninstallReport) -> String {
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

fn uninstall_json<'a>(report: &'a UninstallReport, purged: Option<&'a Purged>) -> UninstallJson<'a> {
    let hooks = each_removed(report);
    UninstallJson {
        schema: "andon/uninstall@1",
        complete: !report.is_incomplete(),
        hooks: hooks
            .map(|(dir, hook, state)| HookJson { dir: Some(dir.to_string_lossy()), hook: hook.name(), state })
            .collect(),
        files: report.files.iter().map(|path| path.to_string_lossy()).collect(),
        config_hooks: report.config_hooks,
        display_refs: &report.display_refs,
        fetch_removed: report.fetch.len(),
        purged: purged.map(|purged| PurgedJson {
            records: purged.records,
            ledger_entries: purged.entries,
            folders: purged.folders.iter().map(|path| path.to_string_lossy()).collect(),
        }),
        remarks: &report.remarks,
    }
}
