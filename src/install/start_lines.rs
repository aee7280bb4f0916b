//! Lines of `sh` in files of other hook managers that start Andon. Such files are committed: they hold no path of one
//! machine, and where the program is not there the commit passes with one line that says so.

use andon_core::domain::{GitHook, MissingProgramNotice, PreventedStep};

/// The git directory keeps a link to the program, for shells without it on their PATH.
const FIND_PROGRAM: &str =
    "ANDON_PROGRAM=$(command -v andon) || ANDON_PROGRAM=$(git rev-parse --git-common-dir)/andon/program";

/// The exit codes of shells for a file that cannot be started, such as a program for another machine; a hook never ends so.
const CANNOT_START: &str = "2 | 126 | 127";

/// Whose output people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// That of every hook.
    Always,
    /// Not that of prepare-commit-msg: frameworks show what passing hooks print only where their configuration says so.
    NotPreparing,
}

/// The lines that run `hook`, ready for `sh -e`. They end the script only where git is to refuse. `before` comes before
/// the program, `args` after it; `place` is where the lines are.
pub fn lines(hook: GitHook, before: &str, args: &str, place: &str, audience: Audience) -> String {
    let name = hook.name();
    let missing = missing(hook, place, audience);
    format!(
        "{FIND_PROGRAM}\nANDON_CODE=127\n[ ! -x \"$ANDON_PROGRAM\" ] || {{ ANDON_CODE=0; \
         {before}\"$ANDON_PROGRAM\" hook {name}{args} || ANDON_CODE=$?; }}\n\
         case $ANDON_CODE in 0) ;; {CANNOT_START}) {missing} ;; *) exit $ANDON_CODE ;; esac\n"
    )
}

/// The command that starts `program` or the one on the PATH; the caller appends the arguments of the hook.
pub fn command(hook: GitHook, program: &str) -> String {
    let name = hook.name();
    let start = format!(
        "{{ c=0; \"$A\" hook {name} \"$@\" || c=$?; case $c in {CANNOT_START}) ;; *) exit $c ;; esac; }}"
    );
    let missing = missing(hook, "the configuration (git config --get-regexp ^hook)", Audience::Always);
    format!(
        "andon_hook() {{ A={program}; [ ! -x \"$A\" ] || {start}; ! A=$(command -v andon) || {start}; {missing}; }}; andon_hook"
    )
}

/// Said once a commit and once a push, where the program is not there; a command that says nothing for the other hooks.
fn missing(hook: GitHook, place: &str, audience: Audience) -> String {
    let spec = hook.spec();
    let own = match audience {
        Audience::Always => MissingProgramNotice::WhereAllIsSeen,
        Audience::NotPreparing => MissingProgramNotice::InFrameworks,
    };
    if spec.says_gone != own && spec.says_gone != MissingProgramNotice::Everywhere {
        return ":".to_owned();
    }
    let what = if spec.refuses == Some(PreventedStep::Push) { "this push" } else { "this commit" };
    format!(
        "[ \"${{ANDON-}}\" = 0 ] || echo \"andon: program not found, {what} was not checked; put andon on the PATH, or take \
         its lines out of {place}\" >&2"
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    #[allow(clippy::disallowed_methods, reason = "a test that runs the lines")]
    fn run(script: &str, path: &str) -> Output {
        Command::new("/bin/sh").args(["-e", "-c", script, "sh", "arg"]).env("PATH", path).output().unwrap()
    }

    #[test]
    fn a_commit_without_the_program_hears_of_it_once() {
        for (heard, telling) in [
            (Audience::Always, vec!["prepare-commit-msg", "pre-applypatch", "pre-push"]),
            (Audience::NotPreparing, vec!["post-commit", "post-merge", "pre-push"]),
        ] {
            let tells = |hook: &GitHook| lines(*hook, "", "", ".husky", heard).contains("program not found");
            let mut found: Vec<&str> =
                GitHook::ALL.iter().filter(|hook| tells(hook)).map(|hook| hook.name()).collect();
            found.retain(|name| !telling.contains(name));
            assert_eq!(found, Vec::<&str>::new(), "{heard:?}");
        }
    }

    #[test]
    fn what_cannot_be_started_lets_pass_and_what_refuses_refuses() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("andon");
        let path = format!("{}:/usr/bin:/bin", dir.path().display());
        let hook = GitHook::PrepareCommitMsg;
        let as_lines = format!("{}echo after\n", lines(hook, "", " \"$@\"", ".husky", Audience::Always));
        let as_command = |first: &str| format!("{} \"$@\"", command(hook, first));
        let nowhere = dir.path().join("nowhere").display().to_string();
        let gone = run(&as_lines, "/usr/bin:/bin");
        assert_eq!((gone.status.code(), gone.stdout.as_slice()), (Some(0), b"after\n".as_slice()));
        assert_eq!(
            String::from_utf8_lossy(&gone.stderr).lines().filter(|line| line.starts_with("andon: ")).count(),
            1
        );
        let gone = run(&as_command(&nowhere), "/usr/bin:/bin");
        assert_eq!(gone.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&gone.stderr).contains("program not found"));
        for (code, says_after) in
            [(0, "ran hook prepare-commit-msg arg\nafter\n"), (1, "ran hook prepare-commit-msg arg\n")]
        {
            andon_testkit::write_program(
                &program,
                &format!("#!/bin/sh\necho ran \"$@\"\nexit {code}\n"),
                0o755,
            );
            let ran = run(&as_lines, &path);
            assert_eq!(
                (ran.status.code(), String::from_utf8_lossy(&ran.stdout).as_ref()),
                (Some(code), says_after)
            );
            let ran = run(&as_command(&nowhere), &path);
            assert_eq!(ran.status.code(), Some(code));
        }
        // A program of another machine.
        let mut other = std::fs::read("/bin/true").unwrap();
        other[18] = 0xb7;
        other[19] = 0x7f;
        std::fs::write(&program, other).unwrap();
        let cannot = run(&as_lines, &path);
        assert_eq!((cannot.status.code(), cannot.stdout.as_slice()), (Some(0), b"after\n".as_slice()));
        assert!(String::from_utf8_lossy(&cannot.stderr).contains("andon: program not found"));
        let cannot = run(&as_command(&program.display().to_string()), "/usr/bin:/bin");
        assert_eq!(cannot.status.code(), Some(0));
    }
}
