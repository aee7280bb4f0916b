//! `ANDON_SKIP=untested-edit git commit`: a dirty bit of the commit gate is skipped, for one commit and with a reason
//! (docs/spec-map.md, loop rules: skip dirty bit check).
//!
//! A skip is a fact like any other: it goes from the receipt into the record, travels with it, and is shown with the
//! commit. The reason is in `ANDON_SKIP_REASON` or in a trailer of the message, which pre-commit cannot see yet:
//! prepare-commit-msg, where it can be seen, refuses a skip without one.

use std::ffi::OsString;

use crate::{Context, OpsError, Result, VerbError, Workspace, adapter::git_hook, effect::files::beginning};
use andon_config as config;
use andon_core::domain::{Decision, Hint, Level, Skip, Verdict};
use andon_core::{detect, policy};
use andon_git as git;
use andon_store::receipt;

/// The variable with the rules to skip.
const WHAT: &str = "ANDON_SKIP";
/// The beginning of the line below which `git commit --verbose` shows the change.
const SCISSORS: &str = "# ------------------------ >8";
const WHY: &str = "ANDON_SKIP_REASON";
/// Longest list and longest reason, in characters.
const MAX_TEXT: usize = 500;
/// Most bytes of a message that are searched for the trailer.
const MAX_MESSAGE: u64 = 64 << 10;

/// The rules to skip, as they were asked for.
pub struct SkipRequest {
    rules: Vec<&'static str>,
    reason: String,
    agent: Option<&'static str>,
}

impl SkipRequest {
    /// True if this rule is to be skipped.
    pub fn names(&self, rule: &str) -> bool {
        self.rules.contains(&rule)
    }
}

/// Reads the variables; `None` when nothing is to be skipped.
///
/// # Errors
/// `VerbError::Skip` for anything that is no dirty bit: a slip of the pen must not look like a skip.
pub fn asked(ctx: &Context) -> Result<Option<SkipRequest>> {
    let list = ctx.var(WHAT).map(clipped).unwrap_or_default();
    let mut rules = Vec::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let rule = detect::skippable().find(|rule| rule.id == word).ok_or_else(|| unknown(word))?;
        rules.push(rule.id);
    }
    if rules.is_empty() {
        return Ok(None);
    }
    let reason = ctx.var(WHY).map(clipped).unwrap_or_default();
    Ok(Some(SkipRequest { rules, reason, agent: ctx.actor().marker }))
}

fn clipped(text: &str) -> String {
    text.trim().chars().take(MAX_TEXT).collect()
}

fn unknown(word: &str) -> OpsError {
    if let Some(rule) = detect::rule(word) {
        let hint = match rule.about.waiver {
            Some(waiver) => waiver.to_owned(),
            None if rule.level == Level::Halt => Hint::Answer.led("a person answers its halt"),
            None => "its level is set in andon.toml, under [rules]".to_owned(),
        };
        let what = format!("{WHAT}: {word} is no dirty bit of a commit and cannot be skipped");
        return OpsError::verb(VerbError::Skip, what, hint);
    }
    let what = format!("{WHAT}: no such rule: {word:?}");
    OpsError::verb(VerbError::Skip, what, config::suggest(word, detect::skippable().map(|rule| rule.id)))
}

/// Passes over what was asked for, where it would refuse. A decision to halt stays as it is.
pub fn apply(asked: Option<&SkipRequest>, decision: Decision) -> (Decision, Vec<Skip>) {
    let Some(asked) = asked.filter(|_| decision.verdict == Verdict::Block) else {
        return (decision, Vec::new());
    };
    let mut skipped = Vec::new();
    let Decision { mut findings, standing, .. } = decision;
    for finding in findings.iter_mut().filter(|finding| asked.rules.contains(&finding.rule)) {
        if finding.level != Level::Block {
            continue;
        }
        finding.level = Level::Warn;
        finding.detail = finding.detail.after("skipped for this commit: ");
        finding.help = Vec::new();
        skipped.push(Skip {
            rule: finding.rule.to_owned(),
            reason: asked.reason.clone(),
            agent: asked.agent.map(str::to_owned),
        });
    }
    (policy::decide(findings, standing), skipped)
}

/// prepare-commit-msg: a skip that gave no reason yet must give it in the message.
///
/// # Errors
/// `VerbError::Skip` with the command that gives one.
pub fn reason_in_message(ctx: &Context, ws: &Workspace, args: &[OsString]) -> Result<()> {
    if ctx.var(WHAT).is_none_or(|list| list.trim().is_empty()) {
        return Ok(());
    }
    let skipped = receipt::read(ws.repo.git_dir()).pop().map(|receipt| receipt.skipped).unwrap_or_default();
    if skipped.iter().all(|skip| !skip.reason.is_empty()) {
        return Ok(());
    }
    let message = args.first().map(|name| message(ctx, name)).unwrap_or_default();
    let skipped = with_trailers(skipped, &git::trailers(&message));
    let Some(skip) = skipped.iter().find(|skip| skip.reason.is_empty()) else { return Ok(()) };
    let rule = &skip.rule;
    Err(OpsError::verb(
        VerbError::Skip,
        format!("{rule} is to be skipped for this commit, and no reason is given"),
        Hint::SkipWithReason.with([WHAT, rule, WHY, Skip::TRAILER]),
    ))
}

