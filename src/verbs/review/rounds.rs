//! The round that a person means, the rounds that wait, the state of a panel, what people signed about a round, what they decided
//! before, and what they flagged about the rules.

use serde::Serialize;

use andon_core::domain::{EntryId, Hint, Timestamp, plural::count};
use andon_core::escape;
use andon_engine::asking::{self, EntryStatement, SignedLedger, WaitingRound};
use andon_engine::{OpsError, Result, Workspace, halts, json::RoundPrecedentJson, text::Style};
use andon_review::{
    ConcernDirection, FlagRoute, Panel, Payload, PolicyConcern, PrecedentQuery, RoundObjection, RoundState,
    Seat, SignedText, StrongestClaims, VotePayload, Words, payload::member::read,
};

/// A vote as it was signed.
#[derive(Debug, Serialize)]
pub struct ShownVote {
    entry: EntryId,
    witness: String,
    at: Timestamp,
    /// `current`, `upheld`, `overturned` or `dissent`.
    standing: &'static str,
    /// The instruction that it gives, word for word.
    words: Option<String>,
    /// The way in which it was given, where that leaves open who gave it.
    #[serde(skip)]
    given: Option<String>,
    /// The members that were signed.
    said: EntryStatement,
}

/// A flag, and what it leads to.
#[derive(Debug, Serialize)]
pub struct ShownFlag {
    entry: EntryId,
    by: String,
    at: Timestamp,
    reason: String,
    route: FlagRoute,
}

/// A flag that the rules themselves are wrong.
#[derive(Debug, Serialize)]
pub struct ShownConcern {
    /// The entry that raised it.
    id: String,
    by: String,
    subject: String,
    direction: ConcernDirection,
    rationale: String,
    /// `open`, `accepted` or `declined`.
    standing: &'static str,
}

/// The round that a person names: an id, its first digits, or `halt` for the unanswered one here.
///
/// # Errors
/// There is none, or several.
pub fn find(ws: &Workspace, ledger: &SignedLedger, named: &str) -> Result<usize> {
    let entry = if named == "halt" {
        let halt = halts::binding(ws)?.ok_or_else(|| {
            OpsError::usage("no halt waits for an answer here", Hint::Review.led("see which rounds wait"))
        })?;
        ledger.find(&halt.id.to_string())?
    } else {
        ledger.find(named)?
    };
    if ledger.folded.round(entry).is_some() {
        return Ok(entry);
    }
    if let Some((what, help)) = asking::why_not(ledger, entry) {
        return Err(OpsError::refused(what, help));
    }
    Err(OpsError::usage(
        format!("{} is no round: it is of type {}", ledger.short(entry), ledger.entries[entry].kind),
        Hint::Review,
    ))
}

/// The name of a decision, without the digest of an amended text.
pub fn choice(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

/// Columns of a question.
const QUESTION: usize = 72;

/// The rounds that wait, for people; nothing when none does.
pub fn waiting_text(rounds: &[WaitingRound], style: Style) -> String {
    let mut out = String::new();
    for round in rounds {
        let id: String = round.id.chars().take(8).collect();
        let question = escape::terminal_clip(round.question.lines().next().unwrap_or_default(), QUESTION);
        out.push_str(&format!("{}  {}  {}\n", style.bold(&id), round.status, round.triggers.join(", ")));
        out.push_str(&format!("  {question}\n  since {}\n", style.when(round.since)));
        if round.missing > 0 {
            out.push_str(&format!("  needs {}\n", count(round.missing, "more witness")));
        }
        let free = round.caps.iter().filter(|cap| cap.left > 0);
        let people: Vec<String> =
            free.map(|cap| format!("{} ({} left today)", escape::terminal(&cap.witness), cap.left)).collect();
        let free = |at, cap: &str| format!("{}, free {}", escape::terminal(cap), style.when(at));
        let full = round.caps.iter().filter_map(|cap| Some(free(cap.free_at?, &cap.witness)));
        let full: Vec<String> = full.collect();
        if !full.is_empty() {
            out.push_str(&format!("  at their cap for today: {}\n", full.join("; ")));
        }
        if people.is_empty() && round.status.starts_with("panel") && round.missing == 0 {
            out.push_str("  its panel is complete and votes\n");
        } else if people.is_empty() && round.advice.is_none() {
            out.push_str("  no one may answer now: ask for a panel, or name more witnesses\n");
        } else if !people.is_empty() {
            out.push_str(&format!("  may answer: {}\n", people.join(", ")));
        }
        if let Some(advice) = &round.advice {
            out.push_str(&format!("  {}\n", escape::terminal(advice)));
        }
    }
    if let Some(first) = rounds.first() {
        out.push_str(&format!("  help: {}\n", Hint::ReviewShow.with([&format!("{:.8}", first.id)])));
    }
    out
}

/// The progress of a member, in words.
fn seat_state(seat: &Seat) -> &'static str {
    match (seat.vote, seat.commit) {
        (Some(_), _) => "has revealed",
        (None, Some(_)) => "has voted",
        (None, None) => "has a seat",
    }
}

