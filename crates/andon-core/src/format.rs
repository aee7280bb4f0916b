//! Reading and writing a line: bounds before parsing, errors that name the member. Everything that is read here is
//! untrusted: depth is bounded by `serde_json`'s recursion limit, and a member that comes twice is an error.

pub mod beside;
pub mod fields;

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The maximum length of an error that is shown, in characters: the error may quote what was read.
const SHOWN: usize = 200;
/// Largest number that is whole for sure where it is written as a fraction, as `1000.0` is.
const MAX_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The reason why a line could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Longer than a line may be.
    #[error("{bytes} bytes, more than the {max} allowed")]
    TooLarge { bytes: usize, max: usize },
    /// Not JSON, cut short, not UTF-8, or nested too deeply.
    #[error("not readable as JSON: {0}")]
    Json(String),
    /// JSON, but no object.
    #[error("not a JSON object")]
    NotAnObject,
    /// Another major version: the schema that the line states, cut to 80 characters, and the one that this version reads.
    #[error(
        "schema {found:?} is not {expected:?}: it was written by another version of andon, which can read it"
    )]
    Schema { found: String, expected: &'static str },
    /// Without a member that it needs, or with two of one name.
    #[error("{0}")]
    Shape(String),
    /// A member of the wrong type or value: its path, such as `diff.hash`, and what would have been right.
    #[error("the member {member:?}: {why}")]
    Member { member: String, why: String },
}

impl FormatError {
    /// The member `member` is wrong: `why`.
    pub fn member(member: &str, why: impl fmt::Display) -> Self {
        Self::Member { member: member.to_owned(), why: shown(why) }
    }

    /// A `type` that this version does not know.
    pub fn unknown_type(kind: &str) -> Self {
        Self::member("type", format!("{:?} is no type of fact that this version of andon knows", shown(kind)))
    }
}

fn shown(text: impl fmt::Display) -> String {
    text.to_string().chars().take(SHOWN).collect()
}

impl From<serde_path_to_error::Error<serde_json::Error>> for FormatError {
    fn from(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let (member, error) = (error.path().to_string(), error.into_inner());
        if !error.is_data() {
            Self::Json(shown(error))
        } else if member == "." {
            Self::Shape(shown(of_objects(&error)))
        } else {
            Self::member(&member, of_objects(&error))
        }
    }
}

/// The words of serde, in which a type of ours is an object: its name says nothing to people.
fn of_objects(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(", expected struct ") {
        // A quote mark is the end of a text that was read, and not of these words.
        Some((found, name)) if !name.contains('"') => {
            format!("{found}, expected an object{}", name.find(" at line ").map_or("", |at| &name[at..]))
        }
        Some(_) | None => text,
    }
}

/// Reads an object of at most `max` bytes; what may follow it is white space.
pub fn object<'a, T: Deserialize<'a>>(line: &'a [u8], max: usize) -> Result<T, FormatError> {
    check(line, max)?;
    // To know the path of a member costs more than reading it: that is for lines that are wrong.
    serde_json::from_slice(line).or_else(|_| located(line))
}

/// Returns whether a line can be an object of at most `max` bytes.
fn check(line: &[u8], max: usize) -> Result<(), FormatError> {
    if line.len() > max {
        return Err(FormatError::TooLarge { bytes: line.len(), max });
    }
    if line.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        let json = serde_json::from_slice::<IgnoredAny>(line);
        return Err(json.err().map_or(FormatError::NotAnObject, |error| FormatError::Json(shown(error))));
    }
    Ok(())
}

/// Reads an object so that an error names the member.
fn located<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, FormatError> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let value = serde_path_to_error::deserialize(&mut json)?;
    json.end().map_err(|error| FormatError::Json(shown(error)))?;
    Ok(value)
}

/// Reads an object, and what it holds beside: members that `T` does not know, there and in the members `inside`, each where
/// it was.
///
/// # Errors
/// Those of [`object`].
pub fn object_and_rest<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    max: usize,
    inside: &[&str],
) -> Result<(T, Map<String, Value>), FormatError> {
    check(line, max)?;
    let mut unknown = Vec::new();
    let mut json = serde_json::Deserializer::from_slice(line);
    let known = serde_ignored::deserialize(&mut json, |path| unknown.extend(keys(&path)));
    let Some(known) = known.ok().filter(|_| json.end().is_ok()) else {
        return located(line).map(|known| (known, Map::new()));
    };
    let mut rest = Map::new();
    let whole = if unknown.is_empty() { Map::new() } else { map(line, max)? };
    for path in unknown {
        match path.as_slice() {
            [key] => rest.extend(whole.get(key).map(|value| (key.clone(), value.clone()))),
            [parent, key] if inside.contains(&parent.as_str()) => {
                let value = whole.get(parent).and_then(|parent| parent.get(key)).cloned().unwrap_or_default();
                rest.entry(parent.clone()).or_insert_with(|| Map::new().into())[key] = value;
            }
            _ => {}
        }
    }
    Ok((known, rest))
}

