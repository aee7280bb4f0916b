//! One value of one type, checked. Knows nothing of files: what is wrong comes with its span.

use std::ops::{Range, RangeInclusive};

use toml::de::DeValue;

use super::keys::{self, Key, Kind};
use super::setting::{checksum, one_of, read_pinned};
use super::value::{Item, Problem, ReadResult, TestCommand, UNLIMITED, Value, suggest, wrong};
use super::{mistake::quoted, patterns, setting};
use andon_core::domain::settings::{ParamSpec, ParamValue};
use andon_core::domain::{effect::Provider, findings::Level, ids::EntryId, time::Span};

/// Longest list of texts.
const MAX_ITEMS: usize = 256;
/// Longest single text, in bytes.
const MAX_TEXT: usize = 4096;

/// Reads the value of a key of the table; `name` is dotted.
pub(super) fn read_key(name: &str, key: &Key, item: &Item<'_>) -> ReadResult<Value> {
    let expected = ExpectedValue {
        name,
        words: key.kind.expected(),
        hint: format!("write {} = {}", key.name, key.kind.example(&key.default())),
    };
    match &key.kind {
        Kind::Choice(words) | Kind::OptionalChoice(words) => {
            read_text(&expected, item, |text| words().contains(&text))
        }
        Kind::Duration(range) => read_span(&expected, *range, item).map(Value::Span),
        Kind::Limit(range) => match item.get_ref().as_str() {
            // "off" is how it was written before.
            Some(UNLIMITED | "off") => Ok(Value::Unlimited),
            Some(_) | None => read_span(&expected, *range, item).map(Value::Span),
        },
        Kind::Count(count) => read_param(name, &count.spec, item),
        Kind::Format => read_format(&expected, item),
        Kind::Command => read_command(&expected, item).map(Value::Command),
        Kind::Switch(_) => item.get_ref().as_bool().map(Value::Switch).ok_or_else(|| expected.not(item)),
        Kind::Program => match read_command(&expected, item)? {
            command @ TestCommand::Argv(_) => Ok(Value::Command(command)),
            TestCommand::Shell(_) => Err(expected.not(item)),
        },
        Kind::Providers => read_providers(&expected, item).map(Value::Texts),
        Kind::Text => match item.get_ref().as_str().filter(|text| !text.trim().is_empty()) {
            Some(text) => check_text(&expected, text, item.span()).map(|()| Value::Text(text.to_owned())),
            None => Err(expected.not(item)),
        },
        Kind::Texts => read_words(&expected, item).map(Value::Texts),
        Kind::Checksum => read_text(&expected, item, |text| checksum(text).is_some()),
        Kind::Entry => read_text(&expected, item, |text| text.parse::<EntryId>().is_ok()),
        Kind::Pinned => read_pinned(name, item),
        Kind::Globs(_) => {
            let items = read_texts(&expected, item)?;
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
    let expected = ExpectedValue { name, words, hint };
    let value = match default {
        ParamValue::Count(_) => read_count(&expected, spec, item).map(ParamValue::Count),
        ParamValue::Share(_) => read_share(&expected, item).map(ParamValue::Share),
        ParamValue::Span(_) => read_span(&expected, ANY_SPAN, item).map(ParamValue::Span),
        ParamValue::Limit(_) if unlimited => Ok(ParamValue::Limit(None)),
        ParamValue::SpanLimit(_) if unlimited => Ok(ParamValue::SpanLimit(None)),
        ParamValue::Limit(_) => read_count(&expected, spec, item).map(|count| ParamValue::Limit(Some(count))),
        ParamValue::SpanLimit(_) => match read_span(&expected, ANY_SPAN, item)? {
            Span(0) => Err(expected.not(item)),
            span => Ok(ParamValue::SpanLimit(Some(span))),
        },
        ParamValue::Switch(_) => {
            item.get_ref().as_bool().map(ParamValue::Switch).ok_or_else(|| expected.not(item))
        }
        ParamValue::List(_) => read_words(&expected, item).map(ParamValue::List),
        ParamValue::Word { of, .. } => {
            let found = item.get_ref().as_str().and_then(|text| of.iter().find(|word| **word == text));
            found.map(|is| ParamValue::Word { is, of }).ok_or_else(|| expected.not(item))
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
        return wrong(
            item.span(),
            format!("the level of {} must be a text, not {}", quoted(name), shown(item.get_ref())),
            format!("one of {listed}"),
        );
    };
    match Level::from_name(word) {
        Some(level) => Ok(Value::Level(level)),
        None => wrong(item.span(), format!("no such level: {}", quoted(word)), suggest(word, names)),
    }
}

struct ExpectedValue<'a> {
    name: &'a str,
    words: String,
    hint: String,
}

impl ExpectedValue<'_> {
    fn not(&self, item: &Item<'_>) -> Vec<Problem> {
        self.not_text(item.span(), &shown(item.get_ref()))
    }

    fn not_text(&self, span: Range<usize>, shown: &str) -> Vec<Problem> {
        let what = format!("{} must be {}, not {shown}", quoted(self.name), self.words);
        vec![Problem { span, what, hint: self.hint.clone() }]
    }
}

/// The value for a message: itself where it is short, its type where it is not.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text).replace('`', "\""),
        DeValue::Integer(number) => cut(&number.to_string()),
        DeValue::Float(number) => cut(number.as_str()),
        DeValue::Boolean(switch) => switch.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn cut(number: &str) -> String {
    number.chars().take(40).collect()
}

fn read_text(
    expected: &ExpectedValue<'_>,
    item: &Item<'_>,
    fits: impl Fn(&str) -> bool,
) -> ReadResult<Value> {
    let text = item.get_ref().as_str().filter(|text| fits(text));
    text.map(|text| Value::Text(text.to_owned())).ok_or_else(|| expected.not(item))
}

fn read_format(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<Value> {
    let Some(word) = item.get_ref().as_str() else { return Err(expected.not(item)) };
    if keys::formats().any(|known| known == word) {
        return Ok(Value::Text(word.to_owned()));
    }
    let what = format!("no such format: {}", quoted(word));
    wrong(item.span(), what, suggest(word, keys::formats()))
}

const ANY_SPAN: setting::Range = setting::Range { min: Span(0), max: Span(u64::MAX), default: Span(0) };

fn read_span(
    expected: &ExpectedValue<'_>,
    setting::Range { min, max, .. }: setting::Range,
    item: &Item<'_>,
) -> ReadResult<Span> {
    let text = item.get_ref().as_str().filter(|text| text.len() <= MAX_TEXT);
    let Some(span) = text.and_then(|text| text.parse::<Span>().ok()) else { return Err(expected.not(item)) };
    if span < min || span > max {
        let what = format!("{} must be between {min} and {max}, not {span}", quoted(expected.name));
        return wrong(item.span(), what, expected.hint.clone());
    }
    Ok(span)
}

fn read_count(expected: &ExpectedValue<'_>, spec: &ParamSpec, item: &Item<'_>) -> ReadResult<u64> {
    count(item.get_ref(), spec.min..=spec.max).ok_or_else(|| expected.not(item))
}

/// A whole number in a range.
pub(super) fn count(value: &DeValue<'_>, range: RangeInclusive<u64>) -> Option<u64> {
    let number = value.as_integer()?;
    let count = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
    range.contains(&count).then_some(count)
}

fn read_share(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<f64> {
    let value = item.get_ref();
    let whole = value.as_integer().filter(|number| number.radix() == 10).map(toml::de::DeInteger::as_str);
    let text = value.as_float().map(toml::de::DeFloat::as_str).or(whole);
    let share = text.and_then(|text| text.parse::<f64>().ok()).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| expected.not(item))
}

fn read_command(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<TestCommand> {
    let empty = |span| expected.not_text(span, "an empty one");
    if let Some(text) = item.get_ref().as_str() {
        check_text(expected, text, item.span())?;
        if text.trim().is_empty() {
            return Err(empty(item.span()));
        }
        return Ok(TestCommand::Shell(text.to_owned()));
    }
    let arguments: Vec<String> = read_texts(expected, item)?.into_iter().map(|(text, _)| text).collect();
    match arguments.first() {
        Some(program) if !program.trim().is_empty() => Ok(TestCommand::Argv(arguments)),
        Some(_) | None => Err(empty(item.span())),
    }
}

fn read_texts(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<Vec<(String, Range<usize>)>> {
    let Some(items) = item.get_ref().as_array() else { return Err(expected.not(item)) };
    if items.len() > MAX_ITEMS {
        let what = format!("{} has more than {MAX_ITEMS} items", quoted(expected.name));
        return wrong(item.span(), what, "shorten the list");
    }
    let mut texts = Vec::with_capacity(items.len());
    let mut wrongs = Vec::new();
    for item in items {
        match item.get_ref().as_str() {
            Some(text) => match check_text(expected, text, item.span()) {
                Ok(()) => texts.push((text.to_owned(), item.span())),
                Err(more) => wrongs.extend(more),
            },
            None => wrongs
                .extend(expected.not_text(item.span(), &format!("{} in the list", shown(item.get_ref())))),
        }
    }
    if wrongs.is_empty() { Ok(texts) } else { Err(wrongs) }
}

/// Texts, none of them empty: as a prefix or a part, an empty one would match everything.
fn read_words(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<Vec<String>> {
    let empty = |text: &str| text.trim().is_empty().then(|| "an empty text in the list".to_owned());
    read_texts_but(expected, item, empty)
}

fn read_providers(expected: &ExpectedValue<'_>, item: &Item<'_>) -> ReadResult<Vec<String>> {
    read_texts_but(expected, item, |text| Provider::parse(text).is_none().then(|| quoted(text)))
}

/// Texts of which `shown_if_wrong` names none.
fn read_texts_but(
    expected: &ExpectedValue<'_>,
    item: &Item<'_>,
    shown_if_wrong: impl Fn(&str) -> Option<String>,
) -> ReadResult<Vec<String>> {
    let texts = read_texts(expected, item)?;
    let wrong =
        |(text, span): &(String, Range<usize>)| Some(expected.not_text(span.clone(), &shown_if_wrong(text)?));
    let wrongs: Vec<Problem> = texts.iter().filter_map(wrong).flatten().collect();
    if wrongs.is_empty() { Ok(texts.into_iter().map(|(text, _)| text).collect()) } else { Err(wrongs) }
}

fn check_text(expected: &ExpectedValue<'_>, text: &str, span: Range<usize>) -> ReadResult<()> {
    if text.len() > MAX_TEXT {
        return wrong(
            span,
            format!("{} is longer than {MAX_TEXT} bytes", quoted(expected.name)),
            "shorten it",
        );
    }
    if text.contains('\0') {
        return wrong(span, format!("{} holds a NUL character", quoted(expected.name)), "remove it");
    }
    Ok(())
}
