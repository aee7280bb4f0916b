//! How the caches know a torn or altered entry: the first bytes of its sha256.

use sha2::{Digest as _, Sha256};

/// The first `N` of `bytes`, which are at least as many.
pub(super) fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[..N]);
    taken
}

/// The checksum of an entry.
pub(super) fn checksum(bytes: &[u8]) -> [u8; 8] {
    first(&Sha256::digest(bytes))
}
