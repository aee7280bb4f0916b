//! From the values of all sources to the one configuration that holds.

use std::{collections::BTreeMap, sync::Arc};

use super::effective::{Config, Response};
use super::keys::{Guard, PathSettings, TestSettings};
use super::mistake::{ConfigErrors, Problems, mistake};
use super::setting::{RuleSpecView, known_rules};
use super::source::{ConfigSource, SettingOrigin, parse};
use super::value::{SourceValue, Value, Values};
use super::{keys, reader::Reader, scopes};
use andon_core::domain::{
    AckMode, Diagnostic, Hint, IdentityRules, ParamSpec, ParamValue, PathRules, Program, RuleSetting,
    RuleSettings, Span,
};

/// Checks and joins `sources`; the higher layer wins, key by key, and of two of one layer the later.
/// Fails with everything that is wrong in any of them.
pub fn load(sources: &[ConfigSource]) -> Result<Config, ConfigErrors> {
    load_with(sources, &known_rules())
}

/// As [`load`], for other rules than this version's.
pub fn load_with(sources: &[ConfigSource], rules: &[RuleSpecView]) -> Result<Config, ConfigErrors> {
    let mut problems = Problems::default();
    let mut values = BTreeMap::new();
    let mut workflow = None;
    let mut ordered: Vec<&ConfigSource> = sources.iter().collect();
    ordered.sort_by_key(|source| source.layer);
    for source in ordered {
        let start = problems.listed();
        if let Some(document) = parse(source, &mut problems) {
            let (values, problems, workflow) = (&mut values, &mut problems, &mut workflow);
            Reader { source, lines: document.lines, rules, problems, values, workflow }.read(&document.table);
        }
        problems.sort_from(start);
        problems.quote_from(start, &String::from_utf8_lossy(&source.text));
    }
    problems.into_result()?;
    let mut config = resolve(values, rules)?;
    if let Some(error) = out_of_order(&config, rules) {
        return Err(error.into());
    }
    if let Some(error) = signed_alone(&config) {
        return Err(error.into());
    }
    config.workflow = Arc::new(workflow.unwrap_or_default());
    if config.workflow.is_declared() {
        in_workflow(&mut config, rules);
    }
    Ok(config)
}

fn resolve(values: Values, rules: &[RuleSpecView]) -> Result<Config, ConfigErrors> {
    let path_rules = PathRules::new(&keys::paths::docs(&values), &keys::paths::ignore(&values));
    let path_rules = path_rules.map_err(|error| uncompilable(&values, &error))?;
    Ok(Config {
        guard: Guard::read(&values),
        test: TestSettings::read(&values, scopes::resolve(&values)?),
        paths: PathSettings::read(&values, path_rules),
        rules: rules.iter().map(|rule| (rule.id, rule_setting(&values, rule))).collect::<RuleSettings>(),
        cached: keys::usage::cached(&values),
        waits: keys::agents::waits(&values),
        normalize: patterns(&values),
        response: response(&values),
        identity: IdentityRules {
            files: keys::identity::files(&values),
            checksum: keys::identity::checksum(&values),
            workflow_binding: keys::identity::workflow_binding(&values),
            authorized_roles: keys::identity::authorized_roles(&values),
            pinned: keys::identity::pinned(&values),
        },
        workflow: Arc::default(),
        values,
    })
}

/// Each glob is valid and all together are too much for the matcher: the nearest place is theirs.
fn uncompilable(values: &Values, error: &globset::Error) -> ConfigErrors {
    let keys = ["paths.docs", "paths.ignore"];
    let origin = keys.iter().find_map(|key| values.get(*key)).map(|values| &values.origin);
    let file = match origin {
        Some(origin @ SettingOrigin::Given { .. }) => origin.place().unwrap_or_default(),
        Some(SettingOrigin::Default) | None => "default".to_owned(),
    };
    let what = format!("the globs of [paths] cannot be compiled: {}", error.kind());
    mistake(&file, None, what, "use fewer or simpler globs").into()
}

/// Most time that the program of `[notify]` may take (docs/spec-map.md, signals and escalation: rails).
const NOTICE: Span = Span(5);

fn response(values: &Values) -> Response {
    let program = |command: Option<Vec<String>>, timeout: Span| command.map(|argv| Program { argv, timeout });
    Response {
        on_stall: keys::on_stall::policy(values),
        on_stall_program: program(keys::on_stall::command(values), keys::on_stall::timeout(values)),
        advisor: program(keys::advisor::command(values), keys::advisor::timeout(values)),
        providers: keys::fallback::providers(values),
        notify: program(keys::notify::command(values), NOTICE),
        again: keys::notify::again(values),
        bell: keys::notify::bell(values),
    }
}

