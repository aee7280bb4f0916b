//! The serde forms of single values: ids, times and names as text where others read them, ids and times as bytes
//! in caches. The shape of what holds them is decided elsewhere (`wire`).

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// The maximum length of the quote from a wrong text in an error, in characters.
const QUOTED: usize = 80;

/// Reads a value from its text; `expected` says what it is in an error.
pub(super) fn by_text<'de, T: FromStr, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text { expected, read: |text: &str| text.parse().ok() })
}

/// Reads a value from its name in a closed set.
pub fn by_name<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    from_name: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text { expected, read: from_name })
}

/// Reads a value from its bytes.
pub(super) fn by_bytes<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    from_bytes: fn(&[u8]) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_bytes(Bytes { from_bytes, value: PhantomData })
}

struct Text<T> {
    expected: &'static str,
    read: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let end = text.char_indices().nth(QUOTED).map_or(text.len(), |(end, _)| end);
        (self.read)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(&text[..end]), &self))
    }
}

struct Bytes<T> {
    from_bytes: fn(&[u8]) -> Option<T>,
    value: PhantomData<T>,
}

impl<T> Visitor<'_> for Bytes<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the bytes of an id")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.from_bytes)(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
    }
}

/// Declares a closed set whose values have names: each value and its name in one list. With a description of the set for
/// errors, it is also read from its names, and aliases of a name follow it.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $type:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $type {
            $($(#[$doc])* $value,)+
        }

        impl $type {
            /// The name of the value.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $type:ident, $what:literal $(, $name:ident)? {
        $($(#[$doc:meta])* $value:ident = $word:literal $(| $alias:literal)*,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $type {
            $($(#[$doc])* $value,)+
        }

        impl $type {
            /// Every value with its name, and once more with each alias.
            pub const ALL: [(Self, &'static str); [$($word, $($alias,)*)+].len()] =
                [$((Self::$value, $word), $((Self::$value, $alias),)*)+];
        }

        $crate::named!($type, $what $(, $name)?);
    };
}

/// Gives a closed set with its names in `ALL` the ways from and to a name, serde among them.
#[macro_export]
macro_rules! named {
    ($type:ty, $what:literal) => {
        $crate::named!($type, $what, as_str);
    };
    ($type:ty, $what:literal, $name:ident) => {
        impl $type {
            /// The name in files, in JSON and on the command line.
            pub fn $name(self) -> &'static str {
                Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, name)| name)
            }

            /// The value of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::domain::codec::by_name(deserializer, $what, Self::from_name)
            }
        }
    };
}

/// Writes the fields of a struct as a list.
macro_rules! listed {
    ($type:ident, $($field:ident),+) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ($(self.$field),+).serialize(serializer)
            }
        }
    };
}
pub(super) use listed;

/// Writes one of two values as `true` and the other as nothing.
macro_rules! flag {
    ($type:ident, $set:ident, $unset:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (*self == Self::$set).then_some(true).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let set = Option::<bool>::deserialize(deserializer)?.unwrap_or(false);
                Ok(if set { Self::$set } else { Self::$unset })
            }
        }
    };
}
pub(super) use flag;
