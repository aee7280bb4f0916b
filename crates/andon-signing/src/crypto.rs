//! The arithmetic, by algorithm: Ed25519, ECDSA on P-256 and P-384, RSA, and the security keys of the first two.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA512, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use sha2::Digest as _;

use super::bad_signature::BadSignature;
use super::wire::Reader;

const ED25519_KEY: &str = "ssh-ed25519";
const ED25519_DEVICE: &str = "sk-ssh-ed25519@openssh.com";
const P256_KEY: &str = "ecdsa-sha2-nistp256";
const P256_DEVICE: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
const P384_KEY: &str = "ecdsa-sha2-nistp384";
pub(super) const RSA_KEY: &str = "ssh-rsa";

/// Whether signatures of keys of that type are verified.
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

/// What of a whole key its holder knows the secret of: the point, or the modulus. `None` of one that has other parts than its
/// type asks for, or has them in another form than the one there is: the same key would have several names.
pub(super) fn point(blob: &[u8]) -> Option<&[u8]> {
    let mut key = Reader::new(blob);
    let kind = key.text()?;
    let (curve, width, is_device) = match kind {
        ED25519_KEY | ED25519_DEVICE => (None, 32, kind == ED25519_DEVICE),
        P256_KEY | P256_DEVICE => (Some("nistp256"), 65, kind == P256_DEVICE),
        P384_KEY => (Some("nistp384"), 97, false),
        RSA_KEY => {
            let (_, modulus) = (key.minimal()?, key.minimal()?);
            return key.is_empty().then_some(modulus);
        }
        _ => return None,
    };
    if let Some(curve) = curve
        && key.text()? != curve
    {
        return None;
    }
    let point = key.string()?;
    if is_device {
        key.string()?;
    }
    let is_uncompressed = curve.is_none() || point.first() == Some(&4);
    (key.is_empty() && point.len() == width && is_uncompressed).then_some(point)
}

/// A signature with all that belongs to it.
pub(super) struct SignatureParts<'a> {
    pub(super) key: &'a [u8],
    pub(super) algorithm: &'a str,
    pub(super) signature: &'a [u8],
    pub(super) device: Option<(u8, u32)>,
}

/// Whether `made` is over `signed`.
pub(super) fn verify(made: &SignatureParts<'_>, signed: &[u8]) -> Result<(), BadSignature> {
    let mut key = Reader::new(made.key);
    let kind = key.text().ok_or(BadSignature::Shape)?;
    let is_own = made.algorithm == kind;
    match kind {
        ED25519_KEY if is_own => ed25519(made, whole_key(key, 0)?, signed),
        ED25519_DEVICE if is_own => {
            let (point, application) = device_key(key, 0)?;
            ed25519(made, point, &by_device(made, application, signed)?)
        }
        P256_KEY if is_own => ecdsa(&ECDSA_P256_SHA256_FIXED, made, whole_key(key, 1)?, (32, signed)),
        P384_KEY if is_own => ecdsa(&ECDSA_P384_SHA384_FIXED, made, whole_key(key, 1)?, (48, signed)),
        P256_DEVICE if is_own => {
            let (point, application) = device_key(key, 1)?;
            let signed = by_device(made, application, signed)?;
            ecdsa(&ECDSA_P256_SHA256_FIXED, made, point, (32, &signed))
        }
        RSA_KEY => rsa(made, key, signed),
        _ => Err(BadSignature::Algorithm),
    }
}

/// The last string of a key, behind `skipped` names of curves.
fn whole_key(mut key: Reader<'_>, skipped: usize) -> Result<&[u8], BadSignature> {
    for _ in 0..skipped {
        key.string().ok_or(BadSignature::Shape)?;
    }
    let point = key.string().ok_or(BadSignature::Shape)?;
    if key.is_empty() { Ok(point) } else { Err(BadSignature::Shape) }
}

/// The key, and the application that it was made for.
fn device_key(mut key: Reader<'_>, skipped: usize) -> Result<(&[u8], &[u8]), BadSignature> {
    for _ in 0..skipped {
        key.string().ok_or(BadSignature::Shape)?;
    }
    let (point, application) = (key.string(), key.string());
    match (point, application, key.is_empty()) {
        (Some(point), Some(application), true) => Ok((point, application)),
        (_, _, _) => Err(BadSignature::Shape),
    }
}

/// What a security key signs in place of the message: hashes, and what it says about its holder.
fn by_device(made: &SignatureParts<'_>, application: &[u8], signed: &[u8]) -> Result<Vec<u8>, BadSignature> {
    let (flags, counter) = made.device.ok_or(BadSignature::Shape)?;
    let mut message = sha2::Sha256::digest(application).to_vec();
    message.push(flags);
    message.extend_from_slice(&counter.to_be_bytes());
    message.extend_from_slice(&sha2::Sha256::digest(signed));
    Ok(message)
}

fn ed25519(made: &SignatureParts<'_>, point: &[u8], signed: &[u8]) -> Result<(), BadSignature> {
    UnparsedPublicKey::new(&ED25519, point).verify(signed, made.signature).map_err(|_| BadSignature::Mismatch)
}

/// `(width, signed)`: the bytes of each of the two numbers, and the message.
fn ecdsa(
    algorithm: &'static dyn VerificationAlgorithm,
    made: &SignatureParts<'_>,
    point: &[u8],
    (width, signed): (usize, &[u8]),
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

fn rsa(made: &SignatureParts<'_>, mut key: Reader<'_>, signed: &[u8]) -> Result<(), BadSignature> {
    let parameters = match made.algorithm {
        "rsa-sha2-512" => &RSA_PKCS1_2048_8192_SHA512,
        "rsa-sha2-256" => &RSA_PKCS1_2048_8192_SHA256,
        _ => return Err(BadSignature::Algorithm),
    };
    let (Some(e), Some(n), true) = (key.minimal(), key.minimal(), key.is_empty()) else {
        return Err(BadSignature::Shape);
    };
    RsaPublicKeyComponents { n, e }
        .verify(parameters, signed, made.signature)
        .map_err(|_| BadSignature::Mismatch)
}
