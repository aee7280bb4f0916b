//! One value of one type, checked. Knows nothing of files: what is wrong comes with its span.

use std::ops::{Range, RangeInclusive};

use toml::de::DeValue;

use super::keys::{self, Key, Kind};
use super::setting::{checksum, one_of, read_pinned};
use super::value::{Item, Problem, ReadResult, TestCommand, UNLIMITED, Value, suggest, wrong};
use super::{mistake::quoted, patterns, setting};
use andon_core::domain::{EntryId, Level, ParamSpec, ParamValue, Provider, Span};
use andon_core::escape::first;

/// Longest list of texts.
const MAX_ITEMS: usize = 256;
/// Longest single text, in bytes.
const MAX_TEXT: usize = 4096;

/// Reads the value of a key of the table; `name` is dotted.
pub(super) fn read_key(name: &str, key: &Key, item: &Item<'_>) -> ReadResult<Value> {
    let hint = format!("write {} = {}", key.name, key.kind.example(&key.default()));
    let expected = ExpectedValue { name, words: key.kind.expected(), hint, item };
    match &key.kind {
        Kind::Choice(words) | Kind::OptionalChoice(words) => expected.text(|text| words().contains(&text)),
        // "off" is how it was written before.
        Kind::Limit(_) if matches!(item.get_ref().as_str(), Some(UNLIMITED | "off")) => Ok(Value::Unlimited),
        Kind::Duration(range) | Kind::Limit(range) => expected.span(*range).map(Value::Span),
        Kind::Count(count) => read_param(name, &count.spec, item),
        Kind::Format => expected.format(),
        Kind::Command => expected.command().map(Value::Command),
        Kind::Switch(_) => expected.or_not(item.get_ref().as_bool().map(Value::Switch)),
        Kind::Program => match expected.command()? {
            command @ TestCommand::Argv(_) => Ok(Value::Command(command)),
            TestCommand::Shell(_) => expected.or_not(None),
        },
        Kind::Providers => {
            let wrong = |text: &str| Provider::parse(text).is_none().then(|| quoted(text));
            expected.texts_but(wrong).map(Value::Texts)
        }
        Kind::Text => {
            let text = expected.or_not(item.get_ref().as_str().filter(|text| !text.trim().is_empty()))?;
            expected.check_text(text, item.span()).map(|()| Value::Text(text.to_owned()))
        }
        Kind::Texts => expected.words().map(Value::Texts),
        Kind::Checksum => expected.text(|text| checksum(text).is_some()),
        Kind::Entry => expected.text(|text| text.parse::<EntryId>().is_ok()),
        Kind::Pinned => read_pinned(name, item),
        Kind::Globs(_) => {
            let items = expected.texts()?;
            patterns::check_globs(name, &items)?;
            Ok(Value::Texts(items.into_iter().map(|(text, _)| text).collect()))
        }
    }
}

