//! `andon review`.

pub mod args;
pub mod run;

use serde_json::{Value, json};

use self::args::{AnswerArgs, ReviewArgs, ReviewCommand, SimulateArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::report::json;
use crate::verbs::review::{
    run as review,
    run::{Act, ActReport, AnswerSource},
};
use crate::verbs::round::run as round;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::witnessing::{self, EntryStatement};
use andon_engine::workspace::Workspace;

/// Does what was asked.
pub fn run(shell: &Shell, args: &ReviewArgs) -> Result<Exit, OpsError> {
    let Some(command) = &args.command else { return list(shell, args.format.format) };
    if let ReviewCommand::Simulate(args) = command {
        return simulate(shell, args);
    }
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    // There is no daemon: the next command finds a round whose time is up.
    round::expire(ctx, &ws)?;
    match command {
        ReviewCommand::Accept(args) => {
            tell(shell, &review::act(ctx, &ws, &args.round, Act::Accept)?, args.format.format);
        }
        ReviewCommand::Panel(args) => {
            let acted = review::act(ctx, &ws, &args.round, Act::Panel(&args.reason))?;
            tell(shell, &acted, args.format.format);
        }
        ReviewCommand::Flag(args) => {
            let acted = review::act(ctx, &ws, &args.round, Act::Flag(&args.reason))?;
            tell(shell, &acted, args.format.format);
        }
        ReviewCommand::Resolve(args) => {
            tell(shell, &review::resolve(ctx, &ws, &args.round, given(args)?)?, args.format.format);
        }
        ReviewCommand::Ballot(args) => {
            tell(shell, &review::ballot(ctx, &ws, &args.round, given(args)?)?, args.format.format);
        }
        ReviewCommand::Reveal(args) => {
            tell(shell, &review::reveal(ctx, &ws, &args.round)?, args.format.format);
        }
        ReviewCommand::Show { .. }
        | ReviewCommand::Precedents { .. }
        | ReviewCommand::Concerns(_)
        | ReviewCommand::Status { .. }
        | ReviewCommand::Simulate(_) => look(shell, &ws, command)?,
    }
    Ok(Exit::Allowed)
}

/// Commands that only show.
fn look(shell: &Shell, ws: &Workspace, command: &ReviewCommand) -> Result<(), OpsError> {
    let text = match command {
        ReviewCommand::Show { round, format } => {
            let shown = review::show(ws, round)?;
            match format.format {
                Format::Text => review::show_text(&shown, shell.out.out),
                Format::Json => review::shown_json(&shown)
                    .map(|shown| json::document("review-show", &shown))
                    .unwrap_or_default(),
            }
        }
        ReviewCommand::Precedents { tag, text, format } => {
            let found = review::precedents(ws, tag.as_deref(), text)?;
            match format.format {
                Format::Text => review::precedents_text(&found),
                Format::Json => json::documents("review-precedent", &found),
            }
        }
        ReviewCommand::Concerns(format) => {
            let found = review::concerns(ws)?;
            match format.format {
                Format::Text => review::concerns_text(&found),
                Format::Json => json::documents("review-concern", &found),
            }
        }
        ReviewCommand::Status { witness, ledger, format } => {
            // Who sits at the keyboard is known by their key. What is private is for them: not in a list that programs pass on.
            let is_for_them = witness.is_some() || format.format == Format::Text;
            let signer = witnessing::signer(&shell.ctx, ws).ok().filter(|_| is_for_them);
            let reader = signer.map(|signer| signer.public().to_string());
            let found = review::standing(ws, witness.as_deref(), reader.as_deref())?;
            match format.format {
                Format::Text => review::standing_text(&found, shell.out.out),
                Format::Json if *ledger => {
                    found.ledger.iter().map(review::json).collect::<Result<String, OpsError>>()?
                }
                Format::Json => json::documents("review-status", &found.witnesses),
            }
        }
        ReviewCommand::Accept(_)
        | ReviewCommand::Panel(_)
        | ReviewCommand::Flag(_)
        | ReviewCommand::Resolve(_)
        | ReviewCommand::Ballot(_)
        | ReviewCommand::Reveal(_)
        | ReviewCommand::Simulate(_) => String::new(),
    };
    shell.out.result(&text);
    Ok(())
}

fn list(shell: &Shell, format: Format) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    round::expire(&shell.ctx, &ws)?;
    let found = witnessing::waiting(&ws)?;
    if let Some(warning) = found.warning() {
        shell.out.message(&message::diagnostics(&[warning], shell.out.err));
    }
    shell.out.result(&match format {
        Format::Text => review::waiting_text(&found.rounds, shell.out.out),
        Format::Json => json::documents("review-waiting", &found.rounds),
    });
    Ok(Exit::Allowed)
}

