//! `andon witness` and `andon ledger verify`, with real keys.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;

use crate::support::Stage;
use crate::support::people::{by, key, public, sit_down, steady, with_ann};

#[test]
fn the_first_policy_is_signed_and_plain_git_verifies_it() {
    let stage = Stage::installed();
    for who in ["ann", "bo", "cy"] {
        key(&stage, who);
    }
    let begun = by(&stage, "ann", &["witness", "init", "--name", "human:ann"]).ok();
    insta::assert_snapshot!(steady(&stage, &begun), @r#"
    exit 0
    --- stdout
    ledger <id>
    human:ann is its admin and witness, with key SHA256:ann
      help: send it to the others: andon sync
      help: so that only a signature ends a halt, in andon.toml:
            [guard]
            ack = "signed"
            ledger = "<id>"
    --- stderr
    "#);
    insta::assert_snapshot!(steady(&stage, &by(&stage, "ann", &["witness", "list"])), @r"
    exit 0
    --- stdout
    policy 1 of ledger <id8>, threshold 1
      human:ann  admin, witness  SHA256:ann
    --- stderr
    ");
    let again = by(&stage, "ann", &["witness", "init", "--name", "human:ann"]).exits(1);
    insta::assert_snapshot!(steady(&stage, &again), @r"
    exit 1
    --- stdout
    --- stderr
    error[witness]: a policy is in force already: version 1, entry <id8>
      help: andon witness list
    ");
    let allowed = stage.andon(&["witness", "list", "--allowed-signers"]).ok().stdout;
    stage.write("../allowed", allowed);
    let ledger = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger/"]).ok().stdout;
    let file =
        format!("gpg.ssh.allowedSignersFile={}/allowed", stage.root().canonicalize().unwrap().display());
    let said = stage.git(&["-c", &file, "verify-commit", ledger.trim()]).ok();
    assert!(said.stderr.contains("Good \"git\" signature for human:ann"), "{said}");
    insta::assert_snapshot!(steady(&stage, &stage.andon(&["ledger", "verify"])), @r"
    exit 0
    --- stdout
    1 entry, 1 signed, 0 wrong
    --- stderr
    ");
}

#[test]
fn set_ups_that_cannot_sign_change_nothing_and_say_what_is_missing() {
    let stage = Stage::installed();
    let init = ["witness", "init", "--name", "human:ann"];
    insta::assert_snapshot!(stage.andon(&init), @r"
    exit 2
    --- stdout
    --- stderr
    error: git is not set up to sign with an SSH key: gpg.format is not ssh
      help: git config --global gpg.format ssh && git config --global user.signingKey ~/.ssh/id_ed25519.pub
    ");
    sit_down(&stage, "ann");
    insta::assert_snapshot!(stage.andon(&["witness", "init", "--name", "ann"]), @r#"
    exit 2
    --- stdout
    --- stderr
    error: "ann" is no name of a witness
      help: write human: and letters, digits or . _ @ + -, such as human:ann
    "#);
    stage.set("CLAUDECODE", "1");
    insta::assert_snapshot!(stage.andon(&init), @r"
    exit 1
    --- stdout
    --- stderr
    error[agent-shell]: `andon witness init` was called in the shell of an agent (CLAUDECODE is set): only a person does that
      help: a person runs in a shell of their own: andon witness init
    ");
    stage.unset("CLAUDECODE");
    // A program that the repository names is never asked.
    stage.steps("git config gpg.ssh.program /bin/false; git config gpg.program /bin/false");
    std::fs::remove_file(key(&stage, "ann")).unwrap();
    stage.write("../ann.key.gone", "");
    stage.set(
        "GIT_CONFIG_VALUE_1",
        &format!("{}.pub", stage.root().canonicalize().unwrap().join("ann.key").display()),
    );
    let gone = stage.andon(&init).exits(2);
    assert!(gone.stderr.contains("nothing was signed: ssh-keygen says:"), "{gone}");
    assert_eq!(stage.git(&["for-each-ref", "refs/andon/"]).ok().stdout, "");
}

#[test]
fn keys_are_granted_and_revoked_and_a_threshold_asks_for_others() {
    let stage = Stage::installed();
    let ledger = with_ann(&stage);
    let bo = public(&stage, "bo");
    let added = by(&stage, "ann", &["witness", "add", "human:bo", "--key", &bo, "--role", "admin,witness"]);
    added.ok();
    // A person without a grant grants nothing.
    let cy = public(&stage, "cy");
    let forged = by(&stage, "cy", &["witness", "add", "human:cy", "--key", &cy]).exits(1);
    insta::assert_snapshot!(steady(&stage, &forged), @r"
    exit 1
    --- stdout
    --- stderr
    error[witness]: this key-add: key SHA256:cy is granted by the change it signs
      help: an admin whose key is in force signs it
    ");
    let policy = by(&stage, "ann", &["witness", "policy"]).ok().stdout;
    let mut policy: Value = serde_json::from_str(&policy).unwrap();
    assert_eq!((&policy["version"], policy["keys"].as_array().unwrap().len()), (&Value::from(2), 2));
    policy["threshold"] = Value::from(2);
    stage.write("../policy.json", policy.to_string());
    let file = format!("{}/policy.json", stage.root().canonicalize().unwrap().display());
    by(&stage, "ann", &["witness", "policy", "--from", &file]).ok();
    // From now on two admins must sign.
    let added = by(&stage, "ann", &["witness", "add", "human:cy", "--key", &cy]).ok();
    insta::assert_snapshot!(steady(&stage, &added), @r"
    exit 0
    --- stdout
    granted: entry <id8> has 1 of 2 signatures
      help: another admin: andon sync && andon witness sign <id8>
    --- stderr
    ");
    let entry = added.stdout.split(' ').nth(2).unwrap().to_owned();
    insta::assert_snapshot!(steady(&stage, &by(&stage, "bo", &["witness", "sign", &entry])), @r"
    exit 0
    --- stdout
    signed: entry <id8> is in force
      help: send it to the others: andon sync
    --- stderr
    ");
    by(&stage, "bo", &["witness", "revoke", "human:bo"]).ok();
    insta::assert_snapshot!(steady(&stage, &stage.andon(&["witness", "list"])), @r"
    exit 0
    --- stdout
    policy 2 of ledger <id8>, threshold 2
      human:ann  admin, witness  SHA256:ann
      human:bo  admin, witness  SHA256:bo  revoked
      human:cy  witness  SHA256:cy
    --- stderr
    ");
    let late = by(&stage, "bo", &["witness", "add", "human:di", "--key", &public(&stage, "di")]).exits(1);
    insta::assert_snapshot!("revoked_key_signs_no_more", steady(&stage, &late));
    stage.andon(&["ledger", "verify"]).ok();
    assert_eq!(ledger.len(), 64);
}

#[test]
fn a_policy_that_is_rolled_back_or_no_policy_is_refused() {
    let stage = Stage::installed();
    with_ann(&stage);
    let file = |text: &str| {
        stage.write("../policy.json", text);
        format!("{}/policy.json", stage.root().canonicalize().unwrap().display())
    };
    let now = by(&stage, "ann", &["witness", "policy"]).ok().stdout;
    by(&stage, "ann", &["witness", "policy", "--from", &file(&now)]).ok();
    let back = by(&stage, "ann", &["witness", "policy", "--from", &file(&now)]).exits(1);
    insta::assert_snapshot!("policy_rolled_back", steady(&stage, &back));
    for (odd, near) in
        [(r#"{"treshold": 1}"#, "threshold"), (r#"{"rules": {"referee_gat": true}}"#, "referee_gate")]
    {
        let said = by(&stage, "ann", &["witness", "policy", "--from", &file(odd)]).exits(2);
        said.says("is no member of a policy").says(&format!("did you mean `{near}`?"));
    }
    let broken = by(&stage, "ann", &["witness", "policy", "--from", &file("{\n\"version\": 3,\n}")]).exits(2);
    insta::assert_snapshot!("policy_no_json", steady(&stage, &broken));
    let empty = by(&stage, "ann", &["witness", "policy", "--from", &file("{\"version\": 3}")]).exits(1);
    insta::assert_snapshot!("policy_without_threshold", steady(&stage, &empty));
}

#[test]
fn forged_entries_are_named() {
    let stage = Stage::installed();
    with_ann(&stage);
    by(&stage, "ann", &["witness", "add", "human:bo", "--key", &public(&stage, "bo")]).ok();
    let own = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger/"]).ok().stdout;
    let own = own.trim();
    // The grant says something else under the same signature.
    let tree = stage.git(&["ls-tree", own]).ok().stdout;
    let said = stage.git(&["show", &format!("{own}:entry.json")]).ok().stdout;
    stage.write("../entry", said.replace("human:bo", "human:xx"));
    let blob = stage.git(&["hash-object", "-w", "../entry"]).ok().stdout;
    let tree = tree.split_whitespace().nth(2).map(|old| tree.replace(old, blob.trim())).unwrap();
    let tree = stage.run_in(stage.dir(), "git", &["mktree"], Some(tree.as_bytes())).ok().stdout;
    let raw = stage.git(&["cat-file", "commit", own]).ok().stdout;
    let was = raw.lines().next().unwrap().trim_start_matches("tree ").to_owned();
    let raw = raw.replace(&was, tree.trim());
    let forged = stage.run_in(
        stage.dir(),
        "git",
        &["hash-object", "-t", "commit", "-w", "--stdin"],
        Some(raw.as_bytes()),
    );
    stage.git(&["update-ref", own, forged.ok().stdout.trim()]).ok();
    insta::assert_snapshot!("forged_grant", steady(&stage, &stage.andon(&["ledger", "verify"])));
    // And it counts for nothing.
    insta::assert_snapshot!(
        "forged_grant_counts_for_nothing",
        steady(&stage, &stage.andon(&["witness", "list"]))
    );
}

const SHORT_RSA: &str = "AAAAB3NzaC1yc2EAAAADAQABAAAAgQDBCzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJktwlbrfBClOc5i94gcsUXabwOUKL1R5nsPoDTJXfKHG6xA1Wn+kye4TOF2Cp8zxFjtgharP9Bk+Y4it0vccAQ==";
const DSA: &str = "AAAAB3NzaC1kc3MAAACBAJEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFQCRAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEFAAAAAQc=";

#[test]
fn a_key_that_could_never_count_is_refused_when_it_is_granted() {
    let stage = Stage::installed();
    with_ann(&stage);
    let root = stage.root().canonicalize().unwrap();
    let file = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let add = |who: &str, file: &str| by(&stage, "ann", &["witness", "add", who, "--key", file]);
    // Somebody else's.
    add("human:bo", &public(&stage, "ann"))
        .exits(2)
        .says("is the key of human:ann: it cannot be that of human:bo");
    // Two in one file, below each other and beside each other.
    let two = [stage.read("../ann.key.pub"), std::fs::read_to_string(public(&stage, "bo")).unwrap()];
    std::fs::write(file("two.pub"), two.concat()).unwrap();
    std::fs::write(file("beside.pub"), two.concat().replace('\n', " ")).unwrap();
    add("human:bo", &file("two.pub")).exits(2).says("several keys");
    add("human:bo", &file("beside.pub")).exits(2).says("several keys");
    // Too short, and of kinds whose signatures are not accepted.
    let short = format!("ssh-rsa {SHORT_RSA}");
    std::fs::write(file("short.pub"), short).unwrap();
    add("human:bo", &file("short.pub")).exits(2).says("an RSA key of 1024 bits: 2048 to 8192");
    std::fs::write(file("dss.pub"), format!("ssh-dss {DSA}")).unwrap();
    add("human:bo", &file("dss.pub")).exits(2).says("a key of type ssh-dss");
    stage.andon(&["ledger", "verify"]).ok().says("1 entry");
    // One of 2048 bits is fit, and a comment is none.
    let args = ["-q", "-N", "", "-C", "bo's second ssh key", "-t", "rsa", "-b", "2048", "-f", &file("rsa")];
    stage.run_in(&root, "ssh-keygen", &args, None).ok();
    add("human:bo", &file("rsa.pub")).ok();
    // A policy is looked at as well.
    let mut policy: Value =
        serde_json::from_str(&by(&stage, "ann", &["witness", "policy"]).ok().stdout).unwrap();
    let keys = policy["keys"].as_array_mut().unwrap();
    let mut other = keys[0].clone();
    other["who"] = "human:cy".into();
    keys.push(other);
    stage.write("../policy.json", policy.to_string());
    let out = by(&stage, "ann", &["witness", "policy", "--from", &file("policy.json")]).exits(2);
    out.says("it cannot be that of human:cy");
}
