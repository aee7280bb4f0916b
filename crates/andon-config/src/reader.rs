//! From spanned TOML to checked values by dotted key; every doubt becomes an error with its place.

use std::ops::Range;

use toml::de::DeTable;

use super::keys::{self, Contents, Key, Kind, SECTIONS, Section};
use super::mistake::{Problems, mistake, quoted};
use super::reading::{read_key, read_level, read_param, shown};
use super::source::{ConfigSource, Layer, Lines, SettingOrigin};
use super::value::{Item, Name, ReadResult, SourceValue, Value, Values, in_order, suggest, wrong};
use super::{patterns, scopes, setting::RuleSpecView, workflow};
use andon_core::domain::Workflow;

/// Reads one source into the values of all sources.
pub(super) struct Reader<'a> {
    pub(super) source: &'a ConfigSource,
    pub(super) lines: Lines<'a>,
    /// The rules of this version.
    pub(super) rules: &'a [RuleSpecView],
    pub(super) problems: &'a mut Problems,
    /// The values so far; later sources overwrite.
    pub(super) values: &'a mut Values,
    /// The workflow; a later source that declares one replaces it whole.
    pub(super) workflow: &'a mut Option<Workflow>,
}

impl Reader<'_> {
    /// Reads the document.
    pub(super) fn read(&mut self, table: &DeTable<'_>) {
        for (name, item) in in_order(table) {
            let Some(section) = SECTIONS.iter().find(|section| section.name == name.get_ref().as_ref())
            else {
                let what = format!("unknown section {}", quoted(name.get_ref()));
                let nearest = self.suggestion(name.get_ref(), SECTIONS.iter().map(|section| section.name));
                self.misplaced(name, what, nearest);
                continue;
            };
            let Some(table) = item.get_ref().as_table() else {
                let what = format!("{} is a section, not a value", quoted(section.name));
                self.problem(item.span(), what, format!("write [{}] on a line of its own", section.name));
                continue;
            };
            match &section.contents {
                Contents::Keys(keys) => self.read_keys(section, keys, table),
                Contents::Rules => self.read_rules(table),
                Contents::Patterns => self.read_patterns(table),
                Contents::Workflow => self.read_workflow(name, table),
            }
        }
    }

    fn read_keys(&mut self, section: &Section, keys: &[Key], table: &DeTable<'_>) {
        for (name, item) in in_order(table) {
            let word = name.get_ref().as_ref();
            if (section.name, word) == ("test", "scopes") {
                self.read_scopes(item);
            } else if let Some(key) = keys.iter().find(|key| key.name == word) {
                let dotted = key.dotted();
                if matches!(key.kind, Kind::Program) && self.source.layer != Layer::User {
                    // A repository must not name programs that run on the machine of a person who works in it.
                    let what = format!(
                        "{} is read from your own configuration only: it runs a program",
                        quoted(&dotted)
                    );
                    let hint = "move it to $XDG_CONFIG_HOME/andon/config.toml (~/.config/andon/config.toml)";
                    self.problem(name.span(), what, hint);
                    continue;
                }
                self.keep(&dotted, name.span(), read_key(&dotted, key, item));
            } else {
                self.unknown_key(section, keys, name);
            }
        }
    }

    fn read_scopes(&mut self, item: &Item<'_>) {
        let hint = "write [test.scopes.NAME] with paths and command";
        let Some(table) = item.get_ref().as_table() else {
            return self.problem(item.span(), "`test.scopes` is a section, not a value", hint);
        };
        if table.len() > scopes::MAX_SCOPES {
            let what = format!("more than {} scopes", scopes::MAX_SCOPES);
            return self.problem(item.span(), what, "join some");
        }
        for (name, item) in in_order(table) {
            let word = name.get_ref().as_ref();
            let Some(table) = item.get_ref().as_table() else {
                let what = format!("scope {} must be a table, not {}", quoted(word), shown(item.get_ref()));
                self.problem(item.span(), what, hint);
                continue;
            };
            if !scopes::is_name(word) {
                let what = format!("{} is no name for a scope", quoted(word));
                self.problem(name.span(), what, "use letters, digits, `-` and `_`, at most 64");
                continue;
            }
            for (key_name, item) in in_order(table) {
                let key_word = key_name.get_ref().as_ref();
                let Some(key) = keys::SCOPE_KEYS.iter().find(|key| key.name == key_word) else {
                    let what = format!("unknown key {} in [test.scopes.{word}]", quoted(key_word));
                    let hint = self.suggestion(key_word, keys::SCOPE_KEYS.iter().map(|key| key.name));
                    self.problem(key_name.span(), what, hint);
                    continue;
                };
                let dotted = format!("{}{word}.{key_word}", scopes::PREFIX);
                self.keep(&dotted, key_name.span(), read_key(&dotted, key, item));
            }
            // So that a scope of nothing is known to be there.
            if table.is_empty() {
                let what = format!("scope {} has no command", quoted(word));
                self.problem(name.span(), what, hint);
            }
        }
    }

    fn read_rules(&mut self, table: &DeTable<'_>) {
        let rules = self.rules;
        for (name, item) in in_order(table) {
            let Some(rule) = rules.iter().find(|rule| rule.id == name.get_ref().as_ref()) else {
                let word = name.get_ref().as_ref();
                let hint = self.suggestion(word, rules.iter().map(|rule| rule.id));
                self.problem(name.span(), format!("unknown rule {}", quoted(word)), hint);
                continue;
            };
            if let Some(table) = item.get_ref().as_table() {
                self.read_rule(rule, table);
            } else {
                let dotted = format!("rules.{}.level", rule.id);
                self.keep(&dotted, name.span(), level_or_hint(rule, item));
            }
        }
    }

    fn read_rule(&mut self, rule: &RuleSpecView, table: &DeTable<'_>) {
        for (name, item) in in_order(table) {
            let word = name.get_ref().as_ref();
            let dotted = format!("rules.{}.{word}", rule.id);
            if word == "level" {
                self.keep(&dotted, name.span(), read_level(rule.id, item));
            } else if let Some(spec) = rule.params.iter().find(|spec| spec.name == word) {
                self.keep(&dotted, name.span(), read_param(&dotted, spec, item));
            } else {
                let known = std::iter::once("level").chain(rule.params.iter().map(|spec| spec.name));
                let what = format!("rule {} has no parameter {}", quoted(rule.id), quoted(word));
                let hint = self.suggestion(word, known);
                self.problem(name.span(), what, hint);
            }
        }
    }

    fn read_patterns(&mut self, table: &DeTable<'_>) {
        for (index, (name, item)) in in_order(table).into_iter().enumerate() {
            let word = name.get_ref().as_ref();
            let dotted = format!("normalize.{word}");
            let patterns = self.values.keys().filter(|key| key.starts_with("normalize.")).count();
            let is_new = !self.values.contains_key(&dotted);
            // Bad ones count too: each costs a compilation.
            if index >= patterns::MAX_PATTERNS || (is_new && patterns >= patterns::MAX_PATTERNS) {
                let what = format!(
                    "more than {} patterns in [normalize], all layers together",
                    patterns::MAX_PATTERNS
                );
                self.problem(name.span(), what, "join some with `|`".to_owned());
                return;
            }
            let read = read_pattern(word, name.span(), item);
            self.keep(&dotted, name.span(), read);
        }
    }

    fn read_workflow(&mut self, name: &Name<'_>, table: &DeTable<'_>) {
        let read = workflow::read(table).map(|workflow| {
            let nodes = workflow.nodes.iter().map(|node| node.name.clone()).collect();
            *self.workflow = Some(workflow);
            Value::Texts(nodes)
        });
        self.keep("workflow.nodes", name.span(), read);
    }

    fn unknown_key(&mut self, section: &Section, keys: &[Key], name: &Name<'_>) {
        let what = format!("unknown key {} in [{}]", quoted(name.get_ref()), section.name);
        let nearest = self.suggestion(name.get_ref(), keys.iter().map(|key| key.name));
        self.misplaced(name, what, nearest);
    }

    /// A name that is unknown here: where it belongs, else the nearest one.
    fn misplaced(&mut self, name: &Name<'_>, what: String, nearest: String) {
        let word = name.get_ref().as_ref();
        let in_rules = || self.rules.iter().any(|rule| rule.id == word).then_some("rules");
        let place = keys::section_with(word).or_else(in_rules);
        let hint = place.map_or(nearest, |place| format!("`{word}` belongs in [{place}]"));
        self.problem(name.span(), what, hint);
    }

    fn keep(&mut self, dotted: &str, span: Range<usize>, read: ReadResult<Value>) {
        match read {
            Ok(value) => {
                let order = self.values.get(dotted).map_or(self.values.len(), |earlier| earlier.order);
                let origin = SettingOrigin::Given {
                    layer: self.source.layer,
                    file: self.source.name.clone(),
                    line: self.lines.line(span.start),
                };
                self.values.insert(dotted.to_owned(), SourceValue { value, origin, order });
            }
            Err(wrongs) => {
                for one in wrongs {
                    self.problem(one.span, one.what, one.hint);
                }
            }
        }
    }

    /// The nearest of the words that there are. It is only looked for when it will be shown: that costs time.
    fn suggestion(&self, word: &str, known: impl Iterator<Item = &'static str> + Clone) -> String {
        if self.problems.is_full() { String::new() } else { suggest(word, known) }
    }

    fn problem(&mut self, span: Range<usize>, what: impl Into<String>, hint: impl Into<String>) {
        let at = Some(self.lines.position(span.start));
        self.problems.push(mistake(&self.source.name, at, what, hint));
    }
}