/// The keys on the way to a member; nothing where a list is on it.
fn keys(path: &serde_ignored::Path<'_>) -> Option<Vec<String>> {
    use serde_ignored::Path;
    match path {
        Path::Root => Some(Vec::new()),
        Path::Seq { .. } => None,
        Path::Map { parent, key } => {
            let mut keys = keys(parent)?;
            keys.push(key.clone());
            Some(keys)
        }
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            keys(parent)
        }
    }
}

/// Reads an object that was parsed already.
///
/// # Errors
/// [`FormatError`] naming the member.
pub fn members<'a, T: Deserialize<'a>>(object: &'a Map<String, Value>) -> Result<T, FormatError> {
    T::deserialize(object).or_else(|_| Ok(serde_path_to_error::deserialize(object)?))
}

/// Reads an object of at most `max` bytes, whatever its members are.
///
/// # Errors
/// [`FormatError`] when it is longer, or no JSON object.
pub fn map(line: &[u8], max: usize) -> Result<Map<String, Value>, FormatError> {
    object(line, max)
}

/// The `type` of a line.
#[derive(serde::Deserialize)]
pub struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    /// The word that it says.
    pub kind: Cow<'a, str>,
}

/// The members of a wire type, sorted by key; what is absent is left out.
pub fn members_of(wire: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(wire) {
        Ok(Value::Object(members)) => without_nulls(members),
        // Wire types are objects with texts as keys.
        Ok(_) | Err(_) => Map::new(),
    }
}

fn without_nulls(members: Map<String, Value>) -> Map<String, Value> {
    let there = members.into_iter().filter(|(_, value)| !value.is_null());
    there.map(|(key, value)| (key, below(value))).collect()
}

fn below(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(without_nulls(members)),
        Value::Array(items) => Value::Array(items.into_iter().map(below).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// A line with its LF: compact, keys sorted.
pub fn line(members: Map<String, Value>) -> String {
    let mut text = Value::Object(members).to_string();
    text.push('\n');
    text
}

/// A count: a whole number of at least 0, and be it written as `1000.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl Visitor<'_> for CountVisitor {
            type Value = Count;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number of at least 0 and below 2^64")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Count, E> {
                Ok(Count(count))
            }

            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, and within bounds"
            )]
            fn visit_f64<E: Error>(self, number: f64) -> Result<Count, E> {
                if number >= 0.0 && number.fract() == 0.0 && number <= MAX_FLOAT {
                    Ok(Count(number as u64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(number), &self))
                }
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(CountVisitor)
        } else {
            deserializer.deserialize_u64(CountVisitor)
        }
    }
}

/// A list of at most `MAX` items: what is beyond is dropped unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const MAX: usize> {
    pub items: Vec<T>,
    /// True if there were more.
    pub cut: bool,
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self { items: Vec::new(), cut: false }
    }
}

impl<T, const MAX: usize> FromIterator<T> for List<T, MAX> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all = all.into_iter();
        let items = all.by_ref().take(MAX).collect();
        Self { items, cut: all.next().is_some() }
    }
}

impl<T, const MAX: usize> List<T, MAX> {
    /// The list, unless it is empty.
    pub fn unless_empty(self) -> Option<Self> {
        (!self.items.is_empty()).then_some(self)
    }
}

impl<T: Serialize, const MAX: usize> Serialize for List<T, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const MAX: usize>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
            type Value = List<T, MAX>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<List<T, MAX>, A::Error> {
                let mut list = List::default();
                while list.items.len() < MAX {
                    match all.next_element()? {
                        Some(item) => list.items.push(item),
                        None => return Ok(list),
                    }
                }
                while all.next_element::<IgnoredAny>()?.is_some() {
                    list.cut = true;
                }
                Ok(list)
            }
        }
        deserializer.deserialize_seq(Items(std::marker::PhantomData))
    }
}

