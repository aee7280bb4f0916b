//! How the caches know a torn or altered entry: the first bytes of its sha256.

use sha2::block_api::compress256;
use sha2::{Digest as _, Sha256};

/// The longest text that fills one block of sha256 with what is added to it (FIPS 180-4, section 5.1.1).
const MAX_SHORT: usize = 55;
/// Where the hash starts from (FIPS 180-4, section 5.3.3).
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The sha256 of what the parts are together. A wide directory asks for a thousand of short texts: these go into their
/// one block without the buffers of a stream, which cost three times the hash.
pub(super) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    short(parts).unwrap_or_else(|| {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        hash.finalize().into()
    })
}

fn short(parts: &[&[u8]]) -> Option<[u8; 32]> {
    let mut block = [0_u8; 64];
    let mut length = 0;
    for part in parts {
        block[..MAX_SHORT].get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    block[length] = 0x80;
    let bits = u16::try_from(length * 8).ok()?;
    [block[62], block[63]] = bits.to_be_bytes();
    let mut state = START;
    compress256(&mut state, &[block]);
    let mut hash = [0; 32];
    for (place, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *place = word.to_be_bytes();
    }
    Some(hash)
}

/// The first `N` of `bytes`, which are at least as many.
pub(super) fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[..N]);
    taken
}

/// The checksum of an entry.
pub(super) fn checksum(bytes: &[u8]) -> [u8; 8] {
    first(&sha256(&[bytes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_texts_have_the_same_hash_as_a_stream() {
        let text: Vec<u8> = (0..=200).collect();
        for length in 0..=text.len() {
            let whole = &text[..length];
            let wanted: [u8; 32] = Sha256::digest(whole).into();
            for cut in [0, 1, length / 2, length.saturating_sub(1)] {
                let (before, after) = whole.split_at(cut.min(length));
                assert_eq!(sha256(&[before, b"", after]), wanted, "{length} {cut}");
            }
            assert_eq!(short(&[whole]).is_some(), length <= MAX_SHORT);
            assert_eq!(checksum(whole), wanted[..8]);
        }
        assert_eq!(sha256(&[]), <[u8; 32]>::from(Sha256::digest(b"")));
    }
}
