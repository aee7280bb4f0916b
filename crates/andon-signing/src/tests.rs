use std::{path::Path, process::Command};

use super::*;

/// Makes a key of that type with `ssh-keygen`; where it lies.
fn key(dir: &Path, kind: &str, bits: &str) -> std::path::PathBuf {
    let path = dir.join(format!("{kind}{bits}"));
    #[allow(clippy::disallowed_methods, reason = "a test makes keys")]
    let made = Command::new("ssh-keygen")
        .args(["-q", "-N", "", "-C", "somebody", "-t", kind, "-f"])
        .arg(&path)
        .args(if bits.is_empty() { vec![] } else { vec!["-b", bits] })
        .status();
    assert!(made.unwrap().success());
    path
}

fn signer(path: &Path) -> Signer {
    let named = path.to_string_lossy().into_owned();
    let setup = SigningSetup { format: Some("ssh".into()), key: Some(named), home: None, dir: "/".into() };
    Signer::find(&setup).unwrap()
}

#[test]
fn what_ssh_keygen_signs_is_verified_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, bits) in [("ed25519", ""), ("ecdsa", "256"), ("ecdsa", "384"), ("rsa", "2048")] {
        let path = key(dir.path(), kind, bits);
        let signer = signer(&path);
        // ECDSA's numbers are short now and then.
        for round in 0..if kind == "ecdsa" { 24 } else { 1 } {
            let message = format!("what was decided {round}");
            let armour = signer.sign(NAMESPACE, message.as_bytes()).unwrap();
            let read = SshSig::read(armour.as_bytes()).unwrap();
            assert_eq!(read.key(), signer.public(), "{kind}{bits}");
            assert_eq!(read.verify(NAMESPACE, message.as_bytes()), Ok(()), "{kind}{bits}");
            assert_eq!(read.verify(NAMESPACE, b"else"), Err(BadSignature::Mismatch));
            assert_eq!(read.verify("file", message.as_bytes()), Err(BadSignature::Purpose));
            assert_eq!(read.touch(), Touch::Unknown);
        }
        assert_eq!(
            super::tests::signer(&path.with_file_name(format!("{kind}{bits}.pub"))).public(),
            signer.public()
        );
        assert_eq!(PublicKey::parse(&signer.public().to_string()).unwrap(), *signer.public());
    }
    let unsupported = signer(&key(dir.path(), "ecdsa", "521"));
    let armour = unsupported.sign(NAMESPACE, b"x").unwrap();
    let read = SshSig::read(armour.as_bytes()).unwrap();
    assert_eq!(read.verify(NAMESPACE, b"x"), Err(BadSignature::Algorithm));
}

#[test]
fn armour_has_one_form() {
    let dir = tempfile::tempdir().unwrap();
    let armour = signer(&key(dir.path(), "ed25519", "")).sign(NAMESPACE, b"x").unwrap();
    assert!(SshSig::read(armour.as_bytes()).is_ok());
    let one_line = armour.replacen('\n', "\r\n", 1);
    let lines: Vec<&str> = armour.lines().collect();
    let joined =
        format!("{}\n{}\n{}\n", lines[0], lines[1..lines.len() - 1].concat(), lines[lines.len() - 1]);
    for odd in [one_line, joined, armour.trim_end().to_owned(), format!("{armour}\n"), armour.to_lowercase()]
    {
        assert_eq!(SshSig::read(odd.as_bytes()), Err(BadSignature::Armour), "{odd}");
    }
}

#[test]
fn set_ups_that_cannot_sign_say_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let path = key(dir.path(), "ed25519", "");
    let find = |format: Option<&str>, key: Option<&str>| {
        let setup = SigningSetup {
            format: format.map(str::to_owned),
            key: key.map(str::to_owned),
            home: Some(dir.path().into()),
            dir: dir.path().into(),
        };
        Signer::find(&setup).map_err(|err| err.to_string())
    };
    assert!(find(Some("ssh"), Some("~/ed25519.pub")).is_ok());
    assert!(find(Some("ssh"), Some("ed25519")).is_ok());
    let literal = std::fs::read_to_string(path.with_extension("pub")).unwrap();
    assert!(find(Some("ssh"), Some(&format!("key::{literal}"))).is_ok());
    assert!(find(Some("ssh"), Some(&literal)).is_ok());
    let wrong = [
        (None, Some("ed25519"), "gpg.format is not ssh"),
        (Some("openpgp"), Some("ed25519"), "gpg.format is not ssh"),
        (Some("ssh"), None, "user.signingKey is not set"),
        (Some("ssh"), Some("nowhere"), "cannot be read"),
        (Some("ssh"), Some("key::ssh-ed25519 AAAA"), "not a public key"),
    ];
    for (format, key, words) in wrong {
        let said = find(format, key).unwrap_err();
        assert!(said.contains(words), "{said}");
    }
    // The agent's key is not there: an error, and nothing half-done.
    let agents = find(Some("ssh"), Some(&format!("key::{literal}"))).unwrap();
    assert!(matches!(agents.sign(NAMESPACE, b"x"), Err(SigningError::Refused(_))));
}

