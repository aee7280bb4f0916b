//! The arithmetic, by algorithm: Ed25519, ECDSA on P-256 and P-384, RSA, and the security keys of the first two.

use std::borrow::Cow;

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA512, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use sha2::Digest as _;

use super::wire::Reader;

const ED25519_KEY: &str = "ssh-ed25519";
const ED25519_DEVICE: &str = "sk-ssh-ed25519@openssh.com";
const P256_KEY: &str = "ecdsa-sha2-nistp256";
const P256_DEVICE: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
const P384_KEY: &str = "ecdsa-sha2-nistp384";
pub(super) const RSA_KEY: &str = "ssh-rsa";

/// The reason for which a signature does not hold.
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

/// True for a type of key whose signatures are verified.
pub(super) fn is_known(kind: &str) -> bool {
    [ED25519_KEY, ED25519_DEVICE, P256_KEY, P256_DEVICE, P384_KEY, RSA_KEY].contains(&kind)
}

/// The length of an RSA key; `None` of another one.
pub(super) fn rsa_bits(blob: &[u8]) -> Option<usize> {
    let mut key = Reader::new(blob);
    if key.text()? != RSA_KEY {
        return None;
    }
    let (_, modulus) = (key.natural()?, key.natural()?);
    let first = modulus.first()?;
    let unused = usize::try_from(first.leading_zeros()).ok()?;
    modulus.len().checked_mul(8)?.checked_sub(unused)
}

/// The part of a whole key that its holder knows the secret of.
pub(super) fn point(blob: &[u8]) -> Option<&[u8]> {
    KeyParts::read(blob).map(|key| key.point)
}

/// The parts of a whole key.
struct KeyParts<'a> {
    /// The point, or the modulus of an RSA key.
    point: &'a [u8],
    /// The application of a security key, or the exponent of an RSA key.
    beside: Option<&'a [u8]>,
}

impl<'a> KeyParts<'a> {
    /// `None` of a key that has other parts than its type asks for, or has them in another form than the one there is: the same key
    /// would have several names.
    fn read(blob: &'a [u8]) -> Option<Self> {
        let mut key = Reader::new(blob);
        let kind = key.text()?;
        let (curve, width) = match kind {
            ED25519_KEY | ED25519_DEVICE => (None, 32),
            P256_KEY | P256_DEVICE => (Some("nistp256"), 65),
            P384_KEY => (Some("nistp384"), 97),
            RSA_KEY => {
                let (exponent, modulus) = (key.minimal()?, key.minimal()?);
                return key.is_empty().then_some(Self { point: modulus, beside: Some(exponent) });
            }
            _ => return None,
        };
        if let Some(curve) = curve
            && key.text()? != curve
        {
            return None;
        }
        let point = key.string()?;
        let beside = if is_device(kind) { Some(key.string()?) } else { None };
        let is_uncompressed = curve.is_none() || point.first() == Some(&4);
        (key.is_empty() && point.len() == width && is_uncompressed).then_some(Self { point, beside })
    }
}

fn is_device(kind: &str) -> bool {
    [ED25519_DEVICE, P256_DEVICE].contains(&kind)
}

/// A signature with all that belongs to it.
pub(super) struct SignatureParts<'a> {
    pub(super) key: &'a [u8],
    pub(super) algorithm: &'a str,
    pub(super) signature: &'a [u8],
    pub(super) device: Option<(u8, u32)>,
}

/// Verifies that `made` is over `signed`.
pub(super) fn verify(made: &SignatureParts<'_>, signed: &[u8]) -> Result<(), BadSignature> {
    let kind = Reader::new(made.key).text().ok_or(BadSignature::Shape)?;
    if !is_known(kind) || (kind != RSA_KEY && made.algorithm != kind) {
        return Err(BadSignature::Algorithm);
    }
    let KeyParts { point, beside } = KeyParts::read(made.key).ok_or(BadSignature::Shape)?;
    let beside = beside.unwrap_or_default();
    let signed =
        if is_device(kind) { by_device(made, beside, signed)?.into() } else { Cow::Borrowed(signed) };
    match kind {
        P256_KEY | P256_DEVICE => ecdsa(&ECDSA_P256_SHA256_FIXED, made, point, 32, &signed),
        P384_KEY => ecdsa(&ECDSA_P384_SHA384_FIXED, made, point, 48, &signed),
        RSA_KEY => rsa(made, RsaPublicKeyComponents { n: point, e: beside }, &signed),
        _ => UnparsedPublicKey::new(&ED25519, point)
            .verify(&signed, made.signature)
            .map_err(|_| BadSignature::Mismatch),
    }
}

/// The message that a security key signs in place of the given one: hashes, and what it says about its holder.
fn by_device(made: &SignatureParts<'_>, application: &[u8], signed: &[u8]) -> Result<Vec<u8>, BadSignature> {
    let (flags, counter) = made.device.ok_or(BadSignature::Shape)?;
    let mut message = sha2::Sha256::digest(application).to_vec();
    message.push(flags);
    message.extend_from_slice(&counter.to_be_bytes());
    message.extend_from_slice(&sha2::Sha256::digest(signed));
    Ok(message)
}

/// `width` is the number of bytes of each of the two numbers of a signature.
fn ecdsa(
    algorithm: &'static dyn VerificationAlgorithm,
    made: &SignatureParts<'_>,
    point: &[u8],
    width: usize,
    signed: &[u8],
) -> Result<(), BadSignature> {
    let mut numbers = Reader::new(made.signature);
    let mut fixed = Vec::with_capacity(2 * width);
    for _ in 0..2 {
        let number = numbers.natural().filter(|number| number.len() <= width).ok_or(BadSignature::Shape)?;
        fixed.resize(fixed.len() + width - number.len(), 0);
        fixed.extend_from_slice(number);
    }
    if !numbers.is_empty() {
        return Err(BadSignature::Shape);
    }
    UnparsedPublicKey::new(algorithm, point).verify(signed, &fixed).map_err(|_| BadSignature::Mismatch)
}

fn rsa(
    made: &SignatureParts<'_>,
    key: RsaPublicKeyComponents<&[u8]>,
    signed: &[u8],
) -> Result<(), BadSignature> {
    let parameters = match made.algorithm {
        "rsa-sha2-512" => &RSA_PKCS1_2048_8192_SHA512,
        "rsa-sha2-256" => &RSA_PKCS1_2048_8192_SHA256,
        _ => return Err(BadSignature::Algorithm),
    };
    key.verify(parameters, signed, made.signature).map_err(|_| BadSignature::Mismatch)
}
