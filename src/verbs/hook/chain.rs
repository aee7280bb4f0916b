//! Runs the hook that was here before Andon, and says how it ended.

use std::{ffi::OsString, path::Path};

use andon_core::domain::{GitHook, TreeId};
use andon_engine::Context;
use andon_engine::adapter::{ChainPlan, ChainedHook, RunningHooks, chain};
use andon_engine::effect::{ChainedEnd, HookProgramError, Probe, hook_program};
use andon_git::platform::processes;

/// A hook as git or the framework called it.
pub struct HookCall {
    /// The hook that git runs.
    pub name: GitHook,
    /// The arguments that git passes to the hook.
    pub args: Vec<OsString>,
    /// Its standard input, for the hooks that have one.
    pub stdin: Vec<u8>,
    /// The tree that was to be committed before the chained hook ran; `None` where there is no such hook.
    pub before: Option<TreeId>,
}

/// The shim of the hook `name`, if it started this process. The shim names itself in `ANDON_HOOK`; under a framework
/// there is no shim, and nothing to chain.
fn shim(ctx: &Context, name: GitHook) -> Option<&Path> {
    ctx.hook_file.as_deref().filter(|file| file.file_name().is_some_and(|last| last == name.name()))
}

/// True where a hook was there before the shim that started this process.
pub fn is_there(ctx: &Context, name: GitHook) -> bool {
    let file = shim(ctx, name).and_then(Path::parent).map(|dir| chain::chained_file(dir, name.name()));
    file.is_some_and(|file| matches!(hook_program::probe(&file, 1), Ok(Probe::Program { .. })))
}

/// Runs the hook that was here before the shim that started this process.
pub fn run_for(ctx: &Context, call: &HookCall) -> Result<u8, HookProgramError> {
    let Some(file) = shim(ctx, call.name) else { return Ok(0) };
    run(file.parent().unwrap_or(Path::new(".")), call, &ctx.running)
}

/// Runs the hook that was in `hooks_dir` before Andon, with git's arguments, input, streams and environment. Needs no
/// repository and reads nothing but that file, so that it serves `ANDON=0` too. Returns the exit code that git is to see, or
/// 128 and the number of the signal that ended it: what is not run, as git would not either, refuses nothing.
fn run(hooks_dir: &Path, call: &HookCall, running: &RunningHooks) -> Result<u8, HookProgramError> {
    let name = call.name.name();
    // A hook without input of its own gets ours.
    let stdin = call.name.spec().reads_stdin.then_some(call.stdin.as_slice());
    let file = chain::chained_file(hooks_dir, name);
    let head = match hook_program::probe(&file, chain::HEAD_BYTES as u64)? {
        Probe::Absent | Probe::NotExecutable => return Ok(0),
        Probe::Program { head } => head,
    };
    let hook = ChainedHook { hooks_dir, name, head: &head };
    let (first, otherwise) = match chain::plan(hook, &call.args, running) {
        ChainPlan::RunsAlready => return Ok(0),
        ChainPlan::Start { first, otherwise } => (first, otherwise),
    };
    let env = [(chain::RUNNING_VAR.into(), hooks_dir.join(name).into_os_string())];
    match (hook_program::run(&first.program, &first.args, stdin, &env)?, otherwise) {
        (ChainedEnd::Code(code), _) => Ok(code),
        (ChainedEnd::NoProgram, Some(shell)) => {
            match hook_program::run(&shell.program, &shell.args, stdin, &env)? {
                ChainedEnd::Code(code) => Ok(code),
                ChainedEnd::NoProgram => Err(no_program(&file)),
            }
        }
        (ChainedEnd::NoProgram, None) => Err(no_program(&file)),
    }
}

fn no_program(file: &Path) -> HookProgramError {
    HookProgramError { what: "cannot start", path: file.to_owned(), source: processes::no_program() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn pre_push(args: Vec<OsString>) -> HookCall {
        HookCall { name: GitHook::PrePush, args, stdin: b"line\n".to_vec(), before: None }
    }

    fn run_hook(script: &str, mode: u32, running: &RunningHooks) -> (u8, String) {
        let dir = tempfile::tempdir().unwrap();
        let hooks = dir.path().join("it's a dir/hooks");
        fs::create_dir_all(&hooks).unwrap();
        let out = dir.path().join("out");
        let file = chain::chained_file(&hooks, "pre-push");
        andon_testkit::write_program(&file, script, mode);
        let end = run(&hooks, &pre_push(vec![out.clone().into_os_string(), "a b".into()]), running).unwrap();
        let text = fs::read_to_string(out).unwrap_or_default();
        (end, text.replace(&hooks.display().to_string(), "HOOKS"))
    }

    #[test]
    fn the_hook_sees_its_old_name_its_arguments_and_its_input() {
        let body = "{ echo \"$0|$2|$#|$(cat)\"; } > \"$1\"\nexit 4\n";
        let wanted = (4, "HOOKS/pre-push|a b|2|line\n".to_owned());
        for head in ["#!/bin/sh\n", "#!/bin/dash\n", "#!/bin/sh -e\n", "#!/usr/bin/env bash\n", ""] {
            assert_eq!(run_hook(&format!("{head}{body}"), 0o755, &RunningHooks::default()), wanted, "{head}");
        }
    }

    #[test]
    fn husky_finds_its_own_script() {
        // The heart of husky 9's `_/h`: user hooks are next to the folder of the generated ones.
        let script =
            "#!/usr/bin/env sh\nprintf '%s %s' \"$(basename \"$0\")\" \"$(dirname \"$0\")\" > \"$1\"\n";
        assert_eq!(run_hook(script, 0o755, &RunningHooks::default()), (0, "pre-push HOOKS".to_owned()));
    }

    #[test]
    fn other_interpreters_run_as_they_are() {
        let script = "#!/usr/bin/env -S bash -o pipefail\nfalse | true\nexit $(($? + 5))\n";
        assert_eq!(run_hook(script, 0o755, &RunningHooks::default()).0, 6);
    }

    #[test]
    fn what_git_would_ignore_is_not_run() {
        let (end, text) = run_hook("#!/bin/sh\necho ran > \"$1\"\n", 0o644, &RunningHooks::default());
        assert_eq!((end, text.as_str()), (0, ""));
        let nowhere = run(Path::new("/nonexistent"), &pre_push(Vec::new()), &RunningHooks::default());
        assert_eq!(nowhere.unwrap(), 0);
    }
}