fn tell(shell: &Shell, acted: &ActReport, format: Format) {
    shell.out.result(&match format {
        Format::Text => review::follow_text(acted),
        Format::Json => {
            review::acted_json(acted).map(|acted| json::document("review-act", &acted)).unwrap_or_default()
        }
    });
}

fn given(args: &AnswerArgs) -> Result<AnswerSource<'_>, OpsError> {
    if let Some(file) = &args.from {
        return Ok(AnswerSource::File(file));
    }
    if args.decision.is_none() {
        return Ok(AnswerSource::Editor);
    }
    flags(args).map(AnswerSource::Flags)
}

/// The answer that flags give.
fn flags(args: &AnswerArgs) -> Result<EntryStatement, OpsError> {
    let mut said = EntryStatement::new();
    let mut put = |name: &str, value: Value| said.insert(name.to_owned(), value);
    put("decision", json!(args.decision));
    put("rationale", json!(args.rationale));
    if let Some(text) = &args.amended_recommendation {
        put("amended_recommendation", json!(text));
    }
    let checks = args
        .factual_check
        .chunks_exact(3)
        .map(|check| json!({"verdict": check[0], "claim": check[1], "evidence": check[2]}));
    put("factual_checks", checks.collect());
    if let [detected, rationale] = args.sycophancy.as_slice() {
        let detected = match detected.as_str() {
            "yes" => true,
            "no" => false,
            _ => {
                return Err(OpsError::Usage {
                    what: format!("--sycophancy begins with yes or no, not {detected}"),
                    help: "--sycophancy no \"it names a failure of its own\"".to_owned(),
                });
            }
        };
        put("sycophancy_assessment", json!({"detected": detected, "rationale": rationale}));
    }
    if let [subject, direction, rationale] = args.concern.as_slice() {
        put("policy_concern", json!({"subject": subject, "direction": direction, "rationale": rationale}));
    }
    if let [claim, critique] = args.strongest.as_slice() {
        put("strongest", json!({"claim": claim, "critique": critique}));
    }
    if let Some(agent) = &args.attributed_to {
        put("attributed_to", json!(agent));
    }
    let mistaken = args.mistaken.then_some(witnessing::MISTAKEN);
    let tags: Vec<&str> = args.tag.iter().map(String::as_str).chain(mistaken).collect();
    if !tags.is_empty() {
        put("tags", json!(tags));
    }
    if let Some(seconds) = args.time_spent_seconds {
        put("time_spent_seconds", json!(seconds));
    }
    Ok(said)
}

/// Folds a file. Invalid entries are part of the answer.
fn simulate(shell: &Shell, args: &SimulateArgs) -> Result<Exit, OpsError> {
    let found = review::simulate(&shell.ctx, &args.file, args.now, args.reader.as_deref())?;
    shell.out.result(&match args.format.format {
        Format::Text => review::summary(&found.json, shell.out.out),
        Format::Json => review::json(&found.json)?,
    });
    Ok(Exit::Allowed)
}
