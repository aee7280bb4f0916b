//! People with real signing keys.

use std::path::PathBuf;

use super::{Out, Stage};

/// A signing key of `who`, made where there is none; where its private half lies.
pub(crate) fn key(stage: &Stage, who: &str) -> PathBuf {
    let path = stage.root().canonicalize().unwrap().join(format!("{who}.key"));
    if !path.exists() {
        let name = path.to_str().unwrap();
        let args = ["-q", "-N", "", "-C", who, "-t", "ed25519", "-f", name];
        stage.run_in(&stage.root().canonicalize().unwrap(), "ssh-keygen", &args, None).ok();
    }
    path
}

/// The `.pub` file of the key of `who`.
pub(crate) fn public(stage: &Stage, who: &str) -> String {
    format!("{}.pub", key(stage, who).to_str().unwrap())
}

/// From now on `who` sits at the keyboard: git signs with their key.
pub(crate) fn sit_down(stage: &Stage, who: &str) {
    let key = key(stage, who);
    stage.set("GIT_CONFIG_COUNT", "2");
    stage.set("GIT_CONFIG_KEY_0", "gpg.format");
    stage.set("GIT_CONFIG_VALUE_0", "ssh");
    stage.set("GIT_CONFIG_KEY_1", "user.signingKey");
    stage.set("GIT_CONFIG_VALUE_1", key.to_str().unwrap());
}

/// Runs andon with `who` at the keyboard.
pub(crate) fn by(stage: &Stage, who: &str, args: &[&str]) -> Out {
    sit_down(stage, who);
    stage.andon(args)
}

/// A repository whose only admin and witness is ann; the id of its ledger.
pub(crate) fn with_ann(stage: &Stage) -> String {
    let made = by(stage, "ann", &["witness", "init", "--name", "human:ann"]).ok();
    made.stdout.lines().next().unwrap().trim_start_matches("ledger ").to_owned()
}
