//! `docs-not-updated`: the declared API changed, and no documentation with it.

use crate::detect::{prelude::*, situation::DocsChange};
use crate::domain::DirtyBit;

/// `andon check` asks it about the whole range, which no single commit can answer.
pub static RULE: Rule = Rule {
    level: Level::Off,
    about: About { dirty: Some(DirtyBit::DocsUpdated), ..About::new(EventClass::DirtyBit) },
    stages: &[Stage::PreCommit, Stage::PrePush, Stage::Complete, Stage::Check],
    ..Rule::of_iterations("docs-not-updated", include_str!("docs_not_updated.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let DocsChange::Missing(paths) = &situation.candidate?.docs else { return None };
    let shown: Vec<String> = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let named = words::list(&shown, words::len(&shown));
    let message = format!("the API changed and no documentation with it: {named}");
    let evidence = shown.iter().take(5).map(|path| Evidence::Path(words::bounded(path))).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, message) })
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