/// Gives the rules the limits that they have in a declared workflow, but for those that were set.
fn in_workflow(config: &mut Config, rules: &[RuleSpecView]) {
    for rule in rules {
        for param in rule.params {
            let is_set = config.values.contains_key(&format!("rules.{}.{}", rule.id, param.name));
            if let (Some(value), false) = (param.in_workflow(), is_set)
                && let Some(setting) = config.rules.get_mut(rule.id)
            {
                setting.params.insert(param.name, value);
            }
        }
    }
}

fn rule_setting(all: &Values, rule: &RuleSpecView) -> RuleSetting {
    let values = |name: &str| all.get(&format!("rules.{}.{name}", rule.id)).map(|values| &values.value);
    let level = match values("level") {
        Some(Value::Level(level)) => *level,
        _ => rule.default_level,
    };
    let param = |spec: &ParamSpec| match values(spec.name) {
        Some(Value::Param(value)) => value.clone(),
        _ => spec.default(),
    };
    RuleSetting { level, params: rule.params.iter().map(|spec| (spec.name, param(spec))).collect() }
}

fn patterns(values: &Values) -> Vec<(String, String)> {
    let named = values.iter().filter_map(|(key, values)| Some((key.strip_prefix("normalize.")?, values)));
    let mut patterns: Vec<_> = named.collect();
    patterns.sort_by_key(|(_, values)| values.order);
    let text = |(name, values): (&str, &SourceValue)| {
        let Value::Text(pattern) = &values.value else { return None };
        Some((name.to_owned(), pattern.clone()))
    };
    patterns.into_iter().filter_map(text).collect()
}

/// One of the two without the other. Layers are joined key by key, so that this is seen only when all of them are read.
fn signed_alone(config: &Config) -> Option<Diagnostic> {
    let (key, missing, hint) = match (config.guard.ack, config.guard.ledger) {
        (AckMode::Signed, None) => {
            ("guard.ack", "`guard.ack` = \"signed\" needs `guard.ledger`", Hint::LedgerId.text())
        }
        (AckMode::Delete | AckMode::Resume, Some(_)) => (
            "guard.ledger",
            "`guard.ledger` needs `guard.ack` = \"signed\"",
            "write ack = \"signed\" under [guard], or remove ledger",
        ),
        (AckMode::Signed, Some(_)) | (AckMode::Delete | AckMode::Resume, None) => return None,
    };
    let file = config.origin(key).place().unwrap_or_default();
    Some(mistake(&file, None, missing, hint))
}

/// Percentages that are out of order, at the place of the last of them that was set. Layers are joined key by key, so
/// that this is seen only when all of them are read.
fn out_of_order(config: &Config, rules: &[RuleSpecView]) -> Option<Diagnostic> {
    rules.iter().find_map(|rule| {
        let rising: Vec<&ParamSpec> = rule.params.iter().filter(|spec| spec.rises).collect();
        let setting = config.rules.get(rule.id).filter(|_| !rising.is_empty())?;
        let percent = |spec: &&ParamSpec| match setting.params.get(spec.name) {
            Some(ParamValue::Count(percent)) => *percent,
            _ => 0,
        };
        let values: Vec<u64> = rising.iter().map(percent).collect();
        let fine = values.is_sorted() && values.iter().all(|percent| *percent <= 100);
        (!fine).then(|| not_rising(config, rule.id, &rising, &values))
    })
}

fn not_rising(config: &Config, id: &str, rising: &[&ParamSpec], values: &[u64]) -> Diagnostic {
    let origins = rising.iter().map(|spec| config.origin(&format!("rules.{id}.{}", spec.name)));
    // The higher layer is the one that was probably just changed.
    let file = origins.max_by_key(SettingOrigin::layer).and_then(|origin| origin.place()).unwrap_or_default();
    let shown = rising.iter().zip(values).map(|(spec, value)| format!("{} = {value}", spec.name));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let right = rising.iter().map(|spec| format!("{} = {}", spec.name, Value::Param(spec.default())));
    let what = format!("`rules.{id}`: {shown} must be percentages in rising order, at most 100");
    mistake(&file, None, what, format!("write {id} = {{ {} }}", right.collect::<Vec<_>>().join(", ")))
}
