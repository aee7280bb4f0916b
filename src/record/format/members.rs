//! Reading the members of a JSON object one by one. What is not taken is what a newer version added: it is kept and
//! written back, which a derived deserializer cannot do at every depth. Everything here is untrusted: sizes are
//! bounded before parsing, depth by `serde_json`'s recursion limit, and numbers saturate.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::json::{Json, Object};

/// Why a line could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Longer than a line may be.
    #[error("{bytes} bytes, more than the {max} allowed")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What is allowed.
        max: usize,
    },
    /// Not JSON, cut short, not UTF-8, or nested too deeply.
    #[error("not readable as JSON: {0}")]
    Json(String),
    /// JSON, but no object.
    #[error("not a JSON object")]
    NotAnObject,
    /// Of another major version.
    #[error(
        "schema {found:?} is not {expected:?}: it was written by another version of andon, which can read it"
    )]
    Schema {
        /// What it says, cut to 80 characters.
        found: String,
        /// What this version reads.
        expected: &'static str,
    },
    /// A member without which it means nothing.
    #[error("the member {member:?} is missing")]
    Missing {
        /// Its path, such as `diff.hash`.
        member: String,
    },
    /// A member of the wrong type or value.
    #[error("the member {member:?} is not {expected}: {found}")]
    Member {
        /// Its path, such as `diff.hash`.
        member: String,
        /// What would have been right.
        expected: &'static str,
        /// What is there, as JSON cut to 80 characters.
        found: String,
    },
}

impl FormatError {
    /// A `type` that this version does not know.
    pub(crate) fn unknown_type(kind: &str) -> Self {
        Self::Member {
            member: "type".into(),
            expected: "a type of fact this version of andon knows",
            found: Value::from(kind).to_string().chars().take(80).collect(),
        }
    }
}

/// The members of an object that have not been taken yet.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    path: &'static str,
    map: Object<'a>,
    numbers: Numbers,
}

/// How a number is read where a count is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// Any number is one: what was stored stays readable.
    Saturating,
    /// Only a whole number that fits: a reporter who says anything else means something else.
    Exact,
}

/// Largest number that is whole for sure where it is written as a fraction, as `1000.0` is.
const MAX_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The count that `value` is, or what it is not.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within bounds")]
fn whole(value: &Json<'_>) -> Result<u64, &'static str> {
    let Some(number) = value.as_number() else { return Err("a number of at least 0") };
    match (number.as_u64(), number.as_f64()) {
        (Some(count), _) => Ok(count),
        (None, Some(float)) if float < 0.0 => Err("a number of at least 0"),
        (None, Some(float)) if float.fract() != 0.0 => Err("a whole number"),
        (None, Some(float)) if float <= MAX_FLOAT => Ok(float as u64),
        (None, _) => Err("a number below 2^64"),
    }
}

/// Whether a list was longer than its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Whole,
    Truncated,
}

