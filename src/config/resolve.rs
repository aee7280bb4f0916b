//! From all that was said to the one configuration that holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document;
use super::keys;
use super::mistake::{ConfigError, ConfigErrors, Problems};
use super::reader::Reader;
use super::response::{Bell, Perpetual, Response};
use super::rules::{self as ordered, RuleSpecView, known_rules};
use super::setting::Setting;
use super::settings::{Config, FullRuns, Guard, PathSettings, TestSettings};
use super::source::{Origin, Source};
use super::value::{Said, Value};
use crate::domain::identity::IdentityRules;
use crate::domain::paths::PathRules;
use crate::domain::response::Program;
use crate::domain::settings::{ParamSpec, RuleSetting, RuleSettings};
use crate::domain::time::Span;

/// Checks and joins `sources`; the higher layer wins, key by key, and of two of one layer the later.
/// Fails with everything that is wrong in any of them.
pub fn load(sources: &[Source]) -> Result<Config, ConfigErrors> {
    load_with(sources, &known_rules())
}

/// As [`load`], for other rules than this version's.
pub fn load_with(sources: &[Source], rules: &[RuleSpecView]) -> Result<Config, ConfigErrors> {
    let mut problems = Problems::default();
    let mut said = BTreeMap::new();
    let mut workflow = None;
    let mut ordered: Vec<&Source> = sources.iter().collect();
    ordered.sort_by_key(|source| source.layer);
    for source in ordered {
        let start = problems.listed();
        if let Some(document) = document::parse(source, &mut problems) {
            let (said, problems, workflow) = (&mut said, &mut problems, &mut workflow);
            Reader { source, lines: document.lines, rules, problems, said, workflow }.read(&document.table);
        }
        problems.sort_from(start);
    }
    problems.into_result()?;
    let mut config = resolve(said, rules)?;
    if let Some(error) = ordered::out_of_order(&config, rules) {
        return Err(error.into());
    }
    config.workflow = Arc::new(workflow.unwrap_or_default());
    Ok(config)
}

fn resolve(said: BTreeMap<String, Said>, rules: &[RuleSpecView]) -> Result<Config, ConfigErrors> {
    let (docs, ignore) = (keys::PATHS_DOCS.value(&said), keys::PATHS_IGNORE.value(&said));
    let path_rules = PathRules::new(&docs, &ignore).map_err(|error| uncompilable(&said, &error))?;
    Ok(Config {
        guard: Guard {
            ack: keys::GUARD_ACK.value(&said),
            applies_to: keys::GUARD_APPLIES_TO.value(&said),
            on_internal_error: keys::GUARD_ON_INTERNAL_ERROR.value(&said),
            perpetual: if keys::GUARD_PERPETUAL.value(&said) { Perpetual::Yes } else { Perpetual::No },
            session_gap: keys::GUARD_SESSION_GAP.value(&said),
        },
        test: TestSettings {
            command: keys::TEST_COMMAND.value(&said),
            format: keys::TEST_FORMAT.value(&said),
            full: if keys::TEST_FULL.value(&said) { FullRuns::Required } else { FullRuns::Wanted },
            handed_in: keys::TEST_HANDED_IN.value(&said),
            reports: keys::TEST_REPORTS.value(&said),
            runner: keys::TEST_RUNNER.value(&said),
            timeout: keys::TEST_TIMEOUT.value(&said),
        },
        paths: PathSettings { rules: path_rules, docs, ignore, api: keys::PATHS_API.value(&said) },
        rules: rules.iter().map(|rule| (rule.id, rule_setting(&said, rule))).collect::<RuleSettings>(),
        cached: keys::USAGE_CACHED.value(&said),
        normalize: patterns(&said),
        response: response(&said),
        identity: IdentityRules {
            files: keys::IDENTITY_FILES.value(&said),
            checksum: keys::IDENTITY_CHECKSUM.value(&said),
            workflow_binding: keys::IDENTITY_WORKFLOW_BINDING.value(&said),
            authorized_roles: keys::IDENTITY_AUTHORIZED_ROLES.value(&said),
            pinned: keys::IDENTITY_PINNED.value(&said).into_iter().collect(),
        },
        workflow: Arc::default(),
        said,
    })
}

/// Each glob is valid and all together are too much for the matcher: the nearest place is where they stand.
fn uncompilable(said: &BTreeMap<String, Said>, error: &globset::Error) -> ConfigErrors {
    let keys = [&keys::PATHS_DOCS.key, &keys::PATHS_IGNORE.key];
    let origin = keys.iter().find_map(|key| said.get(&key.dotted())).map(|said| &said.origin);
    let file = match origin {
        Some(origin @ Origin::Said { .. }) => origin.place().unwrap_or_default(),
        Some(Origin::Default) | None => "default".to_owned(),
    };
    let what = format!("the globs of [paths] cannot be compiled: {}", error.kind());
    ConfigError { file, at: None, what, hint: "use fewer or simpler globs".to_owned() }.into()
}

/// How long the program of `[notify]` may take (docs/spec-map.md, signals and escalation: rails).
const NOTICE: Span = Span(5);

fn response(said: &BTreeMap<String, Said>) -> Response {
    let program = |command: &Setting<Option<Vec<String>>>, timeout: Span| {
        command.value(said).map(|argv| Program { argv, timeout })
    };
    Response {
        on_stall: keys::ON_STALL_POLICY.value(said),
        on_stall_program: program(&keys::ON_STALL_COMMAND, keys::ON_STALL_TIMEOUT.value(said)),
        advisor: program(&keys::ADVISOR_COMMAND, keys::ADVISOR_TIMEOUT.value(said)),
        providers: keys::FALLBACK_PROVIDERS.value(said),
        notify: program(&keys::NOTIFY_COMMAND, NOTICE),
        bell: if keys::NOTIFY_BELL.value(said) { Bell::Rings } else { Bell::Silent },
    }
}

fn rule_setting(all: &BTreeMap<String, Said>, rule: &RuleSpecView) -> RuleSetting {
    let said = |name: &str| all.get(&format!("rules.{}.{name}", rule.id)).map(|said| &said.value);
    let level = match said("level") {
        Some(Value::Level(level)) => *level,
        _ => rule.default_level,
    };
    let param = |spec: &ParamSpec| match said(spec.name) {
        Some(Value::Param(value)) => value.clone(),
        _ => spec.default(),
    };
    RuleSetting { level, params: rule.params.iter().map(|spec| (spec.name, param(spec))).collect() }
}

fn patterns(said: &BTreeMap<String, Said>) -> Vec<(String, String)> {
    let named = said.iter().filter_map(|(key, said)| Some((key.strip_prefix("normalize.")?, said)));
    let mut patterns: Vec<_> = named.collect();
    patterns.sort_by_key(|(_, said)| said.order);
    let text = |(name, said): (&str, &Said)| {
        let Value::Text(pattern) = &said.value else { return None };
        Some((name.to_owned(), pattern.clone()))
    };
    patterns.into_iter().filter_map(text).collect()
}
