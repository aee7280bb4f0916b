#![doc = include_str!("../README.md")]

mod crypto;
mod key;
mod signer;
mod sshsig;
mod wire;

pub use crypto::BadSignature;
pub use key::{BadKey, PublicKey, UnfitKey};
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