/// Reads a rule's parameter; the default fixes its type. `name` is dotted.
pub(super) fn read_param(name: &str, spec: &ParamSpec, item: &Item<'_>) -> ReadResult<Value> {
    let default = spec.default();
    let words = match &default {
        ParamValue::Count(_) => format!("a whole number from {} to {}", spec.min, spec.max),
        ParamValue::Share(_) => "a share between 0.0 and 1.0".to_owned(),
        ParamValue::Span(_) => "a duration such as \"10m\"".to_owned(),
        ParamValue::Limit(_) => {
            format!("a whole number from {} to {}, or \"{UNLIMITED}\" for no limit", spec.min, spec.max)
        }
        ParamValue::SpanLimit(_) => format!("a duration such as \"10m\", or \"{UNLIMITED}\" for no limit"),
        ParamValue::Switch(_) => "true or false".to_owned(),
        ParamValue::List(_) => "a list of texts".to_owned(),
        ParamValue::Word { of, .. } => one_of(of),
    };
    let unlimited = item.get_ref().as_str() == Some(UNLIMITED);
    let rule = name.strip_prefix("rules.").and_then(|rest| rest.split('.').next());
    let hint = match (&default, rule) {
        (ParamValue::Count(_) | ParamValue::Span(_), Some(rule)) if unlimited => {
            format!("the rule is this limit; to have none, switch it off: {rule} = \"off\"")
        }
        _ => format!("write {} = {}", spec.name, meant(&default, item)),
    };
    let expected = ExpectedValue { name, words, hint, item };
    let whole = || expected.or_not(count(item.get_ref(), spec.min..=spec.max));
    let value = match default {
        ParamValue::Count(_) => whole().map(ParamValue::Count),
        ParamValue::Share(_) => expected.or_not(share(item.get_ref()).map(ParamValue::Share)),
        ParamValue::Span(_) => expected.span(ANY_SPAN).map(ParamValue::Span),
        ParamValue::Limit(_) if unlimited => Ok(ParamValue::Limit(None)),
        ParamValue::SpanLimit(_) if unlimited => Ok(ParamValue::SpanLimit(None)),
        ParamValue::Limit(_) => whole().map(|count| ParamValue::Limit(Some(count))),
        ParamValue::SpanLimit(_) => {
            let some = Some(expected.span(ANY_SPAN)?).filter(|span| *span > Span(0));
            expected.or_not(some.map(|span| ParamValue::SpanLimit(Some(span))))
        }
        ParamValue::Switch(_) => expected.or_not(item.get_ref().as_bool().map(ParamValue::Switch)),
        ParamValue::List(_) => expected.words().map(ParamValue::List),
        ParamValue::Word { of, .. } => {
            let found = item.get_ref().as_str().and_then(|text| of.iter().find(|word| **word == text));
            expected.or_not(found.map(|is| ParamValue::Word { is, of }))
        }
    };
    value.map(Value::Param)
}

/// The value that was probably meant by a wrong one: zero for a limit means none.
fn meant(default: &ParamValue, item: &Item<'_>) -> Value {
    let value = item.get_ref();
    let zero = value.as_integer().is_some_and(|number| number.as_str().parse() == Ok(0_u64))
        || value.as_str().is_some_and(|text| text.parse() == Ok(Span(0)));
    let is_limit = matches!(default, ParamValue::Limit(_) | ParamValue::SpanLimit(_));
    if zero && is_limit { Value::Unlimited } else { Value::Param(default.clone()) }
}

/// Reads a level.
pub(super) fn read_level(name: &str, item: &Item<'_>) -> ReadResult<Value> {
    let names = Level::ALL.iter().map(|(_, name)| *name);
    let Some(word) = item.get_ref().as_str() else {
        let listed = names.collect::<Vec<_>>().join(", ");
        let what = format!("the level of {} must be a text, not {}", quoted(name), shown(item.get_ref()));
        return wrong(item.span(), what, format!("one of {listed}"));
    };
    match Level::from_name(word) {
        Some(level) => Ok(Value::Level(level)),
        None => wrong(item.span(), format!("no such level: {}", quoted(word)), suggest(word, names)),
    }
}

/// A value, and the words for what it must be.
struct ExpectedValue<'a> {
    name: &'a str,
    words: String,
    hint: String,
    item: &'a Item<'a>,
}

