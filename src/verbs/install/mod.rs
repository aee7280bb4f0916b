//! `andon install`, `andon uninstall`.

mod first_config;
mod git_config;
mod managers;
mod plan;
mod remove;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use self::first_config::FirstConfig;
use self::plan::InstallReport;
use self::remove::{PlaceReport, PurgeReport, UninstallReport};
use crate::cli::{Exit, Format, FormatArg, Shell};
use crate::install::{Conflict, Displacement, Edit, HookRemoval, Integration, Intent, ModeChoice, Step};
use crate::setup::{clients::by_hand, folders_of};
use crate::verbs::agent::{self as agents, ClientRemovals};
use andon_core::domain::{Diagnostic, GitHook, Hint, plural::count};
use andon_core::escape;
use andon_engine::{OpsError, Result, guess::Guess, json, view::LostHooks};
use andon_git::Repo;

/// Most refs of a remote that are named.
const MAX_REFS: usize = 12;

#[derive(Debug, Default, Args)]
pub struct InstallArgs {
    /// Way in which git starts Andon; default: as installed before, else by the hook manager that is there
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<Integration>,
    /// Have `git log` show the records (notes.displayRef)
    #[arg(long)]
    pub show_notes: bool,
    /// Have every `git fetch` bring the remotes' records and halts, under names of their own
    #[arg(long)]
    pub fetch: bool,
    /// Have every `git push` of a branch send records and halts along (the default; kept as andon.push in git's
    /// configuration)
    #[arg(long, overrides_with = "no_push")]
    pub push: bool,
    /// Leave sending records to `andon sync`
    #[arg(long)]
    pub no_push: bool,
    /// Print what would be written and set, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Delete the records, the halts and `.andon/` too: the evidence is gone for good
    #[arg(long)]
    pub purge: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

pub fn install(shell: &Shell, args: &InstallArgs) -> Result<Exit> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    let program = shell.ctx.program.clone().unwrap_or_default();
    if args.dry_run {
        let report = plan::preview(&repo, &program, args)?;
        shell.show(args.format.format, "install-plan", &preview_json(&report), |_| preview_text(&report));
        return Ok(Exit::Allowed);
    }
    by_hand(&shell.ctx, &repo);
    let report = plan::install(&repo, &program, args)?;
    let settings = report.fetch.iter().map(|(key, spec)| format!("{} = {}\n", shown(key), shown(spec)));
    let is_set = |set: &str| if set == "true" { Hint::SendsAlong } else { Hint::SendsBranchesAlone };
    let push = report.push.as_deref().map(|set| format!("{}\n", is_set(set).text()));
    let settings: String = settings.chain(push).collect();
    shell.out.result(&match args.format.format {
        Format::Text if report.changed_nothing() && !settings.is_empty() => settings,
        Format::Text => install_text(&report) + &settings,
        Format::Json => json::document("install", &install_json(&report)),
    });
    let Some(gone) = &report.waits else { return Ok(Exit::Allowed) };
    shell.tell(&[waits(report.choice.mode, gone)]);
    Ok(Exit::Usage)
}

/// The error for an installation that guards nothing yet, with the step that is left.
fn waits(mode: Integration, gone: &LostHooks) -> Diagnostic {
    let what =
        format!("commits are not guarded yet, {} does not start andon here: {}", mode.as_str(), gone.what);
    let error = Diagnostic::error(what).code("hooks").help(gone.help.clone());
    if mode == Integration::PreCommit {
        return error.help("where prek runs the hooks: prek install".to_owned());
    }
    error
}

fn shown(text: &str) -> String {
    escape::terminal(text).into_owned()
}

fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// Lines of a file that are shown.
const SHOWN_LINES: usize = 40;

fn preview_text(report: &InstallReport) -> String {
    let block = |text: &str| {
        let lines = text.lines().take(SHOWN_LINES).map(|line| format!("  | {}\n", shown(line)));
        let more = match text.lines().count().saturating_sub(SHOWN_LINES) {
            0 => None,
            more => Some(format!("  | ... and {} (--format json has all)\n", count(more, "more line"))),
        };
        lines.chain(more).collect::<String>()
    };
    let mut text = String::new();
    if let Some(because) = &report.choice.because {
        text.push_str(&format!("mode {}: {}\n", report.choice.mode.as_str(), shown(because)));
    }
    for step in &report.steps {
        text.push_str(&match step {
            Step::Manifest(path, _) => {
                format!("would write {} (what andon uninstall is to put back)\n", shown_path(path))
            }
            Step::Write(edit) if edit.is_insertion() => {
                format!("would put into {}:\n{}", shown_path(&edit.path), block(&edit.inserted.concat()))
            }
            Step::Write(Edit { path, after, .. }) => {
                format!("would write {}:\n{}", shown_path(path), block(&String::from_utf8_lossy(after)))
            }
            Step::Chain { from, to } | Step::Rename { from, to } => {
                format!("would rename {} to {}\n", shown_path(from), shown_path(to))
            }
            Step::Remove { path, .. } => format!("would take out {}\n", shown_path(path)),
            Step::Link { path, to } => format!("would link {} to {}\n", shown_path(path), shown_path(to)),
            Step::Set((key, value)) => format!("would set {} = {}\n", shown(key), shown(value)),
            Step::Unset((key, value)) => format!("would unset {} = {}\n", shown(key), shown(value)),
        });
    }
    if let Some(gone) = &report.waits {
        text.push_str(&format!("afterwards a person runs: {}\n", shown(&gone.help)));
    }
    text.push_str(if report.steps.is_empty() {
        "everything is installed already; nothing would change\n"
    } else {
        "nothing was changed (--dry-run)\n"
    });
    text
}

