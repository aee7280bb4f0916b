//! `andon completions` and `andon man`: generated from the definitions of `--help`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell as CompletionShell;

use crate::cli::{Exit, Shell};
use crate::program::{completion, manual};
use andon_agents::ruling::plain_words;
use andon_core::{domain::Hint, escape::shell_quote};
use andon_engine::{Context, OpsError, Result, Workspace};

/// The completions of a shell, or the function for its test command, to be sourced.
pub fn completions(shell: &Shell, args: &CompletionsArgs) -> Result<Exit> {
    if args.words {
        shell.out.result(&wrap_words(&shell.ctx, args.shell));
        return Ok(Exit::Allowed);
    }
    if args.wrap {
        let what = || format!("there is no such function for {}", args.shell);
        let function = wrap_function(args.shell);
        shell.out.result(&function.ok_or_else(|| OpsError::usage(what(), Hint::WrapBash))?);
        return Ok(Exit::Allowed);
    }
    shell.out.pass_out(&completion::script(args.shell));
    Ok(Exit::Allowed)
}

/// A manual page as roff, for `man -l -`; or all of them as files.
pub fn man(shell: &Shell, args: &ManArgs) -> Result<Exit> {
    let pages = manual::pages();
    if let Some(dir) = &args.all {
        std::fs::create_dir_all(dir).map_err(OpsError::Input)?;
        for page in pages {
            let file = dir.join(format!("{}.1", page.name()));
            page.roff().and_then(|roff| std::fs::write(file, roff)).map_err(OpsError::Input)?;
        }
        return Ok(Exit::Allowed);
    }
    let title = std::iter::once("andon").chain(args.command.iter().map(String::as_str));
    let title = title.collect::<Vec<_>>().join(" ");
    let page = pages.iter().find(|page| page.title == title).ok_or_else(|| {
        OpsError::usage(format!("no such command: {title:?}"), Hint::Help.led("all of them"))
    })?;
    shell.out.pass_out(&page.roff().map_err(OpsError::Input)?);
    Ok(Exit::Allowed)
}

/// `andon completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that the completions are for
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
    /// Print instead a function for bash, zsh or fish that runs the configured test commands, as they are typed, as `andon test`
    #[arg(long)]
    pub wrap: bool,
    /// Print the words of the configured commands for that function
    #[arg(long, hide = true)]
    pub words: bool,
}

/// `andon man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The page of this command, such as `agent install`; default: the page of andon itself
    #[arg(value_name = "COMMAND", num_args = 0..)]
    pub command: Vec<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub all: Option<PathBuf>,
}

/// Separates the words of a command. A typed command never contains it.
const BETWEEN: char = '\u{1f}';

/// The function; `None` for a shell that has none here.
fn wrap_function(shell: CompletionShell) -> Option<String> {
    const BASH: &str = include_str!("../../hooks/shell/wrap.bash");
    const ZSH: &str = include_str!("../../hooks/shell/wrap.zsh");
    const FISH: &str = include_str!("../../hooks/shell/wrap.fish");
    // Bash and zsh read this part alike.
    const COMMON: &str = include_str!("../../hooks/shell/wrap.common");
    let functions = [
        (CompletionShell::Bash, [BASH, COMMON]),
        (CompletionShell::Zsh, [ZSH, COMMON]),
        (CompletionShell::Fish, [FISH, ""]),
    ];
    functions.iter().find(|(known, _)| *known == shell).map(|(_, parts)| parts.concat())
}

/// A configured command whose words are plain.
struct KnownCommand {
    /// The scope; empty for `test.command`.
    scope: String,
    words: Vec<String>,
}

/// The programs of the configured commands, and a function that knows a command by its first words, as that shell reads
/// them; empty outside of the top of a repository. What is more than plain words is not among them.
fn wrap_words(ctx: &Context, shell: CompletionShell) -> String {
    let mut known = known(ctx).unwrap_or_default();
    // `cargo test -p core` is no `cargo test` with arguments.
    known.sort_by_key(|command| std::cmp::Reverse(command.words.len()));
    let mut programs: Vec<&str> = known.iter().map(|command| command.words[0].as_str()).collect();
    programs.sort_unstable();
    programs.dedup();
    if programs.is_empty() {
        return String::new();
    }
    if shell == CompletionShell::Fish { fish(&programs, &known) } else { posix(&programs, &known) }
}

fn posix(programs: &[&str], known: &[KnownCommand]) -> String {
    let case = |command: &KnownCommand| {
        let (words, count) = (shell_quote(&command.joined()), command.words.len());
        format!("{words}*) _andon_scope={} _andon_count={count} ;;\n", shell_quote(&command.scope))
    };
    let cases: String = known.iter().map(case).collect();
    let programs = programs.join(" ");
    format!(
        "_andon_programs=({programs})\n_andon_match() {{\nlocal IFS='{BETWEEN}'\ncase \"$*$IFS\" in\n{cases}*) return 1 ;;\nesac\n}}\n"
    )
}

fn fish(programs: &[&str], known: &[KnownCommand]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let case = |command: &KnownCommand| {
        let (words, count) = (quoted(&format!("{}*", command.joined())), command.words.len());
        format!("case {words}\nset -g _andon_scope {}\nset -g _andon_count {count}\n", quoted(&command.scope))
    };
    // There quotes keep no pattern from being one.
    let plain = known.iter().filter(|command| !command.words.iter().any(|word| word.contains(['*', '?'])));
    let cases: String = plain.map(case).collect();
    let programs = programs.join(" ");
    format!(
        "set -g _andon_programs {programs}\nfunction _andon_match\nswitch (string join \\x1f -- $argv)\\x1f\n{cases}case '*'\nreturn 1\nend\nend\n"
    )
}

impl KnownCommand {
    fn new(scope: &str, command: &str) -> Option<Self> {
        let words = plain_words(command)?;
        let first = words.first()?;
        // The name of a function.
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let is_name = first.chars().all(plain) && !first.starts_with('-');
        is_name.then(|| Self { scope: scope.to_owned(), words })
    }

    fn joined(&self) -> String {
        self.words.iter().flat_map(|word| word.chars().chain([BETWEEN])).collect()
    }
}

fn known(ctx: &Context) -> Option<Vec<KnownCommand>> {
    let ws = Workspace::open(ctx).ok()?;
    let is_top = ws.repo.workdir()?.canonicalize().ok()? == ctx.cwd.canonicalize().ok()?;
    let test = &ws.config.test;
    let whole = test.command.iter().filter_map(|command| KnownCommand::new("", &command.display()));
    let scopes = test.scopes.settings.iter();
    let scopes = scopes.filter_map(|one| KnownCommand::new(&one.scope.name, &one.command.display()));
    is_top.then(|| whole.chain(scopes).collect())
}