/// A rule that is given neither a level nor a table: says what it takes.
fn level_or_hint(rule: &RuleSpecView, item: &Item<'_>) -> ReadResult<Value> {
    if item.get_ref().is_str() {
        return read_level(rule.id, item);
    }
    let what = format!("rule {} takes a level or a table, not {}", quoted(rule.id), shown(item.get_ref()));
    let default = rule.default_level.as_str();
    let hint = match rule.params.first() {
        Some(spec) => {
            let value = Value::Param(spec.default());
            format!("write {} = \"{default}\" or {} = {{ {} = {value} }}", rule.id, rule.id, spec.name)
        }
        None => format!("write {} = \"{default}\"", rule.id),
    };
    wrong(item.span(), what, hint)
}

fn read_pattern(name: &str, at: Range<usize>, item: &Item<'_>) -> ReadResult<Value> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        let what = format!("{} is no name for a pattern", quoted(name));
        return wrong(at, what, "use letters, digits, `-` and `_`, at most 64");
    }
    let dotted = format!("normalize.{name}");
    let Some(pattern) = item.get_ref().as_str() else {
        let what = format!("{} must be a regular expression, not {}", quoted(&dotted), shown(item.get_ref()));
        return wrong(item.span(), what, format!("write {name} = 'build [0-9]+'"));
    };
    patterns::check_regex(&dotted, pattern, item.span())?;
    Ok(Value::Text(pattern.to_owned()))
}
