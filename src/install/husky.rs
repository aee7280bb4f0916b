//! Andon's lines in the hooks of husky: files of `sh` under `.husky/`, committed and the same for everybody.

use super::edits;
use super::start_lines::{self, Audience};
use andon_core::domain::GitHook;

/// The ways in which husky starts its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Since version 9: `core.hooksPath` is `.husky/_`, whose hooks run the files above them by `sh -e`.
    Plain,
    /// Versions 4 to 8: `core.hooksPath` is `.husky`, and each hook begins by reading `_/husky.sh`.
    Sourced,
}

/// A script that ends before lines at its end would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndsEarly {
    /// The line that ends the script before lines at its end would run.
    pub line: usize,
}

/// The lines for `hook`.
pub fn block(hook: GitHook) -> String {
    let lines = if hook.spec().reads_stdin {
        // Read once, for us and for the lines below.
        let input = "[ -z \"$ANDON_INPUT\" ] || printf '%s\\n' \"$ANDON_INPUT\"";
        let run =
            start_lines::lines(hook, &format!("{{ {input}; }} | "), " \"$@\"", ".husky", Audience::Always);
        format!(
            "ANDON_INPUT=$([ -t 0 ] || cat)\n{run}if [ -n \"$ANDON_INPUT\" ]; then exec <<ANDON_INPUT_END\n\
             $ANDON_INPUT\nANDON_INPUT_END\nelse exec </dev/null; fi\n"
        )
    } else {
        start_lines::lines(hook, "", " \"$@\"", ".husky", Audience::Always)
    };
    edits::marked(0, &lines)
}

/// A file for a hook that has none yet.
pub fn new_file(hook: GitHook, layout: Layout) -> String {
    match layout {
        Layout::Plain => block(hook),
        Layout::Sourced => {
            format!("#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n\n{}", block(hook))
        }
    }
}

/// Returns the place of the lines in `text`. Before the fact the hooks that are there go first: they may still change what is
/// committed. Otherwise ours do: the record must not depend on what others do, and they read the input first.
pub fn position(hook: GitHook, text: &[u8]) -> Result<usize, EndsEarly> {
    if hook.spec().sees_index {
        let ends = |line: &[u8]| line.starts_with(b"exit") || line.starts_with(b"exec ");
        let early = text.split(|byte| *byte == b'\n').position(ends);
        return early.map_or(Ok(text.len()), |at| Err(EndsEarly { line: at + 1 }));
    }
    let mut at = 0;
    let mut place = 0;
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        at += line.len();
        let begins = number == 0 && line.starts_with(b"#!");
        if begins || edits::find(line, b"/husky.sh").is_some() {
            place = at;
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_where_they_run() {
        let plain = b"npx lint-staged\n";
        let sourced = b"#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n\nnpm test\n";
        assert_eq!(position(GitHook::PreCommit, plain), Ok(plain.len()));
        assert_eq!(position(GitHook::PreCommit, b"a\nexit 0\n"), Err(EndsEarly { line: 2 }));
        assert_eq!(position(GitHook::PreCommit, b"exec git lfs"), Err(EndsEarly { line: 1 }));
        assert_eq!(position(GitHook::PreCommit, b"if a; then\n  exit 1\nfi\n"), Ok(23));
        assert_eq!(position(GitHook::PrePush, plain), Ok(0));
        assert_eq!(position(GitHook::PrePush, b"#!/bin/sh\nexec git lfs\n"), Ok(10));
        let below = sourced.windows(10).position(|window| window == b"\n\nnpm test");
        assert_eq!(position(GitHook::PostCommit, sourced).ok(), below.map(|at| at + 1));
    }

    #[test]
    fn every_block_names_its_hook_and_no_path_of_this_machine() {
        for hook in GitHook::ALL {
            for layout in [Layout::Plain, Layout::Sourced] {
                let text = new_file(hook, layout);
                assert!(text.contains(&format!(" hook {} \"$@\" || ", hook.name())), "{text}");
                assert!(!text.contains("/home") && text.ends_with("# <<< andon\n"), "{text}");
            }
        }
    }
}
