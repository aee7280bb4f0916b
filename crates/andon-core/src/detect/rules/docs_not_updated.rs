//! `docs-not-updated`: the declared API changed, and no documentation with it.

use std::fmt;

use crate::detect::rule::{Docs, Rule, RuleInput};
use crate::detect::situation::{DocsChange, Situation};
use crate::detect::words;
use crate::domain::about::{About, DirtyBit, EventClass};
use crate::domain::decision::Stage;
use crate::domain::detail::FindingDetail;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::RuleSetting;

/// `andon check` asks it about the whole range, which no single commit can answer.
pub static RULE: Rule = Rule {
    id: "docs-not-updated",
    summary: "paths of the declared API changed and no documentation did",
    docs: Docs {
        trips: "A path of `paths.api` changed and no path of `paths.docs` did: in the commit about to be \
                made, in what is pushed, in the range that is checked or, for `andon complete`, since the \
                window began.",
        why: "Off unless a project declares its API and asks for it: a diff does not show whether a change \
              needs words. `andon complete` asks wherever `paths.api` is declared.",
        source: "docs/spec-map.md: Loop rules, dirty bit checks (docs_updated)",
        example: "With the level `block`, src/api.rs changes and docs/api.md does not: the commit and the \
                  push are refused.",
        tune: "`docs-not-updated = \"block\"` with `[paths] api = [\"src/api/**\"]`.",
    },
    level: Level::Off,
    reason: HaltReason::Stalled,
    report_file: ReportFile::Checkpoint,
    about: About { dirty: Some(DirtyBit::DocsUpdated), ..About::new(EventClass::DirtyBit) },
    params: &[],
    stages: &[Stage::PreCommit, Stage::PrePush, Stage::Complete, Stage::Check],
    reads: RuleInput::Records,
    check,
};

/// Paths of the API that changed without documentation.
#[derive(Debug)]
struct UndocumentedPaths {
    paths: Vec<String>,
}

impl FindingDetail for UndocumentedPaths {}

impl fmt::Display for UndocumentedPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = words::list(&self.paths, words::len(&self.paths));
        write!(f, "the API changed and no documentation with it: {paths}")
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let DocsChange::Missing(paths) = &situation.candidate?.docs else { return None };
    let shown: Vec<String> = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    Some(Finding {
        evidence: shown.iter().take(5).map(|path| Evidence::Path(words::bounded(path))).collect(),
        help: vec![
            "update the documentation that names it, or see which paths count: andon config show paths"
                .to_owned(),
        ],
        ..RULE.finding(setting.level, UndocumentedPaths { paths: shown })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::documented;

    #[test]
    fn only_an_api_without_words_trips() {
        let missing = || DocsChange::Missing(vec![b"src/api.rs".to_vec()]);
        let found = documented(&RULE, missing(), Level::Block).unwrap();
        assert_eq!(found.message(), "the API changed and no documentation with it: src/api.rs");
        assert_eq!(found.level, Level::Block);
        assert!(documented(&RULE, DocsChange::Updated, Level::Block).is_none());
        assert!(documented(&RULE, DocsChange::NotAsked, Level::Block).is_none());
    }
}