/// The size of a panel, and each member.
pub fn panel_members(panel: &Panel) -> String {
    let seats: Vec<String> =
        panel.seats.iter().map(|seat| format!("{} {}", seat.witness, seat_state(seat))).collect();
    let free = panel.size.saturating_sub(panel.seats.len());
    let free = (free > 0).then(|| count(free, "free seat"));
    let all: Vec<String> = seats.into_iter().chain(free).collect();
    format!("panel of {}: {}", panel.size, all.join(", "))
}

/// The next step of a panel, with the command.
pub fn panel_next(panel: &Panel, round: &str) -> String {
    let has_voted = |seat: &Seat| seat.commit.is_some() || seat.vote.is_some();
    let voted = panel.seats.iter().filter(|seat| has_voted(seat)).count();
    if voted == panel.size {
        Hint::Reveal.with([round])
    } else if panel.seats.len() < panel.size {
        Hint::TakeSeats.with([round])
    } else {
        Hint::Vote.with([round])
    }
}

/// The votes on a round that count or counted, oldest first, each once. Those of a panel that has not decided are not shown.
pub fn votes(ledger: &SignedLedger, entry: usize) -> Vec<ShownVote> {
    let Some(round) = ledger.folded.round(entry) else { return Vec::new() };
    let mut found: Vec<ShownVote> = Vec::new();
    let newest = round.decision();
    for decided in &round.decisions {
        let standing = match newest {
            Some(newest) if newest.entry == decided.entry => "current",
            Some(newest) if newest.key == decided.key => "upheld",
            Some(_) | None => "overturned",
        };
        let all = decided.votes.iter().map(|vote| (vote, standing));
        for (vote, standing) in all.chain(decided.dissent.iter().map(|vote| (vote, "dissent"))) {
            let shown = shown(ledger, round, *vote, standing);
            // A ballot that counts in a larger panel has the standing that it has there.
            found.retain(|earlier| earlier.entry != shown.entry);
            found.push(shown);
        }
    }
    found
}

fn shown(ledger: &SignedLedger, round: &RoundState, vote: usize, standing: &'static str) -> ShownVote {
    let vote = &ledger.folded.state.votes.all[vote];
    let said = ledger.voted(vote.entry);
    ShownVote {
        entry: ledger.entries[vote.entry].id,
        witness: vote.witness.clone(),
        at: Timestamp(vote.at),
        standing,
        words: said.and_then(|said| ledger.words(round.entry, &said)),
        given: ledger.given(vote.entry),
        said: ledger.vote(vote.entry).clone(),
    }
}

/// The flags of a round, oldest first.
pub fn flags(ledger: &SignedLedger, entry: usize) -> Vec<ShownFlag> {
    let Some(round) = ledger.folded.round(entry) else { return Vec::new() };
    let one = |(at, route): &(usize, FlagRoute)| ShownFlag {
        entry: ledger.entries[*at].id,
        by: signer(ledger, *at),
        at: Timestamp(ledger.folded.graph.eff[*at]),
        reason: ledger.said(*at).map(|said: RoundObjection| said.reason.0).unwrap_or_default(),
        route: *route,
    };
    round.flags.iter().map(one).collect()
}

