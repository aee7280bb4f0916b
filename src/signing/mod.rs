//! The only door to keys: signing with the keys that git's own set-up names, and verifying what others signed.
//!
//! Signing is left to `ssh-keygen`, which knows key files, agents and security keys; never to a program that a
//! repository's configuration names. Verifying is done here, in process: a hook starts no child, and a ledger of
//! thousands of entries is verified within a second. What is signed and how is docs/formats.md.

mod bad_signature;
mod crypto;
mod key;
mod signer;
mod sshsig;
mod wire;

pub use bad_signature::BadSignature;
pub use key::{BadKey, PublicKey};
pub use signer::{Signer, SigningError, SigningSetup};
pub use sshsig::{NAMESPACE, SshSig, Touch};

/// Standard base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The bytes of a text in standard base64 with padding.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;