/// A key of these parts.
fn made_of(parts: &[&[u8]]) -> PublicKey {
    let mut blob = Vec::new();
    for part in parts {
        wire::put(&mut blob, part);
    }
    PublicKey::from_blob(&blob).unwrap()
}

#[test]
fn a_key_is_whole_and_written_in_one_way() {
    let (point, modulus) = ([7; 32], [[0].as_slice(), &[0xc1; 256]].concat());
    let uncompressed = |width: usize| [[4].as_slice(), &vec![9; 2 * width]].concat();
    let (p256, p384) = (uncompressed(32), uncompressed(48));
    let fit: [&[&[u8]]; 6] = [
        &[b"ssh-ed25519", &point],
        &[b"sk-ssh-ed25519@openssh.com", &point, b"ssh:"],
        &[b"ecdsa-sha2-nistp256", b"nistp256", &p256],
        &[b"sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", &p256, b"ssh:"],
        &[b"ecdsa-sha2-nistp384", b"nistp384", &p384],
        &[b"ssh-rsa", &[1, 0, 1], &modulus],
    ];
    for parts in fit {
        assert_eq!(made_of(parts).check_fitness(), Ok(()), "{}", made_of(parts));
        let more = [parts, &[b"x"]].concat();
        assert_eq!(made_of(&more).check_fitness(), Err(UnfitKey::Shape), "{}", made_of(&more));
    }
    let wide = [[0, 0].as_slice(), &[0xc1; 256]].concat();
    let unfit: [&[&[u8]]; 8] = [
        &[b"ssh-ed25519"],
        &[b"ssh-ed25519", &point[1..]],
        &[b"sk-ssh-ed25519@openssh.com", &point],
        &[b"ecdsa-sha2-nistp256", b"nistp384", &p256],
        &[b"ecdsa-sha2-nistp256", b"nistp256", &p384],
        &[b"ecdsa-sha2-nistp256", b"nistp256", &p256[..33]],
        // The same number under another name would be another key.
        &[b"ssh-rsa", &[1, 0, 1], &wide],
        &[b"ssh-rsa", &[0, 1, 0, 1], &modulus],
    ];
    for parts in unfit {
        assert_eq!(made_of(parts).check_fitness(), Err(UnfitKey::Shape), "{}", made_of(parts));
    }
    // The owner of the one can sign as the other.
    let (plain, device) = (made_of(fit[0]), made_of(fit[1]));
    assert!(plain.is_same(&device) && plain.is_same(&plain) && plain != device);
    assert!(!plain.is_same(&made_of(&[b"ssh-ed25519", &[8; 32]])));
    assert!(made_of(fit[2]).is_same(&made_of(fit[3])) && !made_of(fit[5]).is_same(&plain));
}

#[test]
fn a_public_key_is_one_line_and_nothing_before_it() {
    let line = made_of(&[b"ssh-ed25519", &[7; 32]]).to_string();
    let other = made_of(&[b"ssh-ed25519", &[8; 32]]).to_string();
    for text in [
        line.clone(),
        format!("{line}\r\n"),
        format!("  {line}\n\n"),
        format!("{line} ann@desk, her second key\n"),
        format!("{line}\n# of the desk\n"),
    ] {
        assert_eq!(PublicKey::parse(&text).unwrap().to_string(), line, "{text}");
    }
    for text in [
        format!("{line}\n{other}\n"),
        format!("{line}\r{other}"),
        format!("{line} {other}"),
        format!("{line}\n\n  from=\"10.0.0.1\" {other}\n"),
    ] {
        assert_eq!(PublicKey::parse(&text), Err(BadKey::Several), "{text}");
    }
    for text in [
        format!("from=\"10.0.0.1\" {line}"),
        format!("cert-authority {line}"),
        format!("ann@example.org {line}"),
        format!("\u{feff}{line}"),
        line.replace("ssh-ed25519 ", "ssh-rsa "),
        line.replace(' ', ""),
        "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n".to_owned(),
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ\n-----END PGP PUBLIC KEY BLOCK-----\n".to_owned(),
    ] {
        assert_eq!(PublicKey::parse(&text), Err(BadKey::NotAKey), "{text}");
    }
    let certificate = made_of(&[b"ssh-ed25519-cert-v01@openssh.com", &[1; 32], &[7; 32]]);
    assert!(matches!(certificate.check_fitness(), Err(UnfitKey::Kind(_))));
}

proptest::proptest! {
    #[test]
    fn no_signature_and_no_key_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let armour = format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", base64(&bytes));
        if let Ok(read) = SshSig::read(armour.as_bytes()) {
            let _ = read.verify(NAMESPACE, b"x");
        }
        let _ = PublicKey::parse(&format!("ssh-ed25519 {}", base64(&bytes)));
        let _ = PublicKey::parse(&String::from_utf8_lossy(&bytes));
    }
}
