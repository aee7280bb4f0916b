//! A shell function that turns the configured test command into `andon test`, and the words by which it knows it.

use andon_agents::ruling::plain_words;
use andon_core::escape::shell_quote;
use andon_engine::context::Context;
use andon_engine::workspace::Workspace;
use clap_complete::Shell as CompletionShell;

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

/// The words of `test.command` as an assignment of that shell; empty outside of the top of a repository, and where the
/// command is more than plain words.
pub fn words(ctx: &Context, shell: CompletionShell) -> String {
    let words = known(ctx).unwrap_or_default();
    let Some(first) = words.first() else { return String::new() };
    // The name of a function.
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    if !first.chars().all(plain) || first.starts_with('-') {
        return String::new();
    }
    if shell == CompletionShell::Fish {
        let quoted = |word: &String| format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'"));
        return format!("set -g _andon_words {}\n", words.iter().map(quoted).collect::<Vec<_>>().join(" "));
    }
    let words: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
    format!("_andon_words=({})\n", words.join(" "))
}

fn known(ctx: &Context) -> Option<Vec<String>> {
    let ws = Workspace::open(ctx).ok()?;
    let is_top = ws.repo.workdir()?.canonicalize().ok()? == ctx.cwd.canonicalize().ok()?;
    plain_words(&ws.config.test.command.as_ref().filter(|_| is_top)?.display())
}