fn hook_word(hook: GitHook, intent: Intent) -> String {
    match intent {
        Intent::Keep => "there".to_owned(),
        Intent::RunsThrough(owner) => format!("runs through {}", owner.as_str()),
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
    let mut text = String::new();
    if let Some(because) = &report.choice.because {
        let mode = report.choice.mode.as_str();
        text.push_str(&format!(
            "mode {mode}: {} (another: {})\n",
            shown(because),
            Hint::InstallMode.with(["MODE"])
        ));
    }
    if report.changed_nothing() {
        text.push_str(&format!("Andon is installed {} already; nothing changed\n", shown(&place(report))));
        return text;
    }
    text.push_str(&hooks_text(report));
    if report.display_ref_added {
        text.push_str("git log shows the records: notes.displayRef was set\n");
    }
    if let Some(FirstConfig { guess, scopes, .. }) = &report.first_config {
        text.push_str(&guess_text(guess));
        text.push_str("to be called when the loop halts: docs/agents.md#notifications\n");
        if *scopes > 0 {
            let many = count(*scopes, "scope");
            text.push_str(&format!(
                "it has {many} with tests of their own, from the manifests: {}\n",
                Hint::TestScopes
            ));
        }
    }
    text.extend(report.remarks.iter().map(|remark| format!("note: {}\n", shown(remark))));
    text
}

/// The lines on the test command of the file that was written.
fn guess_text(guess: &Guess) -> String {
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

/// The place of the installation, to follow the word "installed".
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
    match report.choice.mode {
        Integration::Shim => {
            let dir = shown_path(&report.hooks_dir);
            let line = |(hook, intent): &(GitHook, Intent)| {
                format!("  {:<20}{}\n", hook.name(), hook_word(*hook, *intent))
            };
            format!("hooks in {dir}:\n{}", report.hooks.iter().map(line).collect::<String>())
        }
        Integration::Config => {
            Hint::HooksConfigured.led("hooks in the configuration of the repository") + "\n"
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit if report.files.is_empty() => {
            "the configuration names andon already; nothing was added to it\n".to_owned()
        }
        Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
            let line = |(path, changed): &(std::path::PathBuf, bool)| {
                let word = if *changed { "marked lines added" } else { "there" };
                format!("  {}: {word}\n", shown_path(path))
            };
            report.files.iter().map(line).collect()
        }
    }
}

/// `andon/install-plan@1`
fn preview_json(report: &InstallReport) -> Value {
    let ModeChoice { mode, because } = &report.choice;
    let mut document = json!({ "mode": mode, "mode_because": because, "steps": report.steps });
    if let Some(waits) = &report.waits {
        document["waits"] = json!(waits);
    }
    document
}

/// `andon/install@1`
fn install_json(report: &InstallReport) -> Value {
    let fetch_added = report.fetch.iter().map(|(key, refspec)| json!({ "key": key, "refspec": refspec }));
    let hook = |(hook, intent): &(GitHook, Intent)| json!({ "hook": hook.name(), "state": hook_word(*hook, *intent) });
    let guess = report.first_config.as_ref().map(|first| &first.guess);
    let mut document = json!({
        "changed": !report.changed_nothing() || !report.fetch.is_empty() || report.push.is_some(),
        "push_set": report.push,
        "fetch_added": fetch_added.collect::<Value>(),
        "hooks_dir": report.hooks_dir.to_string_lossy(),
        "hooks": report.hooks.iter().map(hook).collect::<Value>(),
        "mode": report.choice.mode,
        "mode_because": report.choice.because,
        "files": report.files.iter().map(|(path, _)| path.to_string_lossy()).collect::<Vec<_>>(),
        "display_ref_added": report.display_ref_added,
        "config_written": guess.is_some(),
        "test_command": guess.and_then(Guess::command),
        "test_command_doubt": guess.and_then(Guess::doubt),
        "remarks": report.remarks,
    });
    if let Some(waits) = &report.waits {
        document["waits"] = json!(waits);
    }
    document
}

pub fn uninstall(shell: &Shell, args: &UninstallArgs) -> Result<Exit> {
    let repo = Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env)?;
    let there: Vec<_> = folders_of(&repo).into_iter().filter(|folder| folder.exists()).collect();
    if args.purge {
        remove::may_purge(&shell.ctx)?;
    }
    if let Some(mark) = shell.ctx.agent_above(&repo) {
        return Err(OpsError::in_agent_shell("uninstall", &mark));
    }
    by_hand(&shell.ctx, &repo);
    // Before what was noted of them goes.
    let clients = agents::take_along(&shell.ctx, &repo)?;
    let mut report = remove::uninstall(&repo)?;
    let purged = (args.purge && !report.is_incomplete()).then(|| remove::purge(&repo, &there)).transpose()?;
    if purged.is_some() {
        report.remarks = remove::remarks(&repo, report.mode);
    }
    report.remarks.extend(clients.stay.iter().cloned());
    shell.out.result(&match args.format.format {
        Format::Text => {
            uninstall_text(&report, &clients) + &purged.as_ref().map(purged_text).unwrap_or_default()
        }
        Format::Json => json::document("uninstall", &uninstall_json(&report, &clients, purged.as_ref())),
    });
    Ok(if report.is_incomplete() { Exit::Refused } else { Exit::Allowed })
}