impl<'a> Members<'a> {
    /// Parses one line of at most `max` bytes.
    pub(crate) fn parse(line: &'a [u8], max: usize) -> Result<Self, FormatError> {
        if line.len() > max {
            return Err(FormatError::TooLarge { bytes: line.len(), max });
        }
        match serde_json::from_slice(line).map_err(|error| FormatError::Json(error.to_string()))? {
            Json::Object(map) => Ok(Self { path: "", map, numbers: Numbers::Saturating }),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                Err(FormatError::NotAnObject)
            }
        }
    }

    /// As [`Self::parse`], for what comes from outside: a fraction, a negative number or one that is too large is no count.
    pub(crate) fn parse_exact(line: &'a [u8], max: usize) -> Result<Self, FormatError> {
        Ok(Self { numbers: Numbers::Exact, ..Self::parse(line, max)? })
    }

    /// The names of all members that have not been taken.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.map.keys()
    }

    /// Whether `key` is there and says something.
    pub(crate) fn tells(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| *value != Json::Null)
    }

    /// Takes `key` as it is; `null` is nothing.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.take(key).map(Json::into_value).filter(|value| !value.is_null())
    }

    /// The members nobody took.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.map.into_map()
    }

    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn wrong(&self, key: &str, expected: &'static str, found: Json<'a>) -> FormatError {
        FormatError::Member {
            member: self.name(key),
            expected,
            found: found.into_value().to_string().chars().take(80).collect(),
        }
    }

    /// `value`, or the error that `key` is missing.
    pub(crate) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, FormatError> {
        value.ok_or_else(|| FormatError::Missing { member: self.name(key) })
    }

    /// Takes `key` and reads it with `read`. Absent and `null` both mean unknown.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&Json<'a>) -> Option<T>,
    ) -> Result<Option<T>, FormatError> {
        match self.map.take(key) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => match read(&value) {
                Some(read) => Ok(Some(read)),
                None => Err(self.wrong(key, expected, value)),
            },
        }
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, FormatError> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A text with a meaning of its own: an id, a time.
    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        key: &str,
        what: &'static str,
    ) -> Result<Option<T>, FormatError> {
        self.read(key, what, |value| value.as_str()?.parse().ok())
    }

    /// One of a closed set of names.
    pub(crate) fn named<T>(
        &mut self,
        key: &str,
        what: &'static str,
        from_name: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, FormatError> {
        self.read(key, what, |value| from_name(value.as_str()?))
    }

    /// A count, saturating at both ends.
    pub(crate) fn count(&mut self, key: &str) -> Result<Option<u64>, FormatError> {
        match self.numbers {
            Numbers::Saturating => self.read(key, "a number", saturating_count),
            Numbers::Exact => match self.map.take(key) {
                None | Some(Json::Null) => Ok(None),
                Some(value) => match whole(&value) {
                    Ok(count) => Ok(Some(count)),
                    Err(expected) => Err(self.wrong(key, expected, value)),
                },
            },
        }
    }

    /// A count of which a negative one is no report: read as 0 it would clear what counts.
    pub(crate) fn amount(&mut self, key: &str) -> Result<Option<u64>, FormatError> {
        match self.numbers {
            Numbers::Saturating => self.read(key, "a number of at least 0", |value| {
                let positive = value.as_number()?.as_f64().is_some_and(|number| number >= 0.0);
                positive.then(|| saturating_count(value))?
            }),
            Numbers::Exact => self.count(key),
        }
    }

    /// A yes or no.
    pub(crate) fn flag(&mut self, key: &str) -> Result<bool, FormatError> {
        Ok(self.read(key, "true or false", Json::as_bool)?.unwrap_or(false))
    }

    /// A list of at most `max` items; what is beyond is dropped and said so. Absent means empty.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        max: usize,
        item: impl Fn(&Json<'a>) -> Option<T>,
    ) -> Result<(Vec<T>, Cut), FormatError> {
        let read = self.read(key, "a list of the right items", |value| {
            let items = value.as_array()?;
            let kept = items.iter().take(max).map(&item).collect::<Option<Vec<T>>>()?;
            Some((kept, if items.len() > max { Cut::Truncated } else { Cut::Whole }))
        })?;
        Ok(read.unwrap_or((Vec::new(), Cut::Whole)))
    }

    /// An object, to be read member by member.
    pub(crate) fn object(&mut self, key: &'static str) -> Result<Option<Self>, FormatError> {
        match self.map.take(key) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Object(map)) => Ok(Some(Self { path: key, map, numbers: self.numbers })),
            Some(value @ (Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_))) => {
                Err(self.wrong(key, "an object", value))
            }
        }
    }

    /// Puts back what was left of the object `key`, if anything was.
    pub(crate) fn keep_rest(&mut self, key: &'static str, object: Self) {
        if !object.map.is_empty() {
            self.map.put_back(key, Json::Object(object.map));
        }
    }
}

/// Any JSON number as a count: negative is zero, too large is the largest, fractions are cut.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate, which is wanted"
)]
/// A number as a count, saturating at both ends.
fn saturating_count(value: &Json<'_>) -> Option<u64> {
    let value = value.as_number()?;
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

/// `text`, cut at a character so that it takes at most `max` bytes as a JSON string without its quotes.
pub(crate) fn bounded(text: &str, max: usize) -> String {
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

    fn members(text: &str) -> Members<'_> {
        Members::parse(text.as_bytes(), 1 << 20).unwrap()
    }

    #[test]
    fn counts_saturate() {
        let table =
            [("7", 7), ("-7", 0), ("1e300", u64::MAX), ("2.9", 2), ("18446744073709551615", u64::MAX)];
        for (text, wanted) in table {
            assert_eq!(members(&format!(r#"{{"n":{text}}}"#)).count("n"), Ok(Some(wanted)), "{text}");
        }
        assert_eq!(members("{}").count("n"), Ok(None));
        assert_eq!(members(r#"{"n":null}"#).count("n"), Ok(None));
        assert!(members(r#"{"n":"7"}"#).count("n").is_err());
    }

    #[test]
    fn errors_name_the_member_and_cut_what_they_show() {
        let long = format!(r#"{{"diff":{{"hash":"{}"}}}}"#, "x".repeat(5_000));
        let mut outer = members(&long);
        let error = outer.object("diff").unwrap().unwrap().count("hash").unwrap_err().to_string();
        assert!(error.starts_with("the member \"diff.hash\" is not a number"), "{error}");
        assert!(error.len() < 200);
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
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(Members::parse(deep.as_bytes(), 1 << 20), Err(FormatError::Json(_))));
        assert_eq!(Members::parse(b"{}  ", 3).unwrap_err(), FormatError::TooLarge { bytes: 4, max: 3 });
        assert_eq!(Members::parse(b"[]", 3).unwrap_err(), FormatError::NotAnObject);
        assert!(matches!(Members::parse(b"{\"\xff\":1}", 99), Err(FormatError::Json(_))));
    }
}
