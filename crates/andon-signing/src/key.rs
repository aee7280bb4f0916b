//! Public keys as a `.pub` file has them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::Digest as _;

use super::wire::Reader;
use super::{base64, from_base64};

/// Longest key that is read, as text.
const MAX_TEXT: usize = 16 * 1024;

/// A text that is no public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// Neither `TYPE BASE64` nor that with a comment.
    #[error("not a public key: one line of TYPE and BASE64 is asked for, as in a .pub file")]
    NotAKey,
    /// A private key was given.
    #[error("this is a private key: only the line of its .pub file is asked for")]
    Private,
}

/// A public key.
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
        let key = from_base64(encoded).and_then(|blob| Self::from_blob(&blob)).ok_or(BadKey::NotAKey)?;
        if key.kind == kind { Ok(key) } else { Err(BadKey::NotAKey) }
    }

    /// The key of these bytes, as a signature carries them.
    pub(super) fn from_blob(blob: &[u8]) -> Option<Self> {
        let kind = Reader::new(blob).text()?;
        let is_name = kind.bytes().all(|byte| byte.is_ascii_graphic()) && !kind.is_empty();
        is_name.then(|| Self { kind: kind.to_owned(), blob: blob.to_vec() })
    }

    /// The type, such as `ssh-ed25519`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// Whether the private half lies in a security key.
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
