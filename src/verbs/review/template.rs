//! The template of an answer, and reading what a person made of it: TOML with comments that explain each field, or JSON.
//! Mistakes are named by the line.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::AnswerArgs;
use andon_core::escape;
use andon_engine::{OpsError, Result, asking::MISTAKEN};
pub use andon_review::Malformed;
use andon_review::payload::member::{self, UNKNOWN, malformed, named, read_known};
use andon_review::{
    FactualCheck, PolicyConcern, SignedText, StrongestClaims, SycophancyAssessment, Trigger, VotePayload,
    Whole,
};

/// The answer that a template is made for.
pub struct TemplateOf {
    /// The id of the round, and its question.
    pub title: String,
    /// Seconds since it was accepted.
    pub seconds: i64,
    /// There is a critique to be assessed.
    pub critique: bool,
    /// The round is a halt.
    pub halt: bool,
    /// The agents whom the answer may blame.
    pub agents: Vec<String>,
}

/// The text that the editor opens with: TOML, with comments that explain each field.
pub fn template(of: &TemplateOf) -> String {
    let (proposer, opposer) = if of.halt {
        ("go on as before", "the other way, where there is one")
    } else {
        ("the claim is right", "the critique is right")
    };
    let value = |name: &str| match name {
        "title" => escape::terminal(&of.title).into_owned(),
        "proposer" => proposer.to_owned(),
        "opposer" => opposer.to_owned(),
        "seconds" => of.seconds.to_string(),
        _ => escape::terminal(&of.agents.join(", ")).into_owned(),
    };
    let is_asked = |part: &str| match part {
        "agents" => !of.agents.is_empty(),
        "halt" => of.halt,
        "critique" => of.critique,
        _ => true,
    };
    let parts = include_str!("template.txt").split("@@ ").filter_map(|part| part.split_once('\n'));
    let asked = parts.filter(|(name, _)| is_asked(name)).flat_map(|(_, text)| text.split('{'));
    // Behind a brace stands the name of a value, and the rest of the text behind that.
    asked
        .map(|piece| {
            piece.split_once('}').map_or_else(|| piece.to_owned(), |(name, rest)| value(name) + rest)
        })
        .collect()
}

/// Reads an answer from text: TOML as the template has it, or a JSON object.
///
/// # Errors
/// The line that is wrong; `name` is the file, and `command` says how to go on.
pub fn read(command: &str, name: &str, text: &str) -> Result<VoteDraft> {
    let wrong = |line: Option<usize>, why: &str| wrong(command, name, line, why);
    let said = parse(text).map_err(|(line, why)| wrong(line, &why))?;
    check(&said).map_err(|err| wrong(line_of(text, &err.member), &err.to_string()))
}

fn wrong(command: &str, name: &str, line: Option<usize>, why: &str) -> OpsError {
    let place = line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
    OpsError::usage(
        format!("{place}: {why}"),
        format!("correct it, and go on with it: {command} --from {name}"),
    )
}

fn parse(text: &str) -> Result<Map<String, Value>, (Option<usize>, String)> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|err| (Some(err.line()), err.to_string()));
    }
    toml::from_str(text).map_err(|err| {
        let line = err.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
        (line, err.message().to_owned())
    })
}

/// The decision of a person, and the trigger of the round where they named one.
#[derive(Debug)]
pub struct VoteDraft {
    pub vote: VotePayload,
    pub trigger: Option<Trigger>,
}

/// The members that Andon adds to an answer itself.
const ADDED: [&str; 6] = ["round", "trigger", "witness", "halt", "code", "tree"];

#[derive(Deserialize)]
struct NamedTrigger {
    trigger: Option<Trigger>,
}

/// Checks an answer before its round is known. A field that is none would be signed and say nothing; a
/// required sentence is not empty.
pub fn check(said: &Map<String, Value>) -> Result<VoteDraft, Malformed> {
    if said.contains_key("given") {
        return Err(malformed("given", UNKNOWN));
    }
    let vote: VotePayload = read_known(said, &ADDED)?;
    let NamedTrigger { trigger } = member::read(said)?;
    vote.check()?;
    let blank = |text: Option<&SignedText>| text.is_some_and(SignedText::is_blank);
    let concern = vote.policy_concern.as_ref();
    let sentences = [
        ("sycophancy_assessment.rationale", vote.sycophancy_assessment.as_ref().map(|said| &said.rationale)),
        ("policy_concern.subject", concern.map(|said| &said.subject)),
        ("policy_concern.rationale", concern.map(|said| &said.rationale)),
    ];
    match sentences.iter().find(|(_, text)| blank(*text)) {
        Some((member, _)) => Err(malformed(member, "must not be empty")),
        None => Ok(VoteDraft { vote, trigger }),
    }
}

