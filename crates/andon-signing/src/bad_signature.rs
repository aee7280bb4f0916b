//! What is wrong with a signature.

/// Why a signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSignature {
    /// The armour is not the one that its bytes have at 70 columns.
    #[error("not an SSH signature in canonical form")]
    Armour,
    /// The bytes within are no signature.
    #[error("not an SSH signature")]
    Shape,
    /// Made for something else than a commit, or by another hash than sha512.
    #[error("not made for a git commit")]
    Purpose,
    /// A key or algorithm that is not known here.
    #[error("made with an algorithm that is not supported")]
    Algorithm,
    /// Not over these bytes by this key.
    #[error("the signature does not fit what it signs")]
    Mismatch,
}
