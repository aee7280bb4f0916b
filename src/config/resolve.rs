//! From all that was said to the one configuration that holds.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::command::TestCommand;
use super::document;
use super::identity;
use super::keys;
use super::mistake::{ConfigError, ConfigErrors, Problems};
use super::reader::Reader;
use super::response::{Bell, Perpetual, Response};
use super::rules::{self as ordered, RuleSpecView, known_rules};
use super::settings::{
    Ack, AppliesTo, Config, FullRuns, Guard, HandedIn, OnInternalError, PathSettings, Runner, TestSettings,
};
use super::source::{Origin, Source};
use super::value::{Said, Value};
use crate::domain::context::Cached;
use crate::domain::identity::IdentityRules;
use crate::domain::paths::PathRules;
use crate::domain::response::{OnStall, Program, Provider};
use crate::domain::settings::{ParamValue, RuleSetting, RuleSettings};
use crate::domain::time::Span;
use testreport::Format;

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
    if let Some(error) = ordered::out_of_order(&config) {
        return Err(error.into());
    }
    config.workflow = Arc::new(workflow.unwrap_or_default());
    Ok(config)
}

fn resolve(said: BTreeMap<String, Said>, rules: &[RuleSpecView]) -> Result<Config, ConfigErrors> {
    let values = Values(&said);
    let (docs, ignore) = (values.texts("paths", "docs"), values.texts("paths", "ignore"));
    let path_rules = PathRules::new(&docs, &ignore).map_err(|error| uncompilable(&said, &error))?;
    Ok(Config {
        guard: Guard {
            ack: values.choice("guard.ack", &Ack::ALL, Ack::Delete),
            applies_to: values.choice("guard.applies_to", &AppliesTo::ALL, AppliesTo::Everyone),
            on_internal_error: values.choice(
                "guard.on_internal_error",
                &OnInternalError::ALL,
                OnInternalError::Warn,
            ),
            perpetual: if values.get("guard", "perpetual") == Value::Switch(true) {
                Perpetual::Yes
            } else {
                Perpetual::No
            },
            session_gap: values.span("guard", "session_gap").unwrap_or(Span(u64::MAX)),
        },
        test: TestSettings {
            command: values.command(),
            format: values.format(),
            full: if values.get("test", "full") == Value::Switch(true) {
                FullRuns::Required
            } else {
                FullRuns::Wanted
            },
            handed_in: values.choice("test.handed_in", &HandedIn::ALL, HandedIn::Record),
            reports: values.texts("test", "reports"),
            runner: values.choice("test.runner", &Runner::ALL.map(|(one, name)| (Some(one), name)), None),
            timeout: values.span("test", "timeout"),
        },
        paths: PathSettings { rules: path_rules, docs, ignore, api: values.texts("paths", "api") },
        rules: rules.iter().map(|rule| (rule.id, values.rule(rule))).collect::<RuleSettings>(),
        cached: values.choice("usage.cached", &Cached::ALL, Cached::Separate),
        normalize: values.patterns(),
        response: values.response(),
        identity: values.identity(),
        workflow: Arc::default(),
        said,
    })
}

/// Each glob is valid and all together are too much for the matcher: the nearest place is where they stand.
fn uncompilable(said: &BTreeMap<String, Said>, error: &globset::Error) -> ConfigErrors {
    let origin =
        ["paths.docs", "paths.ignore"].iter().find_map(|key| said.get(*key)).map(|said| &said.origin);
    let file = match origin {
        Some(origin @ Origin::Said { .. }) => origin.place().unwrap_or_default(),
        Some(Origin::Default) | None => "default".to_owned(),
    };
    let what = format!("the globs of [paths] cannot be compiled: {}", error.kind());
    ConfigError { file, at: None, what, mend: "use fewer or simpler globs".to_owned() }.into()
}

/// How long the program of `[notify]` may take (`uncertainty-escalation.md`, rails).
const NOTICE: Span = Span(5);

/// Typed access to what was said, with the defaults of the table behind it. The reader has seen to it that
/// the types are right.
struct Values<'a>(&'a BTreeMap<String, Said>);