/// The answer that flags give.
pub fn flags(args: &AnswerArgs) -> Result<VotePayload, Malformed> {
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
    let mistaken = args.mistaken.then(|| MISTAKEN.to_owned());
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

/// The line on which a member is set: the last part of its path, behind the table that the path names.
fn line_of(text: &str, member: &str) -> Option<usize> {
    let (table, key) = member.rsplit_once('.').map_or((None, member), |(table, key)| (Some(table), key));
    let heads = |line: &str| table.is_none_or(|table| line.trim().trim_matches(['[', ']']) == table);
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches('"');
        line.strip_prefix(key).is_some_and(|rest| {
            rest.trim_start().trim_start_matches('"').trim_start().starts_with(['=', ':'])
        })
    };
    let begin = text.lines().position(heads).unwrap_or(0);
    let found = text.lines().enumerate().skip(begin).find(|(_, line)| sets(line));
    found
        .or_else(|| text.lines().enumerate().find(|(_, line)| heads(line) && table.is_some()))
        .map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_review::VoteChoice;

    fn example() -> TemplateOf {
        TemplateOf {
            title: "1a2b: why?\u{1b}[31m".into(),
            seconds: 60,
            critique: true,
            halt: false,
            agents: vec!["agent:coder".into()],
        }
    }

    #[test]
    fn the_template_is_toml_and_each_mistake_has_its_line() {
        let text = template(&example());
        assert!(!text.contains('\u{1b}'));
        let said =
            |text: &str| read("andon review resolve 1a2b3c4d", "x", text).map_err(|err| err.to_string());
        assert_eq!(
            said(&text).unwrap_err(),
            "x:10: decision: must be accept_synthesis, accept_proposer, accept_opposer, amend or reject_round"
        );
        let chosen = text.replace("decision = \"\"", "decision = \"accept_opposer\"");
        assert_eq!(said(&chosen).unwrap_err(), "x:13: rationale: must not be empty");
        let why = chosen.replacen("rationale = \"\"", "rationale = \"Locks.\"", 1);
        assert_eq!(said(&why).unwrap_err(), "x:31: sycophancy_assessment.rationale: must not be empty");
        let whole = why.replacen(
            "detected = false\nrationale = \"\"",
            "detected = false\nrationale = \"Its own.\"",
            1,
        );
        assert_eq!(said(&whole).unwrap().vote.time_spent_seconds.get(), 60);
        let open = whole.replace("\"Locks.\"", "\"Locks.");
        assert!(said(&open).unwrap_err().starts_with("x:13: "), "{:?}", said(&open));
        let amend = whole.replace("# amended_recommendation = \"\"", "amended_recommendation = \"x\"");
        assert_eq!(said(&amend).unwrap_err(), "x:16: amended_recommendation: is for `amend` alone");
        let slip = whole.replace("time_spent_seconds", "time_spend_seconds");
        assert_eq!(said(&slip).unwrap_err(), "x:19: time_spend_seconds: is no field of an answer");
        let inner = whole.replace("detected = false", "detected = false\nsure = true");
        assert_eq!(said(&inner).unwrap_err(), "x:31: sycophancy_assessment.sure: is no field of an answer");
        let word = whole.replace("detected = false", "detected = \"no\"");
        assert_eq!(said(&word).unwrap_err(), "x:30: sycophancy_assessment.detected: must be true or false");
        let long = whole.replace("Locks.", &"x".repeat(10 << 20));
        assert_eq!(
            said(&long).unwrap_err(),
            "x:13: rationale: must be at most 4 KiB: signed texts are never cut"
        );
    }

    #[test]
    fn json_is_read_as_well() {
        let good = r#"{"decision":"reject_round","rationale":"x","time_spent_seconds":1}"#;
        let read_good = read("andon review resolve 1a2b3c4d", "x", good).unwrap();
        assert_eq!(read_good.vote.decision, VoteChoice::RejectRound);
        let bad = read(
            "andon review resolve 1a2b3c4d",
            "x",
            "{\n\"decision\": \"maybe\",\n\"rationale\": \"x\", \"time_spent_seconds\": 1}",
        );
        assert_eq!(
            bad.unwrap_err().to_string(),
            "x:2: decision: must be accept_synthesis, accept_proposer, accept_opposer, amend or reject_round"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}") {
            let _ = read("andon review resolve 1a2b3c4d", "x", &text);
        }
    }
}
