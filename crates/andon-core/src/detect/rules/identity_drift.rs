//! `identity-drift`: the agent's own configuration is not the one that was pinned.

use crate::detect::prelude::*;
use crate::domain::{Hint, Mismatch};

/// The engine compares files with their pins only where this rule is on.
pub static RULE: Rule = Rule {
    level: Level::Block,
    reason: HaltReason::UserStop,
    about: About::new(EventClass::IdentityDrift),
    stages: &[Stage::PreCommit, Stage::PrePush, Stage::Check],
    reads: RuleInput::Tree,
    ..Rule::of_iterations("identity-drift", include_str!("identity_drift.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let found = &situation.candidate?.identity;
    if found.is_empty() {
        return None;
    }
    let paths: Vec<&str> = found.iter().filter_map(Mismatch::path).collect();
    let mut help = Vec::new();
    if !paths.is_empty() || found.contains(&Mismatch::Unexplained) {
        // A commit that is refused is made again, with the pin; one that is pushed needs another after it.
        let is_pushed = situation.stage == Stage::PrePush;
        help.push(if is_pushed { Hint::PinAndCommit } else { Hint::PinAnew }.into());
    }
    if found.iter().any(|one| matches!(one, Mismatch::Session { .. } | Mismatch::Role { .. })) {
        let keys = Hint::ShowConfigOf.with(["identity"]);
        help.push(format!("ANDON_SESSION and ANDON_NODE say who commits: {keys}"));
    }
    let evidence = paths.iter().take(5).map(|path| Evidence::Path(words::bounded(path))).collect();
    let named: Vec<String> = found.iter().map(ToString::to_string).collect();
    let message = format!("not as it was pinned: {}", words::list(&named, words::len(&named)));
    Some(Finding { evidence, help, ..RULE.finding(setting.level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::identified;

    #[test]
    fn every_difference_is_named_and_none_says_nothing() {
        assert!(identified(&RULE, Vec::new()).is_none());
        let drifted = identified(&RULE, vec![Mismatch::Changed("CLAUDE.md".to_owned())]).unwrap();
        assert_eq!(drifted.message(), "not as it was pinned: CLAUDE.md changed");
        assert_eq!(drifted.level, Level::Block);
        assert_eq!(drifted.evidence, [Evidence::Path("CLAUDE.md".to_owned())]);
        insta::assert_snapshot!(drifted.help[0], @"put it back, or let a person pin what is there now: andon pin && git add andon.toml");
        let unbound = Mismatch::Session { wanted: "flow".to_owned(), found: None };
        let found = identified(&RULE, vec![unbound]).unwrap();
        assert!(found.message().contains("there is no session") && found.help[0].contains("ANDON_SESSION"));
        let many = (0..500).map(|number| Mismatch::Added(format!("{number}{}", "x".repeat(400))));
        assert!(identified(&RULE, many.collect()).unwrap().message().len() < 2000);
    }
}
