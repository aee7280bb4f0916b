//! Formats that libgit2 does not open, and repositories of other users.

use insta::assert_snapshot;

use super::{Kind, git_knows, refused_everywhere};

#[test]
fn sha_256_is_refused_with_a_way_out() {
    let kind = Kind::init(&["--object-format=sha256"]);
    refused_everywhere(
        &kind,
        "SHA-256 object ids",
        "git fast-export --all | git -C ../with-sha1 fast-import --quiet",
    );
    let script = "git init -q --object-format=sha1 ../with-sha1 && git fast-export --all | git -C ../with-sha1 fast-import --quiet";
    kind.sh(script).ok();
    let kind = Kind { dir: kind.beside("with-sha1"), ..kind };
    kind.git(&["checkout", "-q", "-f", "main"]).ok();
    kind.job();
}

#[test]
fn ids_of_two_kinds_are_refused() {
    let kind = Kind::init(&["--object-format=sha256"]);
    kind.git(&["config", "extensions.compatObjectFormat", "sha1"]).ok();
    refused_everywhere(&kind, "SHA-256 object ids", "git init -q --object-format=sha1 ../with-sha1");
}

#[test]
fn reftable_is_refused_with_a_way_out() {
    let probe = Kind::empty(&[]);
    if !git_knows(&probe, &["init", "-q", "--ref-format=reftable", "probe"]) {
        return;
    }
    let kind = Kind::init(&["--ref-format=reftable"]);
    refused_everywhere(&kind, "uses reftable", "git clone --ref-format=files . ../with-files");
    kind.git(&["clone", "-q", "--ref-format=files", ".", "../with-files"]).ok();
    let other = Kind { dir: kind.beside("with-files"), ..kind };
    other.job();
    // So is a linked worktree of such a store, whose hooks come from elsewhere.
    let kind = Kind::init(&["--ref-format=reftable"]);
    kind.git(&["worktree", "add", "-q", "../tree"]).ok();
    let kind = Kind { dir: kind.beside("tree"), ..kind };
    refused_everywhere(&kind, "uses reftable", "git refs migrate --ref-format=files");
}

/// The store changes under hooks that are installed: they say so at every commit, and nothing else changes.
#[test]
fn a_store_that_becomes_unreadable_under_installed_hooks() {
    let kind = Kind::init(&[]);
    kind.job();
    kind.git(&["config", "core.repositoryFormatVersion", "1"]).ok();
    // git knows it, libgit2 does not.
    kind.git(&["config", "extensions.refStorage", "files"]).ok();
    kind.write("code.txt", "2\n");
    let out = kind.git(&["commit", "-qam", "Unguarded"]);
    if out.clone().all().contains("could not judge") {
        out.ok().says("help: ");
        kind.git(&["config", "--unset", "extensions.refStorage"]).ok();
        kind.write("code.txt", "3\n");
        kind.andon(&["test"]).ok();
        kind.git(&["commit", "-qam", "Guarded again"]).ok().says("made while the hooks were off");
    } else {
        out.refused().says("untested-edit");
    }
}

#[test]
fn an_extension_that_nobody_knows_is_named() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.repositoryFormatVersion", "1"]).ok();
    kind.git(&["config", "extensions.somethingNew", "true"]).ok();
    refused_everywhere(&kind, "extension", "help: ");
}

#[test]
fn harmless_extensions() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.repositoryFormatVersion", "1"]).ok();
    kind.git(&["config", "extensions.preciousObjects", "true"]).ok();
    kind.git(&["config", "extensions.objectFormat", "sha1"]).ok();
    kind.job();
}

/// Gives the repository to another user; false where that is not allowed here.
fn given_away(kind: &Kind) -> bool {
    let done = kind.sh("chown -R 1234:1234 .").code == 0;
    if !done {
        println!("left out: only root can give a repository to another user");
    }
    done
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_command_that_allows_it() {
    let kind = Kind::init(&[]);
    if !given_away(&kind) {
        return;
    }
    refused_everywhere(&kind, "belongs to another user", "git config --global --add safe.directory ");
    let global = kind.beside("global");
    std::fs::write(&global, "").unwrap();
    kind.stage.set("GIT_CONFIG_GLOBAL", global.to_str().unwrap());
    let out = kind.andon(&["status"]).refused();
    let hint = out.stderr.split("help: ").nth(1).unwrap().trim().to_owned();
    kind.sh(&hint).ok();
    kind.job();
}

#[test]
fn safe_directories_by_glob_star_and_for_one_command() {
    for (number, how) in ["*", "ROOT/*", "count", "parameters"].into_iter().enumerate() {
        let mut kind = Kind::init(&[]);
        if !given_away(&kind) {
            return;
        }
        let global = kind.beside("global");
        let root = kind.beside("").to_str().unwrap().trim_end_matches('/').to_owned();
        match how {
            "count" => {
                kind.stage.set("GIT_CONFIG_COUNT", "1");
                kind.stage.set("GIT_CONFIG_KEY_0", "safe.directory");
                kind.stage.set("GIT_CONFIG_VALUE_0", "*");
            }
            "parameters" => kind.stage.set("GIT_CONFIG_PARAMETERS", "'safe.directory'='*'"),
            glob => {
                let glob = glob.replace("ROOT", &root);
                std::fs::write(&global, format!("[safe]\n\tdirectory = {glob}\n")).unwrap();
                kind.stage.set("GIT_CONFIG_GLOBAL", global.to_str().unwrap());
            }
        }
        kind.job();
        // In a linked worktree, too, and in a directory below.
        if number == 1 {
            let tree = kind.beside("tree");
            kind.git(&["worktree", "add", "-q", tree.to_str().unwrap()]).ok();
            kind.sh(&format!("chown -R 1234:1234 '{}'", tree.display())).ok();
            kind.dir = tree;
            kind.work(|| kind.write("code.txt", "in the linked worktree\n"));
            kind.stage.andon_in(&kind.dir.join("d1"), &["status"]).ok().says("HEAD: 2 passed");
        }
    }
}

#[test]
fn configuration_for_one_command() {
    let kind = Kind::init(&[]);
    kind.stage.set("GIT_CONFIG_COUNT", "2");
    for (number, (key, value)) in [("user.name", "Counted"), ("core.quotePath", "false")].iter().enumerate() {
        kind.stage.set(&format!("GIT_CONFIG_KEY_{number}"), key);
        kind.stage.set(&format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    kind.job();
    // Hooks that would be put where only this command looks are refused.
    kind.stage.set("GIT_CONFIG_KEY_1", "core.hooksPath");
    kind.stage.set("GIT_CONFIG_VALUE_1", kind.beside("hooks").to_str().unwrap());
    assert_snapshot!(kind.andon(&["install"]).shown(), @r#"
    exit 2
    --- stderr
    error: core.hooksPath is set to "ROOT/hooks" for this command only (git -c, GIT_CONFIG_COUNT or GIT_CONFIG_PARAMETERS): installing there would reach beyond this repository
      help: run it without `git -c core.hooksPath=...` and without GIT_CONFIG_* variables
    "#);
    kind.andon(&["doctor"]).refused().says("hooks");
}
