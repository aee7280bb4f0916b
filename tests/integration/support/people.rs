//! People with real signing keys.

use std::path::PathBuf;

use super::{Out, Stage, image::built};

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

/// The words by which a witness answers the halt that waits.
pub(crate) fn resolving(why: &str) -> [&str; 7] {
    ["review", "resolve", "halt", "--decision", "accept_proposer", "--rationale", why]
}

/// A loop that was halted (`repeated-failures`) in a repository where only ann's signature ends a halt.
pub(crate) fn halted_and_signed() -> Stage {
    built!({
        let stage = Stage::installed();
        signed(&stage);
        fail(&stage);
        stage
    })
}

/// From now on only ann's signature ends a halt; the ledger's id.
pub(crate) fn signed(stage: &Stage) -> String {
    let ledger = with_ann(stage);
    let toml = stage.read("andon.toml");
    stage.write("andon.toml", format!("{toml}[guard]\nack = \"signed\"\nledger = \"{ledger}\"\n"));
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Ask for signatures"]).ok();
    ledger
}

/// Three iterations with one failing test.
pub(crate) fn fail(stage: &Stage) {
    for number in ["1", "2", "3"] {
        stage.iterate(&format!("try {number}\n"), &["ok a", "not ok b"], &format!("Try {number}")).ok();
    }
}

/// Keys and ids, which differ from run to run, by names of their own.
pub(crate) fn steady(stage: &Stage, out: &Out) -> String {
    steady_text(stage, &out.to_string())
}

/// The same for a text.
pub(crate) fn steady_text(stage: &Stage, text: &str) -> String {
    let mut text = text.to_owned();
    for who in ["ann", "bo", "cy", "di", "ed"] {
        let print = stage.run_in(stage.root(), "ssh-keygen", &["-l", "-f", &public(stage, who)], None).ok();
        let print = print.stdout.split(' ').nth(1).unwrap().to_owned();
        text = text.replace(&print, &format!("SHA256:{who}"));
    }
    for (digits, name) in [(64, "<id>"), (40, "<oid>"), (12, "<id12>"), (8, "<id8>")] {
        let is_id = |word: &str| word.len() == digits && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let words: Vec<String> = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| is_id(word))
            .map(str::to_owned)
            .collect();
        for word in words {
            text = text.replace(&word, name);
        }
    }
    text.replace(stage.root().canonicalize().unwrap().to_str().unwrap(), "<root>")
}

/// A repository whose only admin and witness is ann; the id of its ledger.
pub(crate) fn with_ann(stage: &Stage) -> String {
    let made = by(stage, "ann", &["witness", "init", "--name", "human:ann"]).ok();
    made.stdout.lines().next().unwrap().trim_start_matches("ledger ").to_owned()
}