/// The reason for which a flag opens nothing.
pub fn without_effect(route: FlagRoute) -> Option<&'static str> {
    match route {
        FlagRoute::Open | FlagRoute::Panel3 | FlagRoute::Panel5 => None,
        FlagRoute::Pending => {
            Some("  the flag does nothing yet: nothing is decided here; flag the decision once it is there")
        }
        FlagRoute::Late => Some("  the flag does nothing: the decision is more than seven days old"),
        FlagRoute::ConstitutionalOnly => {
            Some("  the flag does nothing: after two panels only the policy can open this again")
        }
    }
}

fn signer(ledger: &SignedLedger, at: usize) -> String {
    let key = ledger.review[at].signer.as_deref();
    key.and_then(|key| ledger.who(key)).unwrap_or("a key that is known no more").to_owned()
}

pub fn votes_text(votes: &[ShownVote], flags: &[ShownFlag], style: Style) -> String {
    let flagged = |flag: &ShownFlag| {
        let by = escape::terminal(&flag.by);
        format!("  by {by}, {} ({})\n{}", flag.at, flag.route, block("    ", &flag.reason))
    };
    let decided: String = votes.iter().map(vote_text).collect();
    headed("Decided", &decided, style)
        + &headed("Flagged", &flags.iter().map(flagged).collect::<String>(), style)
}

/// A text below its heading; nothing for none.
pub fn headed(title: &str, text: &str, style: Style) -> String {
    if text.is_empty() { String::new() } else { format!("\n{}\n{text}", style.bold(title)) }
}

fn vote_text(vote: &ShownVote) -> String {
    let Ok(said) = read::<VotePayload>(&vote.said) else { return String::new() };
    let (decision, seconds) = (said.decision, said.time_spent_seconds.get().unsigned_abs());
    let took = format!(", after {}", count(seconds, "second"));
    let standing = if vote.standing == "current" { String::new() } else { format!("  [{}]", vote.standing) };
    let head = format!("  {decision} by {}, {}{took}{standing}", vote.witness, vote.at);
    let mut out = format!("{}\n", escape::terminal(&head));
    if let Some(words) = &vote.words {
        out.push_str("    to do:\n");
        out.push_str(&block("      ", words));
    }
    out.push_str("    why:\n");
    out.push_str(&block("      ", &said.rationale.0));
    for line in details(&said).iter().chain(&vote.given) {
        out.push_str(&format!("    {}\n", escape::terminal(line)));
    }
    out
}

/// Everything else that was signed, a line each.
fn details(said: &VotePayload) -> Vec<String> {
    let mut lines = Vec::new();
    let there = |text: &Option<SignedText>| text.clone().map(|text| text.0).filter(|text| !text.is_empty());
    for check in &said.factual_checks {
        let evidence = there(&check.evidence).map(|text| format!(" (evidence: {text})")).unwrap_or_default();
        lines.push(format!("checked, {}: {}{evidence}", check.verdict, check.claim.0));
    }
    if let Some(found) = &said.sycophancy_assessment {
        let what = if found.detected { "detected" } else { "not detected" };
        lines.push(format!("sycophancy {what}: {}", found.rationale.0));
    }
    if let Some(StrongestClaims { claim, critique }) = &said.strongest {
        lines.extend(there(claim).map(|text| format!("strongest claim: {text}")));
        lines.extend(there(critique).map(|text| format!("strongest critique: {text}")));
    }
    lines.extend(said.attributed_to.as_ref().map(|agent| format!("attributed to: {agent}")));
    if let Some(PolicyConcern { subject, rationale, direction }) = &said.policy_concern {
        lines.push(format!("concern: {} {direction}: {}", subject.0, rationale.0));
    }
    if !said.tags.is_empty() {
        lines.push(format!("tags: {}", said.tags.join(", ")));
    }
    lines
}

fn block(indent: &str, text: &str) -> String {
    escape::terminal_block(text).lines().map(|line| format!("{indent}{line}\n")).collect()
}

