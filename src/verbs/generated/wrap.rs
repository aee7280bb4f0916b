//! A shell function that turns the configured test commands into `andon test`, and the words by which it knows them.

use andon_agents::ruling::plain_words;
use andon_core::escape::shell_quote;
use andon_engine::context::Context;
use andon_engine::workspace::Workspace;
use clap_complete::Shell as CompletionShell;

/// Separates the words of a command. A typed command never contains it.
const BETWEEN: char = '\u{1f}';

/// The function; `None` for a shell that has none here.
pub fn function(shell: CompletionShell) -> Option<String> {
    const BASH: &str = include_str!("../../../hooks/shell/wrap.bash");
    const ZSH: &str = include_str!("../../../hooks/shell/wrap.zsh");
    const FISH: &str = include_str!("../../../hooks/shell/wrap.fish");
    // What bash and zsh read alike.
    const COMMON: &str = include_str!("../../../hooks/shell/wrap.common");
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
pub fn words(ctx: &Context, shell: CompletionShell) -> String {
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