fn purged_text(purged: &PurgeReport) -> String {
    let (records, entries) = (count(purged.records, "record"), count(purged.entries, "ledger entry"));
    if purged.records == 0 && purged.entries == 0 && purged.folders.is_empty() {
        return "purged: nothing was left\n".to_owned();
    }
    let mut text = format!("purged: {records}, {entries}\n");
    for path in &purged.folders {
        text.push_str(&format!("  {}: removed\n", shown_path(path)));
    }
    for (remote, refs) in &purged.left_at_remotes {
        let names: Vec<String> = refs.iter().take(MAX_REFS).map(|name| shown(name)).collect();
        let more = refs.len().saturating_sub(MAX_REFS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let remote = shown(remote);
        text.push_str(&format!(
            "note: {remote} has {} still, as far as is known here; {}\n",
            names.join(", ") + &more,
            Hint::DeletePushed.with([
                &escape::shell_quote(&remote),
                &if more.is_empty() { names.join(" ") } else { "REF...".to_owned() },
            ]),
        ));
    }
    text.push_str("note: what was pushed elsewhere stays there, and other clones have theirs\n");
    text
}

fn each_removed(report: &UninstallReport) -> impl Iterator<Item = (&Path, GitHook, String)> {
    let word = |dir: &Path, hook: GitHook, removal| match removal {
        HookRemoval::Nothing => None,
        HookRemoval::Gone => Some("removed".to_owned()),
        HookRemoval::Restored => Some("the hook from before is back".to_owned()),
        HookRemoval::Left(why) => {
            Some(format!("left as it is: {}", Conflict { hook, path: dir.join(hook.name()), why }))
        }
    };
    report.places.iter().flat_map(move |PlaceReport { dir, hooks }| {
        hooks.iter().filter_map(move |(hook, removal)| Some((&**dir, *hook, word(dir, *hook, *removal)?)))
    })
}

fn uninstall_text(report: &UninstallReport, clients: &ClientRemovals) -> String {
    let mut text = String::new();
    for (dir, hook, word) in each_removed(report) {
        text.push_str(&format!("  {}/{}: {}\n", shown_path(dir), hook.name(), shown(&word)));
    }
    for path in &report.files {
        text.push_str(&format!("  {}: the lines of andon are out of it\n", shown_path(path)));
    }
    if report.config_hooks > 0 {
        text.push_str("  the hooks in the configuration: removed\n");
    }
    for (client, path) in &clients.taken {
        let (path, title) = (shown_path(path), client.title());
        text.push_str(&format!("  {path}: the hooks of andon in {title} are out of it\n"));
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

/// `andon/uninstall@1`
fn uninstall_json(report: &UninstallReport, clients: &ClientRemovals, purged: Option<&PurgeReport>) -> Value {
    let lossy = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    let hooks = each_removed(report).map(
        |(dir, hook, state)| json!({ "dir": dir.to_string_lossy(), "hook": hook.name(), "state": state }),
    );
    let purged = purged.map(|purged| {
        let left = purged.left_at_remotes.iter();
        let refs = left
            .flat_map(|(remote, refs)| refs.iter().map(move |name| json!({ "remote": remote, "ref": name })));
        json!({
            "left_at_remotes": refs.collect::<Vec<_>>(),
            "records": purged.records,
            "ledger_entries": purged.entries,
            "folders": purged.folders.iter().map(lossy).collect::<Vec<_>>(),
        })
    });
    json!({
        "complete": !report.is_incomplete(),
        "hooks": hooks.collect::<Vec<_>>(),
        "files": report.files.iter().map(lossy).collect::<Vec<_>>(),
        "config_hooks": report.config_hooks,
        "clients": clients.taken.iter().map(|(_, path)| lossy(path)).collect::<Vec<_>>(),
        "display_refs": report.display_refs,
        "fetch_removed": report.fetch.len(),
        "purged": purged,
        "remarks": report.remarks,
    })
}
