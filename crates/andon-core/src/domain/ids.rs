//! Ids: newtypes, so that a tree id can never be passed for a commit id.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::codec;

/// A text that is not the hexadecimal id that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a hexadecimal id of {expected}: {text:?}")]
pub struct BadId {
    /// The form that would have been right, such as "64 digits".
    pub expected: &'static str,
    /// The text that came instead, cut to 80 characters.
    pub text: String,
}

impl BadId {
    fn new(expected: &'static str, text: &str) -> Self {
        Self { expected, text: text.chars().take(80).collect() }
    }
}

/// The two lowercase hexadecimal digits of a byte, for who writes tens of thousands of them in place.
pub fn hex_digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// At most 32 bytes, in one piece: a hook writes some hundred ids.
fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0_u8; 64];
    let text = text.get_mut(..2 * bytes.len()).ok_or(fmt::Error)?;
    hex::encode_to_slice(bytes, text).map_err(|_| fmt::Error)?;
    f.write_str(std::str::from_utf8(text).unwrap_or_default())
}

/// Gives an id its hexadecimal form, and to serde that or its bytes.
macro_rules! hex_id {
    ($name:ident, $expected:expr) => {
        impl $name {
            /// The first twelve digits, for people.
            pub fn short(&self) -> String {
                self.to_string().chars().take(12).collect()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(self.as_bytes(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(self.as_bytes(), f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_bytes(self.as_bytes())
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    codec::by_text(deserializer, $expected)
                } else {
                    codec::by_bytes(deserializer, Self::from_bytes)
                }
            }
        }
    };
}

/// A git object id: SHA-1 (20 bytes) or SHA-256 (32 bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    bytes: [u8; 32],
    len: u8,
}

impl Oid {
    /// The all-zero id that git uses for "no object".
    pub const ZERO: Self = Self { bytes: [0; 32], len: 20 };

    /// From the raw bytes of an object id. `None` unless there are 20 or 32 of them.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        let len = u8::try_from(raw.len()).ok().filter(|len| matches!(len, 20 | 32))?;
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { bytes, len })
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// True for the all-zero id that git uses for "no object".
    pub fn is_zero(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }
}

impl Default for Oid {
    fn default() -> Self {
        Self::ZERO
    }
}

hex_id!(Oid, "an object id of 40 or 64 hexadecimal digits");

impl FromStr for Oid {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut bytes = [0; 32];
        for len in [20_u8, 32] {
            if hex::decode_to_slice(text, &mut bytes[..usize::from(len)]).is_ok() {
                return Ok(Self { bytes, len });
            }
        }
        Err(BadId::new("40 or 64 digits", text))
    }
}

macro_rules! object_ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub struct $name(pub Oid);

        impl $name {
            /// The first twelve digits, for people.
            pub fn short(&self) -> String {
                self.0.short()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                text.parse().map(Self)
            }
        }
    )+};
}

object_ids! {
    /// The id of a git commit.
    CommitId;
    /// The id of a git tree.
    TreeId;
}

macro_rules! digest_ids {
    ($($(#[$doc:meta])* $name:ident, $bytes:literal, $expected:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub [u8; $bytes]);

        impl $name {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }

            fn as_bytes(&self) -> &[u8] {
                &self.0
            }
        }

        hex_id!($name, concat!("a hexadecimal id of ", $expected));

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let mut bytes = [0; $bytes];
                let read = hex::decode_to_slice(text, &mut bytes);
                read.map(|()| Self(bytes)).map_err(|_| BadId::new($expected, text))
            }
        }
    )+};
}

digest_ids! {
    /// A sha256 with no narrower meaning: an output, a record in the chain.
    Digest, 32, "64 digits";
    /// The code fingerprint: Merkle hash over the code paths of a tree (docs/formats.md).
    CodeId, 32, "64 digits";
    /// The hash of a normalized diff (docs/formats.md).
    DiffHash, 32, "64 digits";
    /// The signature of a test result or of its errors (docs/formats.md).
    Signature, 32, "64 digits";
    /// The id of a ledger entry.
    EntryId, 32, "64 digits";
    /// The hash of one side of a hunk, cut to 8 bytes.
    HunkHash, 8, "16 digits";
    /// A hash that is only compared with a few others, cut to 8 bytes: of a tool call, of an event's id.
    ShortHash, 8, "16 digits";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_a_round_trip() {
        let forty = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(forty.parse::<CommitId>().unwrap().to_string(), forty);
        let sixty_four = "ab".repeat(32);
        assert_eq!(sixty_four.parse::<Oid>().unwrap().to_string(), sixty_four);
        assert_eq!(sixty_four.parse::<CodeId>().unwrap().to_string(), sixty_four);
        assert_eq!("00112233445566ff".parse::<HunkHash>().unwrap().to_string(), "00112233445566ff");
    }

    #[test]
    fn bad_ids_are_refused_and_cut() {
        for text in ["", "abc", "zz", &"g".repeat(40), &"a".repeat(41), "é"] {
            assert!(text.parse::<Oid>().is_err(), "{text}");
            assert!(text.parse::<CodeId>().is_err(), "{text}");
        }
        assert_eq!("x".repeat(5000).parse::<Oid>().unwrap_err().text.len(), 80);
    }
}