impl<'a> Values<'a> {
    fn get(&self, section: &str, name: &str) -> Value {
        match self.0.get(&format!("{section}.{name}")) {
            Some(said) => said.value.clone(),
            None => keys::find(section, name).map_or(Value::Unset, |key| (key.default)()),
        }
    }

    fn command(&self) -> Option<TestCommand> {
        let Value::Command(command) = self.get("test", "command") else { return None };
        Some(command)
    }

    fn format(&self) -> Option<Format> {
        let Value::Text(name) = self.get("test", "format") else { return None };
        Format::named(&name)
    }

    /// The program of `SECTION.command`, with `SECTION.timeout` where there is one.
    fn program(&self, section: &str) -> Option<Program> {
        let Value::Command(TestCommand::Argv(argv)) = self.get(section, "command") else { return None };
        Some(Program { argv, timeout: self.span(section, "timeout").unwrap_or(NOTICE) })
    }

    fn response(&self) -> Response {
        let providers = self.texts("fallback", "providers");
        Response {
            on_stall: self.choice("on_stall.policy", &OnStall::ALL, OnStall::Interactive),
            on_stall_program: self.program("on_stall"),
            advisor: self.program("advisor"),
            providers: providers.iter().filter_map(|text| Provider::parse(text)).collect(),
            notify: self.program("notify"),
            bell: if self.get("notify", "bell") == Value::Switch(true) { Bell::Rings } else { Bell::Silent },
        }
    }

    fn identity(&self) -> IdentityRules {
        let text = |name| if let Value::Text(text) = self.get("identity", name) { Some(text) } else { None };
        IdentityRules {
            files: self.texts("identity", "files"),
            checksum: text("checksum").and_then(|text| identity::checksum(&text)),
            workflow_binding: text("workflow_binding"),
            authorized_roles: self.texts("identity", "authorized_roles"),
            pinned: self
                .texts("identity", "pinned")
                .iter()
                .filter_map(|text| identity::pinned(text))
                .collect(),
        }
    }

    fn texts(&self, section: &str, name: &str) -> Vec<String> {
        let Value::Texts(texts) = self.get(section, name) else { return Vec::new() };
        texts
    }

    fn span(&self, section: &str, name: &str) -> Option<Span> {
        let Value::Span(span) = self.get(section, name) else { return None };
        Some(span)
    }

    /// The word of the dotted `key`.
    fn choice<T: Copy>(&self, key: &str, all: &[(T, &str)], otherwise: T) -> T {
        let (section, name) = key.split_once('.').unwrap_or_default();
        let Value::Text(word) = self.get(section, name) else { return otherwise };
        all.iter().find(|(_, name)| *name == word).map_or(otherwise, |(value, _)| *value)
    }

    fn rule(&self, rule: &RuleSpecView) -> RuleSetting {
        // Mostly nothing was said of any rule: then no key is made up to ask for.
        let from = (Bound::Included("rules."), Bound::Unbounded);
        let of_this = |key: &'a str| key.strip_prefix("rules.")?.strip_prefix(rule.id)?.strip_prefix('.');
        let of_rules = self.0.range::<str, _>(from).take_while(|(key, _)| key.starts_with("rules."));
        let values: Vec<(&str, &Value)> =
            of_rules.filter_map(|(key, said)| Some((of_this(key)?, &said.value))).collect();
        let said = |name: &str| values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let level = match said("level") {
            Some(Value::Level(level)) => *level,
            _ => rule.default_level,
        };
        let param = |spec: &crate::domain::settings::ParamSpec| -> ParamValue {
            let Some(Value::Param(value)) = said(spec.name) else { return (spec.default)() };
            value.clone()
        };
        RuleSetting { level, params: rule.params.iter().map(|spec| (spec.name, param(spec))).collect() }
    }

    fn patterns(&self) -> Vec<(String, String)> {
        let named = self.0.iter().filter_map(|(key, said)| Some((key.strip_prefix("normalize.")?, said)));
        let mut patterns: Vec<_> = named.collect();
        patterns.sort_by_key(|(_, said)| said.order);
        let text = |(name, said): (&str, &Said)| {
            let Value::Text(pattern) = &said.value else { return None };
            Some((name.to_owned(), pattern.clone()))
        };
        patterns.into_iter().filter_map(text).collect()
    }
}
