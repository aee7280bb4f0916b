//! Members of a JSON object, each read with what it must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

/// The longest text that is signed: such texts are never cut.
pub const MAX_TEXT: usize = 4096;
/// The greatest whole number that every reader of JSON understands alike.
pub const MAX_WHOLE: i64 = (1 << 53) - 1;

/// A member that is missing or not what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The name of the member.
    pub member: String,
    /// What it must be.
    pub wanted: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.member, self.wanted)
    }
}

/// A malformed member.
pub fn malformed(member: &str, wanted: &'static str) -> Malformed {
    Malformed { member: member.to_owned(), wanted }
}

/// The members of an object. A member that is `null` is absent.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    /// The members of this object.
    pub fn new(map: &'a Map<String, Value>) -> Self {
        Self(map)
    }

    /// The member as it is.
    pub fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there.
    pub fn text(self, name: &str) -> Result<String, Malformed> {
        self.maybe_text(name)?.ok_or_else(|| malformed(name, "a text is missing"))
    }

    /// A text that may be there.
    pub fn maybe_text(self, name: &str) -> Result<Option<String>, Malformed> {
        self.maybe(name, "must be a text", |value| value.as_str().map(str::to_owned))
    }

    /// A text that is signed: at most 4 KiB.
    pub fn signed_text(self, name: &str) -> Result<Option<String>, Malformed> {
        let text = self.maybe_text(name)?;
        if text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(malformed(name, "must be at most 4 KiB: signed texts are never cut"));
        }
        Ok(text)
    }

    /// A whole number of at least zero.
    pub fn whole(self, name: &str) -> Result<Option<i64>, Malformed> {
        self.maybe(name, "must be a whole number of at least 0", |value| {
            value.as_i64().filter(|number| (0..=MAX_WHOLE).contains(number))
        })
    }

    /// True or false.
    pub fn truth(self, name: &str) -> Result<Option<bool>, Malformed> {
        self.maybe(name, "must be true or false", Value::as_bool)
    }

    /// Seconds since 1970, or an RFC 3339 time.
    pub fn time(self, name: &str) -> Result<Option<i64>, Malformed> {
        self.maybe(name, "must be a time: seconds since 1970, or RFC 3339", time)
    }

    /// Another object.
    pub fn object(self, name: &str) -> Result<Option<Self>, Malformed> {
        self.maybe(name, "must be an object", |value| value.as_object().map(Self))
    }

    /// A member that is a list, with items of any kind.
    pub fn list(self, name: &str) -> Result<Option<&'a [Value]>, Malformed> {
        self.maybe(name, "must be a list", |value| value.as_array().map(Vec::as_slice))
    }

    /// A list of texts; none when it is absent.
    pub fn texts(self, name: &str) -> Result<Vec<String>, Malformed> {
        let list = self.maybe(name, "must be a list of texts", texts)?;
        Ok(list.unwrap_or_default())
    }

    /// The same without order and doubles.
    pub fn set(self, name: &str) -> Result<BTreeSet<String>, Malformed> {
        Ok(self.texts(name)?.into_iter().collect())
    }

    /// An object whose members are lists of texts.
    pub fn lists(self, name: &str) -> Result<BTreeMap<String, Vec<String>>, Malformed> {
        let Some(Self(map)) = self.object(name)? else { return Ok(BTreeMap::new()) };
        let read = |(who, list): (&String, &Value)| Some((who.clone(), texts(list)?));
        map.iter().map(read).collect::<Option<_>>().ok_or_else(|| malformed(name, "must hold lists of texts"))
    }

    /// An object whose members are whole numbers, which may be negative.
    pub fn numbers(self, name: &str) -> Result<BTreeMap<String, i64>, Malformed> {
        let Some(Self(map)) = self.object(name)? else { return Ok(BTreeMap::new()) };
        let fits = |number: &i64| (-MAX_WHOLE..=MAX_WHOLE).contains(number);
        let read = |(who, number): (&String, &Value)| Some((who.clone(), number.as_i64().filter(fits)?));
        map.iter().map(read).collect::<Option<_>>().ok_or_else(|| malformed(name, "must hold whole numbers"))
    }

    fn maybe<T>(
        self,
        name: &str,
        wanted: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| malformed(name, wanted)),
        }
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Reads a time in seconds since 1970 or as RFC 3339 has it.
pub fn time(value: &Value) -> Option<i64> {
    let seconds = match value.as_str() {
        Some(text) => text.parse::<jiff::Timestamp>().ok()?.as_second(),
        None => value.as_i64()?,
    };
    (-MAX_WHOLE..=MAX_WHOLE).contains(&seconds).then_some(seconds)
}

/// Whether a text says nothing.
pub fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
