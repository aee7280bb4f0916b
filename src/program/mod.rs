//! The program: arguments in, an exit code out. What is known of a verb is in its folder of `verbs`.

pub(crate) mod completion;
pub mod examples;
pub(crate) mod help;
pub mod manual;
mod suggestions;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::FromArgMatches as _;

use self::help::Cli;
use crate::cli::{Exit, Printer, Shell, error, output, printer};
use crate::verbs;
use andon_core::escape;
use andon_engine::{Context, text::Style};

/// The program. A panic ends it as an internal error; Rust itself has said by then where it was.
pub fn main() -> ExitCode {
    let ended = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let out = Printer { out: Style::Plain, err: Style::Plain };
        out.message(&andon_engine::text::message::diagnostic(&error::panicked(), out.err));
        Exit::Internal
    });
    ExitCode::from(ended.code())
}

fn run() -> Exit {
    let ctx = Context::capture();
    let args = ctx.args.clone();
    // The hooks' own door, before anything else is looked at.
    if let [_, hook, name, rest @ ..] = args.as_slice()
        && hook == "hook"
        && let Some(name) = name.to_str()
    {
        return verbs::hook::main(ctx, name, rest);
    }
    if let [_, agent, hook, client, event, ..] = args.as_slice()
        && agent == "agent"
        && hook == "hook"
        && !client.to_string_lossy().starts_with('-')
    {
        if ctx.is_switched_off() {
            return Exit::Allowed;
        }
        return verbs::agent_hook::main(ctx, &client.to_string_lossy(), &event.to_string_lossy());
    }
    // Behind the hooks: a variable of the environment must not open one.
    if completion::is_asked(&ctx) {
        return Exit::Allowed;
    }
    // A line that is not understood is read once more, and answered with the whole of the help.
    let parsed = help::reader()
        .try_get_matches_from(&args)
        .or_else(|_| help::command(output::columns()).try_get_matches_from(&args));
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(err)
            if err.use_stderr()
                && ctx.args.windows(2).any(|words| words[0] == "agent" && words[1] == "hook") =>
        {
            return not_a_call(ctx, &err);
        }
        Err(err) => return usage(&ctx, &err),
    };
    let shell = Shell { out: printer(&ctx, cli.color), ctx };
    verbs::dispatch(&shell, &cli.command).unwrap_or_else(|err| shell.fail(&err))
}

/// For most clients exit code 2 refuses the tool: a line that is not understood must not do that.
fn not_a_call(ctx: Context, err: &clap::Error) -> Exit {
    if ctx.is_switched_off() {
        return Exit::Allowed;
    }
    let said = err.render().to_string();
    let first = said.lines().next().unwrap_or_default();
    verbs::agent_hook::unknown(ctx, first.trim_start_matches("error: "))
}

/// Help and version go to standard output with 0, mistakes to standard error with 2.
fn usage(ctx: &Context, err: &clap::Error) -> Exit {
    let out = printer(ctx, help::color(&ctx.args));
    let cli = help::definition();
    let given: Vec<String> = ctx.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if let Some(said) = suggestions::diagnostic(err, &cli, &given) {
        out.message(&andon_engine::text::message::diagnostic(&said, out.err));
        return Exit::Usage;
    }
    let hint =
        suggestions::hint(err, &cli, &given).map_or_else(String::new, |hint| format!("  help: {hint}\n"));
    let style = if err.use_stderr() { out.err } else { out.out };
    // clap repeats the arguments as they were given.
    let hostile = ctx.args.iter().any(|arg| arg.to_string_lossy().contains(escape::is_hidden));
    let text = if style.is_colour() && !hostile {
        err.render().ansi().to_string()
    } else {
        escape::terminal_block(&err.render().to_string()).into_owned()
    };
    if err.use_stderr() {
        out.message(&(text + &hint));
        Exit::Usage
    } else {
        out.result(&text);
        Exit::Allowed
    }
}
