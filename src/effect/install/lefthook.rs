//! Andon's commands in `lefthook-local.yml`, which lefthook merges into its other configuration by itself: no hook of
//! the project has to be understood or changed.

use super::block;
use super::hooks::Hook;
use super::husky::{FIND_PROGRAM, NOT_FOUND};

/// Files that hold the configuration of lefthook.
pub const FILES: [&str; 10] = [
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "lefthook.toml",
    ".lefthook.toml",
    "lefthook.json",
    ".lefthook.json",
    ".config/lefthook.yml",
    ".config/lefthook.yaml",
];

/// The one that is for this clone alone.
pub const LOCAL: &str = "lefthook-local.yml";

/// Other names of it.
pub const OTHER_LOCALS: [&str; 5] = [
    "lefthook-local.yaml",
    ".lefthook-local.yml",
    ".lefthook-local.yaml",
    "lefthook-local.toml",
    "lefthook-local.json",
];

/// All commands. They sort behind the project's own, which may still change what is committed.
pub fn block() -> String {
    let hooks: String = Hook::ALL.into_iter().map(hook).collect();
    block::marked(0, &hooks)
}

fn hook(hook: Hook) -> String {
    let name = hook.name();
    let more = match hook {
        // lefthook passes over a command that is given no files: an empty commit, an amended message.
        Hook::PreCommit | Hook::PreMergeCommit => format!("      files: echo {LOCAL}\n"),
        // With standard input no command is passed over.
        Hook::PrePush | Hook::PostRewrite => "      use_stdin: true\n".to_owned(),
        Hook::PrepareCommitMsg
        | Hook::PostCommit
        | Hook::PostMerge
        | Hook::PreApplypatch
        | Hook::PostApplypatch
        | Hook::PreRebase => String::new(),
    };
    let seen = if matches!(hook, Hook::PreCommit | Hook::PreMergeCommit) { "  # {files}" } else { "" };
    format!(
        "{name}:\n  commands:\n    zz-andon:\n{more}      run: |\n        {FIND_PROGRAM}\n        \
         [ -x \"$ANDON_PROGRAM\" ] || {{ {NOT_FOUND}; exit 0; }}\n        \
         exec \"$ANDON_PROGRAM\" hook {name} {{0}}{seen}\n"
    )
}

/// The first hook that `text` configures already: it cannot stand there twice.
pub fn taken(text: &[u8]) -> Option<Hook> {
    let is = |hook: &Hook| {
        text.split(|byte| *byte == b'\n').any(|line| {
            let key = line.strip_prefix(hook.name().as_bytes()).or_else(|| {
                let quoted = line.strip_prefix(b"\"").or_else(|| line.strip_prefix(b"'"))?;
                quoted.strip_prefix(hook.name().as_bytes())
            });
            key.is_some_and(|rest| {
                rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
            })
        })
    };
    let odd = text.trim_ascii_start().starts_with(b"{") || block::find(text, b"\n...").is_some();
    if odd { Some(Hook::PreCommit) } else { Hook::ALL.into_iter().find(is) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_is_configured_already_is_seen() {
        assert_eq!(taken(b""), None);
        assert_eq!(taken(b"colors: false\npre-commit-x:\n  a: 1\n"), None);
        assert_eq!(taken(b"a: 1\npre-push:\n  jobs: []\n"), Some(Hook::PrePush));
        assert_eq!(taken(b"\"post-commit\" : {}\n"), Some(Hook::PostCommit));
        assert_eq!(taken(b"{\"a\": 1}"), Some(Hook::PreCommit));
        assert_eq!(taken(b"a:\n  pre-push: 1\n"), None);
    }

    #[test]
    fn every_hook_is_there_once() {
        let text = block();
        for hook in Hook::ALL {
            assert_eq!(text.matches(&format!("\n{}:\n", hook.name())).count(), 1, "{text}");
        }
    }
}