/// The message as it is so far, without git's comments.
pub(crate) fn message(ctx: &Context, name: &OsString) -> String {
    // A message that cannot be read gives no reason.
    let bytes = beginning(&ctx.cwd.join(name), MAX_MESSAGE).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.lines().take_while(|line| !line.starts_with(SCISSORS));
    text.filter(|line| !line.starts_with('#')).fold(String::new(), |text, line| text + line + "\n")
}

/// Fills in the reasons that the message gives.
pub fn with_trailers(mut skipped: Vec<Skip>, trailers: &[(String, String)]) -> Vec<Skip> {
    for skip in skipped.iter_mut().filter(|skip| skip.reason.is_empty()) {
        let trailers = trailers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(Skip::TRAILER));
        let mut named = trailers.filter_map(|(_, value)| value.split_once(':'));
        if let Some((_, reason)) = named.find(|(rule, _)| rule.trim() == skip.rule) {
            skip.reason = clipped(reason);
        }
    }
    skipped
}

/// The gate as a whole, when it was named to a framework as one to skip: the name is the only trace.
pub fn gate_by_name(ctx: &Context) -> Option<Skip> {
    if !git_hook::is_by_framework(&ctx.vars) {
        return None;
    }
    let (name, list) = ["SKIP", "PREK_SKIP"].into_iter().find_map(|name| Some((name, ctx.var(name)?)))?;
    let how = format!("{name}={}", clipped(list));
    let why = ctx.var(WHY).map(clipped).filter(|why| !why.is_empty());
    let reason = why.map_or_else(|| how.clone(), |why| format!("{how}: {why}"));
    let agent = ctx.actor().marker.map(str::to_owned);
    (!list.trim().is_empty()).then(|| Skip { rule: detect::HOOK_BYPASS.id.to_owned(), reason, agent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Finding;

    fn finding(rule: &'static str, level: Level) -> Finding {
        Finding { level, ..detect::rule(rule).unwrap().finding(level, "it happened") }
    }

    fn asked_for(rules: &[&'static str]) -> SkipRequest {
        SkipRequest { rules: rules.to_vec(), reason: "why".to_owned(), agent: Some("CLAUDECODE") }
    }

    #[test]
    fn only_a_dirty_bit_that_refuses_is_passed_over() {
        let asked = asked_for(&["untested-edit"]);
        let table = [
            (vec![finding("untested-edit", Level::Block)], Verdict::Warn, 1),
            (vec![finding("untested-edit", Level::Warn)], Verdict::Warn, 0),
            (vec![finding("untested-edit", Level::Halt)], Verdict::Halt, 0),
            (
                vec![finding("untested-edit", Level::Block), finding("oscillation", Level::Halt)],
                Verdict::Halt,
                0,
            ),
            (
                vec![finding("untested-edit", Level::Block), finding("failing-tests", Level::Block)],
                Verdict::Block,
                1,
            ),
        ];
        for (findings, verdict, skips) in table {
            let shown = format!("{findings:?}");
            let (decision, skipped) = apply(Some(&asked), policy::decide(findings, None));
            assert_eq!((decision.verdict, skipped.len()), (verdict, skips), "{shown}");
        }
        let plain = policy::decide(vec![finding("untested-edit", Level::Block)], None);
        assert_eq!(apply(None, plain).0.verdict, Verdict::Block);
    }

    #[test]
    fn trailers_give_reasons_for_what_they_name() {
        let skip =
            |rule: &str, reason: &str| Skip { rule: rule.to_owned(), reason: reason.to_owned(), agent: None };
        let trailer = |value: &str| ("andon-skip".to_owned(), value.to_owned());
        let table = [
            (vec![trailer("untested-edit: hotfix: now")], "hotfix: now"),
            (vec![trailer("failing-tests: other"), trailer("untested-edit : x")], "x"),
            (vec![trailer("untested-edit")], ""),
            (vec![("Skip".to_owned(), "untested-edit: x".to_owned())], ""),
        ];
        for (trailers, reason) in table {
            let filled = with_trailers(vec![skip("untested-edit", "")], &trailers);
            assert_eq!(filled[0].reason, reason, "{trailers:?}");
        }
        let kept = with_trailers(vec![skip("untested-edit", "said")], &[trailer("untested-edit: other")]);
        assert_eq!(kept[0].reason, "said");
    }

    #[test]
    fn what_is_no_dirty_bit_is_named_with_its_hint() {
        for (word, hint) in [
            ("untested-edt", "did you mean `untested-edit`?"),
            ("oscillation", "andon resume"),
            ("test-weakening", "Tests-Removed"),
            ("hook-bypass", "[rules]"),
            ("all", "known here"),
        ] {
            let OpsError::Verb { help, .. } = unknown(word) else { panic!("{word}") };
            assert!(help.concat().contains(hint), "{word}: {help:?}");
        }
    }

    #[test]
    fn every_dirty_bit_is_a_rule_of_the_commit_gate() {
        for rule in detect::skippable() {
            assert!(rule.stages.contains(&andon_core::domain::Stage::PreCommit), "{}", rule.id);
            assert!(rule.level < Level::Halt, "{}", rule.id);
        }
        assert_eq!(detect::skippable().count(), 3);
    }
}
