//! Signatures as `ssh-keygen -Y sign` makes them (PROTOCOL.sshsig): what git keeps in the `gpgsig` header of a commit.

use sha2::Digest as _;

use super::crypto::{self, BadSignature};
use super::wire::{Reader, put};
use super::{base64, from_base64, key::PublicKey};

/// The namespace in which git signs commits.
pub const NAMESPACE: &str = "git";

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----\n";
const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;
const COLUMNS: usize = 70;
/// Longest signature that is read, as text.
const MAX_TEXT: usize = 64 * 1024;
/// The bit of a security key's flags for a touch by a person.
const PRESENT: u8 = 1;

/// The knowledge about a touch of the key by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Touch {
    /// The security key says so.
    Present,
    /// Another kind of key, or one without a touch.
    Unknown,
}

/// A signature, read and not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSig {
    key: PublicKey,
    namespace: String,
    hash: String,
    algorithm: String,
    signature: Vec<u8>,
    /// Flags and counter of a security key.
    device: Option<(u8, u32)>,
}

impl SshSig {
    /// Reads an armoured signature; it must be written exactly as `ssh-keygen` writes it.
    ///
    /// # Errors
    /// [`BadSignature::Armour`], [`BadSignature::Shape`].
    pub fn read(armour: &[u8]) -> Result<Self, BadSignature> {
        let text = std::str::from_utf8(armour).ok().filter(|text| text.len() <= MAX_TEXT);
        let inner = text.and_then(|text| text.strip_prefix(BEGIN)?.strip_suffix(END));
        let inner = inner.ok_or(BadSignature::Armour)?;
        let bytes = from_base64(&inner.replace('\n', "")).ok_or(BadSignature::Armour)?;
        if armoured(&bytes).as_bytes() != armour {
            return Err(BadSignature::Armour);
        }
        Self::decode(&bytes).ok_or(BadSignature::Shape)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.take(MAGIC.len())? != MAGIC || reader.number()? != VERSION {
            return None;
        }
        let key = PublicKey::from_blob(reader.string()?)?;
        let namespace = reader.text()?.to_owned();
        let reserved = reader.string()?;
        let hash = reader.text()?.to_owned();
        let mut inner = Reader::new(reader.string()?);
        let algorithm = inner.text()?.to_owned();
        let signature = inner.string()?.to_vec();
        let device = if key.is_hardware() { Some((inner.take(1)?[0], inner.number()?)) } else { None };
        let is_whole = reader.is_empty() && inner.is_empty() && reserved.is_empty();
        is_whole.then_some(Self { key, namespace, hash, algorithm, signature, device })
    }

    /// The key that it says it was made with.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The touch of the key; worth something only once the signature was verified.
    pub fn touch(&self) -> Touch {
        match self.device {
            Some((flags, _)) if flags & PRESENT != 0 => Touch::Present,
            Some(_) | None => Touch::Unknown,
        }
    }

    /// Verifies that its key signed `message` for `namespace`.
    ///
    /// # Errors
    /// Why it did not.
    pub fn verify(&self, namespace: &str, message: &[u8]) -> Result<(), BadSignature> {
        if self.namespace != namespace || self.hash != "sha512" {
            return Err(BadSignature::Purpose);
        }
        let mut signed = MAGIC.to_vec();
        put(&mut signed, namespace.as_bytes());
        put(&mut signed, b"");
        put(&mut signed, self.hash.as_bytes());
        put(&mut signed, &sha2::Sha512::digest(message));
        crypto::verify(
            &crypto::SignatureParts {
                key: self.key.blob(),
                algorithm: &self.algorithm,
                signature: &self.signature,
                device: self.device,
            },
            &signed,
        )
    }
}

/// The armour of a signature, ending with a line end.
fn armoured(bytes: &[u8]) -> String {
    let encoded = base64(bytes);
    let mut text = String::from(BEGIN);
    for line in encoded.as_bytes().chunks(COLUMNS) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text + END
}
