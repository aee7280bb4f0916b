//! Public keys as a `.pub` file has them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::Digest as _;

use super::{base64, crypto, from_base64, wire::Reader};

/// Longest key that is read, as text.
const MAX_TEXT: usize = 16 * 1024;

/// A text that is no public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// Neither `TYPE BASE64` nor that with a comment.
    #[error("not a public key: one line of TYPE and BASE64 is asked for, as in a .pub file")]
    NotAKey,
    /// More than one key.
    #[error("several keys: exactly one is asked for, so that it is plain which one is meant")]
    Several,
    /// A private key was given.
    #[error("this is a private key: only the line of its .pub file is asked for")]
    Private,
}

/// The reason for which a key is not to be granted anything: no signature of it would count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitKey {
    /// Signatures of that type are not verified.
    #[error(
        "a key of type {0}, whose signatures are not accepted: use ed25519, ecdsa (256 or 384 bits) or RSA of 2048 bits or more"
    )]
    Kind(String),
    /// An RSA key of a size that is not accepted.
    #[error("an RSA key of {0} bits: 2048 to 8192 are accepted")]
    Size(usize),
    /// Not the parts that a key of its type has.
    #[error("a damaged key")]
    Shape,
}

/// Smallest RSA key, in bits.
const MIN_RSA: usize = 2048;
/// Largest RSA key, in bits.
const MAX_RSA: usize = 8192;

/// True for a text that holds more than one key: on further lines, or in the place of a comment.
fn has_several(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_key = |two: &[&str]| matches!(two, [kind, blob] if from_base64(blob).and_then(|blob| PublicKey::from_blob(&blob)).is_some_and(|key| key.kind == *kind));
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    lines.count() > 1 || words.windows(2).filter(|two| is_key(two)).count() > 1
}

/// A public key, of any type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey {
    kind: String,
    blob: Vec<u8>,
}

impl PublicKey {
    /// Reads `TYPE BASE64 [COMMENT]`.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        if text.contains("PRIVATE KEY") {
            return Err(BadKey::Private);
        }
        let mut words = text.trim().split_ascii_whitespace();
        let (Some(kind), Some(encoded)) = (words.next(), words.next()) else { return Err(BadKey::NotAKey) };
        if text.len() > MAX_TEXT {
            return Err(BadKey::NotAKey);
        }
        let key = from_base64(encoded).and_then(|blob| Self::from_blob(&blob));
        let key = key.filter(|key| key.kind == kind).ok_or(BadKey::NotAKey)?;
        if has_several(text) { Err(BadKey::Several) } else { Ok(key) }
    }

    /// The key of these bytes, as a signature carries them.
    pub(super) fn from_blob(blob: &[u8]) -> Option<Self> {
        let kind = Reader::new(blob).text()?;
        let is_name = kind.bytes().all(|byte| byte.is_ascii_graphic()) && !kind.is_empty();
        is_name.then(|| Self { kind: kind.to_owned(), blob: blob.to_vec() })
    }

    /// An error for a key whose signatures cannot be verified, or are not worth it.
    ///
    /// # Errors
    /// [`UnfitKey`].
    pub fn check_fitness(&self) -> Result<(), UnfitKey> {
        if !crypto::is_known(&self.kind) {
            return Err(UnfitKey::Kind(self.kind.clone()));
        }
        match crypto::rsa_bits(&self.blob) {
            Some(bits) if !(MIN_RSA..=MAX_RSA).contains(&bits) => Err(UnfitKey::Size(bits)),
            Some(_) | None if crypto::point(&self.blob).is_none() => Err(UnfitKey::Shape),
            Some(_) | None => Ok(()),
        }
    }

    /// True where the secret of the other key is that of this one, whatever their types: who has the point of a security key as a
    /// file can sign as either.
    pub fn is_same(&self, other: &Self) -> bool {
        let points = (crypto::point(&self.blob), crypto::point(&other.blob));
        self == other || points.0.is_some() && points.0 == points.1
    }

    /// The type, such as `ssh-ed25519`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// True where the private half lies in a security key.
    pub fn is_hardware(&self) -> bool {
        self.kind.starts_with("sk-")
    }

    /// `SHA256:...`, as `ssh-keygen -l` shows it.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(sha2::Sha256::digest(&self.blob)))
    }
}

impl fmt::Display for PublicKey {
    /// Type and base64, without a comment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, base64(&self.blob))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}
