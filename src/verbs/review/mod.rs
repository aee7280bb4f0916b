//! `andon review`.

pub mod args;
pub mod run;

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
use andon_engine::asking;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;
use andon_review::payload::fields::{SignedText, Whole};
use andon_review::payload::member::{Malformed, malformed, named};
use andon_review::payload::vote::{
    FactualCheck, PolicyConcern, StrongestClaims, SycophancyAssessment, VotePayload,
};

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
            let signer = asking::signer(&shell.ctx, ws).ok().filter(|_| is_for_them);
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
    let found = asking::waiting(&ws)?;
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
    let vote = flags(args).map_err(|err| review::wrong_flag(&err))?;
    Ok(AnswerSource::Flags { vote: Box::new(vote), has_seconds: args.time_spent_seconds.is_some() })
}

/// The answer that flags give.
fn flags(args: &AnswerArgs) -> Result<VotePayload, Malformed> {
    let text = |text: &String| SignedText(text.clone());
    let checks = args.factual_check.chunks_exact(3).map(|check| {
        let verdict = named("factual_checks.verdict", &check[0])?;
        Ok(FactualCheck { verdict, claim: text(&check[1]), evidence: Some(text(&check[2])) })
    });
    let sycophancy_assessment = match args.sycophancy.as_slice() {
        [detected, rationale] => {
            let detected = match detected.as_str() {
                "yes" => true,
                "no" => false,
                _ => return Err(malformed("--sycophancy", "must begin with yes or no")),
            };
            Some(SycophancyAssessment { detected, rationale: text(rationale) })
        }
        _ => None,
    };
    let policy_concern = match args.concern.as_slice() {
        [subject, direction, rationale] => Some(PolicyConcern {
            subject: text(subject),
            direction: named("policy_concern.direction", direction)?,
            rationale: text(rationale),
        }),
        _ => None,
    };
    let strongest = match args.strongest.as_slice() {
        [claim, critique] => {
            Some(StrongestClaims { claim: Some(text(claim)), critique: Some(text(critique)) })
        }
        _ => None,
    };
    let seconds = Whole::try_from(args.time_spent_seconds.unwrap_or_default());
    let mistaken = args.mistaken.then(|| asking::MISTAKEN.to_owned());
    let decision = named("decision", args.decision.as_deref().unwrap_or_default())?;
    Ok(VotePayload {
        amended_recommendation: args.amended_recommendation.as_ref().map(text),
        factual_checks: checks.collect::<Result<_, _>>()?,
        sycophancy_assessment,
        policy_concern,
        strongest,
        time_spent_seconds: seconds.map_err(|wrong| malformed("time_spent_seconds", wrong))?,
        attributed_to: args.attributed_to.clone(),
        tags: args.tag.iter().cloned().chain(mistaken).collect(),
        ..VotePayload::new(decision, args.rationale.as_deref().unwrap_or_default())
    })
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