/// `text`, cut at a character so that it takes at most `max` bytes as a JSON string without its quotes.
pub fn bounded(text: &str, max: usize) -> String {
    let mut used = 0_usize;
    text.chars()
        .take_while(|char| {
            used += match char {
                '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
                '\u{0}'..='\u{1f}' => 6,
                _ => char.len_utf8(),
            };
            used <= max
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Wire {
        n: Option<Count>,
        list: Option<List<u8, 3>>,
        #[serde(flatten)]
        extra: Map<String, Value>,
    }

    fn wire(text: &str) -> Result<Wire, FormatError> {
        object(text.as_bytes(), 1 << 20)
    }

    #[test]
    fn only_whole_numbers_are_counts() {
        for (text, count) in [("7", 7), ("1000.0", 1000), ("0", 0), ("18446744073709551615", u64::MAX)] {
            assert_eq!(wire(&format!(r#"{{"n":{text}}}"#)).unwrap().n, Some(Count(count)), "{text}");
        }
        for text in ["-7", "-0.5", "2.9", "1e300", "18446744073709551616", "\"7\"", "true", "[1]"] {
            let error = wire(&format!(r#"{{"n":{text}}}"#)).unwrap_err().to_string();
            assert!(error.contains("the member \"n\"") && error.contains("a whole number"), "{error}");
        }
        assert_eq!(wire("{}").unwrap().n, None);
        assert_eq!(wire(r#"{"n":null}"#).unwrap().n, None);
    }

    #[test]
    fn lists_are_cut_and_say_so() {
        let list = |text: &str| wire(&format!(r#"{{"list":{text}}}"#)).unwrap().list.unwrap();
        assert_eq!(list("[1,2,3]"), List { items: vec![1, 2, 3], cut: false });
        assert_eq!(list("[1,2,3,{}]"), List { items: vec![1, 2, 3], cut: true });
        assert_eq!((1..9).collect::<List<u8, 3>>(), List { items: vec![1, 2, 3], cut: true });
        let error = wire(r#"{"list":[1,"x"]}"#).unwrap_err().to_string();
        assert!(error.starts_with("the member \"list[1]\": invalid type: string \"x\""), "{error}");
    }

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[serde(rename = "inner")]
        _inner: Wire,
    }

    #[test]
    fn errors_name_no_type_of_ours() {
        for (text, words) in [
            (r#"{"inner":7}"#, "invalid type: integer `7`, expected an object at line 1 column 10"),
            (r#"{"inner":"a, expected struct B"}"#, "string \"a, expected struct B\", expected an object at"),
        ] {
            let error = object::<Outer>(text.as_bytes(), 99).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("\"inner\""), "{error}");
        }
        let read = wire(r#"{"n":"a, expected struct B"}"#).unwrap_err().to_string();
        assert!(read.contains("a, expected struct B"), "{read}");
    }

    #[test]
    fn errors_name_the_member_and_cut_what_they_show() {
        let long = format!(r#"{{"n":"{}"}}"#, "x".repeat(5_000));
        let error = wire(&long).unwrap_err().to_string();
        assert!(error.starts_with("the member \"n\": invalid type: string") && error.len() < 300, "{error}");
        let twice = wire(r#"{"n":1,"n":2}"#).unwrap_err().to_string();
        insta::assert_snapshot!(twice, @"duplicate field `n` at line 1 column 10");
    }

    #[test]
    fn bounded_counts_what_escaping_adds() {
        assert_eq!(bounded("abc", 2), "ab");
        assert_eq!(bounded("a\nb", 2), "a");
        assert_eq!(bounded("\u{1}\u{1}", 6), "\u{1}");
        assert_eq!(bounded("äöü", 5), "äö");
        for text in ["\"\\\n\t\u{0}\u{1f}\u{7f}ä€😀", "plain"] {
            let escaped = serde_json::to_string(text).unwrap().len() - 2;
            assert_eq!(bounded(text, escaped), text);
            assert_ne!(bounded(text, escaped - 1), text);
        }
    }

    #[test]
    fn deep_and_large_input_is_an_error() {
        let deep = format!("{{\"x\":{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(wire(&deep), Err(FormatError::Json(_))));
        let too_large = FormatError::TooLarge { bytes: 4, max: 3 };
        assert_eq!(object::<Wire>(b"{}  ", 3), Err(too_large));
        assert_eq!(object::<Wire>(b"[]", 3), Err(FormatError::NotAnObject));
        for bytes in [&b"{\"\xff\":1}"[..], b"", b"{", b"{} x", b"garbage"] {
            assert!(
                matches!(object::<Wire>(bytes, 99), Err(FormatError::Json(_))),
                "{}",
                bytes.escape_ascii()
            );
        }
    }
}
