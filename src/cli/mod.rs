//! Arguments in, text and exit code out. Thin: each verb is a file in `commands` that calls `ops` and `report`.

mod agent_args;
mod args;
mod commands;
mod error;
mod format_arg;
mod help;
mod observe_args;
pub mod output;
mod progress;
#[cfg(feature = "watch")]
mod screen;
mod suggestions;
mod watching;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::FromArgMatches as _;

use self::args::{Cli, Command, ConfigCommand};
use self::error::Exit;
use self::output::{ColorChoice, ColorEnvironment, Printer};
use andon_core::escape;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::sync::take_in_fetched;
use andon_engine::text::spark::Glyphs;
use andon_engine::text::style::Style;
use andon_git::Repo;

/// What a command runs with.
pub(crate) struct Shell {
    ctx: Context,
    out: Printer,
}

/// The program. A panic ends it as an internal error; Rust itself has said by then where it was.
pub fn main() -> ExitCode {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let out = Printer { out: Style::Plain, err: Style::Plain };
        out.message(&andon_engine::text::message::diagnostic(&error::panicked(), out.err));
        Exit::Internal.into()
    })
}

fn run() -> ExitCode {
    let ctx = Context::capture();
    let args = ctx.args.clone();
    // The hooks' own door, before anything else is looked at: `ANDON=0` means that nothing is read or written.
    if let [_, hook, name, rest @ ..] = args.as_slice()
        && hook == "hook"
        && let Some(name) = name.to_str()
    {
        return commands::hook::main(ctx, name, rest).into();
    }
    if let [_, agent, hook, client, event, ..] = args.as_slice()
        && agent == "agent"
        && hook == "hook"
        && !client.to_string_lossy().starts_with('-')
    {
        return commands::agent_hook::main(ctx, &client.to_string_lossy(), &event.to_string_lossy()).into();
    }
    let parsed = help::command(output::columns()).try_get_matches_from(args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(err) => return usage(&ctx, &err),
    };
    let shell = Shell { out: output(&ctx, cli.color), ctx };
    match dispatch(&shell, cli.command) {
        Ok(exit) => exit.into(),
        Err(err) => shell.fail(&err).into(),
    }
}

/// Help and version go to standard output with 0, mistakes to standard error with 2.
fn usage(ctx: &Context, err: &clap::Error) -> ExitCode {
    let out = output(ctx, args::color(&ctx.args));
    let cli = help::command(output::columns());
    let given: Vec<String> = ctx.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if let Some(said) = suggestions::diagnostic(err, &cli, &given) {
        out.message(&andon_engine::text::message::diagnostic(&said, out.err));
        return Exit::Usage.into();
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
        Exit::Usage.into()
    } else {
        out.result(&text);
        Exit::Allowed.into()
    }
}

fn output(ctx: &Context, color: ColorChoice) -> Printer {
    let environment = ColorEnvironment {
        no_color: ctx.var("NO_COLOR"),
        clicolor: ctx.var("CLICOLOR"),
        clicolor_force: ctx.var("CLICOLOR_FORCE"),
        term: ctx.var("TERM"),
    };
    Printer::new(color, environment).told_at(ctx.now)
}

/// Whether a command shows or judges what is recorded of commits.
fn reads_records(command: &Command) -> bool {
    matches!(
        command,
        Command::Check(_)
            | Command::Status(_)
            | Command::Log(_)
            | Command::Show(_)
            | Command::Report(_)
            | Command::Export(_)
            | Command::Explain(_)
            | Command::Attest(_)
    )
}

fn dispatch(shell: &Shell, command: Command) -> Result<Exit, OpsError> {
    if reads_records(&command) {
        shell.take_in_fetched();
    }
    match command {
        Command::Install(args) => commands::install::install(shell, &args),
        Command::Uninstall(args) => commands::install::uninstall(shell, &args),
        Command::Doctor(args) => commands::doctor::run(shell, &args),
        Command::Test(args) => commands::test::run(shell, &args),
        Command::Explain(args) => Ok(commands::explain::run(shell, &args)),
        Command::Status(args) => commands::status::run(shell, &args),
        Command::Watch(args) => commands::watch::run(shell, &args),
        Command::Log(args) => commands::log::run(shell, &args),
        Command::Show(args) => commands::show::run(shell, &args),
        Command::Report(args) => commands::report::run(shell, &args),
        Command::Export(args) => commands::export::run(shell, &args),
        Command::Check(args) => commands::check::run(shell, &args),
        Command::Backfill(args) => commands::backfill::run(shell, &args),
        Command::Replay(args) => commands::replay::run(shell, &args),
        Command::Calibrate(args) => commands::calibrate::run(shell, &args),
        Command::Advise(args) => commands::advise::run(shell, &args),
        Command::Observe(args) => commands::observe::run(shell, &args.kind),
        Command::Context(args) => commands::context::run(shell, &args),
        Command::Tick(args) => commands::tick::run(shell, &args),
        Command::Agent(args) => commands::agents::run(shell, &args.command),
        Command::Pin(args) => commands::pin::run(shell, &args),
        Command::Sync(args) => commands::sync::run(shell, &args),
        Command::Resume(args) => commands::resume::resume(shell, &args),
        Command::Stop(args) => commands::resume::stop(shell, &args),
        Command::Pause(args) => commands::resume::pause(shell, &args),
        Command::Review(args) => commands::review::run(shell, &args),
        Command::Round(args) => commands::round::run(shell, args.command),
        Command::Witness(args) => commands::witness::run(shell, &args.command),
        Command::Ledger(args) => commands::witness::ledger(shell, &args.command),
        Command::Attest(args) => commands::attest::run(shell, &args.command),
        Command::Complete(format) => commands::complete::run(shell, format.format),
        Command::Config(args) => match args.command {
            ConfigCommand::Show(args) => commands::config::show(shell, &args),
            ConfigCommand::Check(format) => commands::config::check(shell, format.format),
            ConfigCommand::Schema(format) => Ok(commands::config::schema(shell, format.format)),
        },
        Command::Demo(args) => commands::demo::run(shell, &args),
        Command::Completions(args) => Ok(commands::generated::completions(shell, &args)),
        Command::Man(args) => commands::generated::man(shell, &args),
        // Only reached for a hook name that is not UTF-8 or missing arguments: clap has said so already.
        Command::Hook(args) => Ok(commands::hook::main(shell.ctx.clone(), &args.name, &args.args)),
    }
}

impl Shell {
    /// Block elements where the locale has them.
    fn glyphs(&self) -> Glyphs {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| self.ctx.var(name).filter(|value| !value.is_empty()));
        let utf8 = locale.is_some_and(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"));
        if utf8 { Glyphs::Unicode } else { Glyphs::Ascii }
    }

    /// What a plain `git fetch` brought of other clones' records is there for whoever reads them.
    fn take_in_fetched(&self) {
        // What is wrong with the repository is said by the command itself.
        let Ok(repo) = Repo::open(&self.ctx.cwd, &self.ctx.repo_env) else { return };
        if let Err(err) = take_in_fetched(&repo, self.ctx.now) {
            self.out.message(&andon_engine::text::message::diagnostics(&[err.as_warning()], self.out.err));
        }
    }

    /// Shows an error and gives its exit code.
    fn fail(&self, err: &OpsError) -> Exit {
        let shown = error::diagnostics(err);
        self.out.message(&andon_engine::text::message::diagnostics(&shown, self.out.err));
        error::exit_of(err)
    }
}