/// Decisions by tag and words, the newest first.
///
/// # Errors
/// The ledger cannot be read.
pub fn precedents(ws: &Workspace, tag: Option<&str>, words: &[String]) -> Result<Vec<RoundPrecedentJson>> {
    let mut ledger = asking::look(ws)?;
    let text = (!words.is_empty()).then(|| Words::new(&words.join(" ")));
    let query = PrecedentQuery { tag: tag.map(str::to_owned), text };
    let found = ledger.folded.precedents(&query);
    ledger.fetch_decided(&ws.repo, &found);
    Ok(found.into_iter().map(|found| ledger.precedent(found)).collect())
}

pub fn precedents_text(found: &[RoundPrecedentJson]) -> String {
    let lines = found.iter().flat_map(|one| {
        let head = format!("{:.8}  {} ({}) by {}", one.round, one.decision, one.standing, one.by.join(", "));
        let question = one.question.lines().next().unwrap_or_default();
        let words = one.words.as_ref().map(|words| format!("  decided: {words}"));
        let why = Some(format!("  why: {}", one.rationale));
        [Some(head), Some(format!("  {question}")), words, why].into_iter().flatten()
    });
    lines.map(|line| format!("{}\n", escape::terminal(&line).trim_end())).collect()
}

/// The concerns of witnesses about the rules.
///
/// # Errors
/// The ledger cannot be read.
pub fn concerns(ws: &Workspace) -> Result<Vec<ShownConcern>> {
    let ledger = asking::load(ws)?;
    let votes = ledger.folded.state.votes.all.iter();
    let found = votes.filter_map(|vote| {
        let concern = ledger.voted(vote.entry)?.policy_concern?;
        let id = ledger.entries[vote.entry].id.to_string();
        Some(ShownConcern {
            standing: answered(&ledger, &id),
            id,
            by: vote.witness.clone(),
            subject: concern.subject.0,
            direction: concern.direction,
            rationale: concern.rationale.0,
        })
    });
    Ok(found.collect())
}

/// The answer to a concern of the policies that came into force.
fn answered(ledger: &SignedLedger, id: &str) -> &'static str {
    let chain = ledger.folded.authority.at_end.chain.iter().rev();
    let mut policies = chain.filter_map(|entry| match &*ledger.review[*entry].payload {
        Ok(Payload::Policy(policy)) => Some(&policy.concerns),
        Ok(_) | Err(_) => None,
    });
    let said = policies.find_map(|concerns| {
        let lists = [("accepted", &concerns.accepted), ("declined", &concerns.declined)];
        lists.into_iter().find(|(_, list)| list.iter().any(|named| named == id))
    });
    said.map_or("open", |(word, _)| word)
}

pub fn concerns_text(found: &[ShownConcern]) -> String {
    let line = |one: &ShownConcern| {
        let ShownConcern { id, by, subject, direction, rationale, standing } = one;
        let line = format!("{id:.8}  {standing}  {subject} {direction} by {by}: {rationale}");
        escape::terminal(&line).into_owned() + "\n"
    };
    found.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_review::PanelCause;

    #[test]
    fn each_step_names_who_has_come_how_far_and_what_is_next() {
        let mut panel = Panel {
            size: 3,
            cause: PanelCause::Request,
            opening: 0,
            deadline: 9,
            seats: vec![Seat::new("human:bo", 1), Seat::new("human:cy", 2)],
            is_open: true,
        };
        assert_eq!(
            panel_members(&panel),
            "panel of 3: human:bo has a seat, human:cy has a seat, 1 free seat"
        );
        assert!(panel_next(&panel, "1a2b").ends_with("andon review accept 1a2b"));
        panel.seats.push(Seat::new("human:di", 3));
        panel.seats[0].commit = Some(7);
        assert_eq!(
            panel_members(&panel),
            "panel of 3: human:bo has voted, human:cy has a seat, human:di has a seat"
        );
        assert!(panel_next(&panel, "1a2b").ends_with("andon review ballot 1a2b"));
        for (at, seat) in panel.seats.iter_mut().enumerate() {
            seat.commit = Some(at);
        }
        panel.seats[1].vote = Some(0);
        assert!(panel_members(&panel).contains("human:cy has revealed"), "{}", panel_members(&panel));
        assert!(panel_next(&panel, "1a2b").ends_with("andon review reveal 1a2b"));
    }
}
