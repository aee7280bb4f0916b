//! `andon demo`: shows each step and what came back.

pub mod args;
pub mod run;

use self::args::DemoArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::verbs::demo::{run as demo, run::DemoLine};
use andon_core::escape;
use andon_engine::error::OpsError;

/// Plays the demo.
pub fn run(shell: &Shell, args: &DemoArgs) -> Result<Exit, OpsError> {
    let out = shell.out;
    let mut show = |line: DemoLine<'_>| match line {
        DemoLine::Say(text) => out.result(&format!("\n{}\n", out.out.bold(text))),
        DemoLine::Command(text) => out.result(&format!("$ {text}\n")),
        DemoLine::Output(text) => out.result(&indented(text)),
        DemoLine::Exit(code) => out.result(&format!("    {}\n", out.out.dim(&format!("(exit code {code})")))),
    };
    let end = demo::run(&shell.ctx, args.keep.as_deref(), &mut show)?;
    let dir = escape::terminal(&end.dir.to_string_lossy()).into_owned();
    out.result(&format!(
        "\n{}\n    cd {dir}\n    cat .andon/CHECKPOINT.md        why the line was stopped\n    andon status                    the state of the loop\n    \
         git log --notes=andon           the records, with plain git\n    andon resume --reason '<decision>'     answer it\n",
        out.out.bold("The repository is still there. Look at:")
    ));
    Ok(Exit::Allowed)
}

/// Each line four columns in, controls made visible.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {}\n", escape::terminal(line))).collect()
}