impl ExpectedValue<'_> {
    /// The value as it was read; `None` is the mistake that it is something else.
    fn or_not<T>(&self, found: Option<T>) -> ReadResult<T> {
        found.ok_or_else(|| self.not_text(self.item.span(), &shown(self.item.get_ref())))
    }

    fn not_text(&self, span: Range<usize>, shown: &str) -> Vec<Problem> {
        let what = format!("{} must be {}, not {shown}", quoted(self.name), self.words);
        vec![Problem { span, what, hint: self.hint.clone() }]
    }

    fn text(&self, fits: impl Fn(&str) -> bool) -> ReadResult<Value> {
        let text = self.item.get_ref().as_str().filter(|text| fits(text));
        self.or_not(text.map(|text| Value::Text(text.to_owned())))
    }

    fn format(&self) -> ReadResult<Value> {
        let word = self.or_not(self.item.get_ref().as_str())?;
        if keys::formats().any(|known| known == word) {
            return Ok(Value::Text(word.to_owned()));
        }
        let what = format!("no such format: {}", quoted(word));
        wrong(self.item.span(), what, suggest(word, keys::formats()))
    }

    fn span(&self, setting::Range { min, max, .. }: setting::Range) -> ReadResult<Span> {
        let text = self.item.get_ref().as_str().filter(|text| text.len() <= MAX_TEXT);
        let span = self.or_not(text.and_then(|text| text.parse::<Span>().ok()))?;
        if span < min || span > max {
            let what = format!("{} must be between {min} and {max}, not {span}", quoted(self.name));
            return wrong(self.item.span(), what, self.hint.clone());
        }
        Ok(span)
    }

    fn command(&self) -> ReadResult<TestCommand> {
        let empty = || Err(self.not_text(self.item.span(), "an empty one"));
        if let Some(text) = self.item.get_ref().as_str() {
            self.check_text(text, self.item.span())?;
            return if text.trim().is_empty() { empty() } else { Ok(TestCommand::Shell(text.to_owned())) };
        }
        let arguments: Vec<String> = self.texts()?.into_iter().map(|(text, _)| text).collect();
        match arguments.first() {
            Some(program) if !program.trim().is_empty() => Ok(TestCommand::Argv(arguments)),
            Some(_) | None => empty(),
        }
    }

    fn texts(&self) -> ReadResult<Vec<(String, Range<usize>)>> {
        let items = self.or_not(self.item.get_ref().as_array())?;
        if items.len() > MAX_ITEMS {
            let what = format!("{} has more than {MAX_ITEMS} items", quoted(self.name));
            return wrong(self.item.span(), what, "shorten the list");
        }
        let mut texts = Vec::with_capacity(items.len());
        let mut wrongs = Vec::new();
        for item in items {
            let shown = || format!("{} in the list", shown(item.get_ref()));
            let text = item.get_ref().as_str().ok_or_else(|| self.not_text(item.span(), &shown()));
            match text.and_then(|text| self.check_text(text, item.span()).map(|()| text)) {
                Ok(text) => texts.push((text.to_owned(), item.span())),
                Err(more) => wrongs.extend(more),
            }
        }
        if wrongs.is_empty() { Ok(texts) } else { Err(wrongs) }
    }

    /// Texts, none of them empty: as a prefix or a part, an empty one would match everything.
    fn words(&self) -> ReadResult<Vec<String>> {
        self.texts_but(|text| text.trim().is_empty().then(|| "an empty text in the list".to_owned()))
    }

    /// Texts of which `shown_if_wrong` names none.
    fn texts_but(&self, shown_if_wrong: impl Fn(&str) -> Option<String>) -> ReadResult<Vec<String>> {
        let texts = self.texts()?;
        let wrong =
            |(text, span): &(String, Range<usize>)| Some(self.not_text(span.clone(), &shown_if_wrong(text)?));
        let wrongs: Vec<Problem> = texts.iter().filter_map(wrong).flatten().collect();
        if wrongs.is_empty() { Ok(texts.into_iter().map(|(text, _)| text).collect()) } else { Err(wrongs) }
    }

    fn check_text(&self, text: &str, span: Range<usize>) -> ReadResult<()> {
        if text.len() > MAX_TEXT {
            let what = format!("{} is longer than {MAX_TEXT} bytes", quoted(self.name));
            return wrong(span, what, "shorten it");
        }
        if text.contains('\0') {
            return wrong(span, format!("{} holds a NUL character", quoted(self.name)), "remove it");
        }
        Ok(())
    }
}

const ANY_SPAN: setting::Range = setting::Range { min: Span(0), max: Span(u64::MAX), default: Span(0) };

/// The value for a message: itself where it is short, its type where it is not.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text).replace('`', "\""),
        DeValue::Integer(number) => first(&number.to_string(), 40),
        DeValue::Float(number) => first(number.as_str(), 40),
        DeValue::Boolean(switch) => switch.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A whole number in a range.
pub(super) fn count(value: &DeValue<'_>, range: RangeInclusive<u64>) -> Option<u64> {
    let number = value.as_integer()?;
    let count = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
    range.contains(&count).then_some(count)
}

fn share(value: &DeValue<'_>) -> Option<f64> {
    let whole = value.as_integer().filter(|number| number.radix() == 10).map(toml::de::DeInteger::as_str);
    let text = value.as_float().map(toml::de::DeFloat::as_str).or(whole);
    text.and_then(|text| text.parse::<f64>().ok()).filter(|share| (0.0..=1.0).contains(share))
}
