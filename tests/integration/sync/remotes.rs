//! Remotes that misbehave, and the refspecs of a clone.

use insta::assert_snapshot;

use super::{
    GREEN, RED, clone, hub, iterate, make_executable, notes, refs, root, status_says, sync, writers,
};

#[test]
fn a_rewound_or_emptied_remote_is_named_and_repaired() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    let own = writers(&stage, &hub).remove(0);
    let first = stage.git_in(&hub, &["rev-parse", &own]).ok().stdout;
    for number in 1..4 {
        iterate(&stage, &one, &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    sync(&stage, &one).ok().lacks("rewound");
    let whole = refs(&stage, &one);
    // Back to an earlier state, the ledger gone.
    stage.git_in(&hub, &["update-ref", &own, first.trim()]).ok();
    let ledger = own.replace("/records/", "/ledger/");
    stage.git_in(&hub, &["update-ref", "-d", &ledger]).ok();
    assert_snapshot!(sync(&stage, &one).shown());
    assert_eq!((refs(&stage, &one), refs(&stage, &hub)), (whole.clone(), whole.clone()));
    sync(&stage, &one).ok().lacks("rewound");
    // Replaced by another history that lacks records.
    let tree = stage.git_in(&hub, &["mktree"]).ok().stdout;
    let other = stage.git_in(&hub, &["commit-tree", tree.trim(), "-m", "forced"]).ok().stdout;
    stage.git_in(&hub, &["update-ref", &own, other.trim()]).ok();
    assert_snapshot!(sync(&stage, &one).shown());
    assert_eq!(notes(&stage, &one).lines().count(), 4);
    assert_eq!(notes(&stage, &hub), notes(&stage, &one));
    // A record that another took away stays, by whichever ref.
    let two = clone(&stage, "two");
    sync(&stage, &two).ok();
    stage.git_in(&two, &["push", "-q", "origin", "refs/notes/andon"]).ok();
    sync(&stage, &one).ok();
    stage.steps_in(&two, "git notes --ref=andon remove origin/main; git push -q origin refs/notes/andon");
    assert_snapshot!(sync(&stage, &one).shown());
    assert_eq!(notes(&stage, &one).lines().count(), 4);
    assert_eq!(notes(&stage, &hub), notes(&stage, &one));
}

#[test]
fn a_forked_ledger_is_an_error_and_both_sides_stay() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    for number in 1..4 {
        iterate(&stage, &one, &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    sync(&stage, &one).ok();
    let name = stage.git_in(&hub, &["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    let name = name.trim();
    // The ledger is rewritten without the halt.
    let tree = stage.git_in(&hub, &["mktree"]).ok().stdout;
    let other = stage.git_in(&hub, &["commit-tree", tree.trim(), "-m", "forced"]).ok().stdout;
    stage.git_in(&hub, &["update-ref", name, other.trim()]).ok();
    let before = refs(&stage, &one);
    assert_snapshot!(sync(&stage, &one).shown(), @"
    exit 1
    --- stdout
    warning[rewound-remote]: the ledger of HASH at origin were replaced: HASH is not in HASH; nothing is lost here
      help: find out who forced refs/andon/ledger/HASH there, and forbid it (receive.denyNonFastForwards)
    error[forked-ledger]: the ledger of HASH at origin is not the one that is here: it was rewritten, or two clones were copied from one and share an id; both are kept, ours is not pushed
      help: look at both: git log --oneline --graph refs/andon/ledger/HASH refs/andon/remote/origin/ledger/HASH
    synced with origin: nothing new
    ");
    assert_eq!(refs(&stage, &one), before);
    status_says(&stage, &one, "HALTED");
}

#[test]
fn refusals_and_unreachable_remotes_have_names_and_hints() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    stage.git_in(&hub, &["config", "receive.hideRefs", "refs/andon"]).ok();
    assert_snapshot!(sync(&stage, &one).shown(), @"
    exit 1
    --- stdout
    error[refused-ref]: origin does not take refs/andon/records/HASH: [remote rejected] (deny updating a hidden ref)
      help: let the server take refs/andon/records/* and refs/andon/ledger/* (hooks, receive.hideRefs, rights of the account)
      help: or sync with a remote that does: git remote add records URL && andon sync records # instead of origin
    synced with origin: nothing new
    ");
    stage.git_in(&hub, &["config", "--unset", "receive.hideRefs"]).ok();
    let hook = hub.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho no notes here >&2\nexit 1\n").unwrap();
    make_executable(&hook);
    assert_snapshot!(sync(&stage, &one).shown(), @"
    exit 1
    --- stdout
    error[refused-ref]: origin does not take refs/andon/records/HASH: [remote rejected] (pre-receive hook declined)
      help: let the server take refs/andon/records/* and refs/andon/ledger/* (hooks, receive.hideRefs, rights of the account)
      help: or sync with a remote that does: git remote add records URL && andon sync records # instead of origin
    synced with origin: nothing new
    ");
    std::fs::remove_file(&hook).unwrap();
    std::fs::rename(&hub, hub.with_extension("away")).unwrap();
    assert_snapshot!(sync(&stage, &one).shown(), @r"
    exit 3
    --- stderr
    error: cannot fetch from origin: fatal: 'ROOT/hub.git' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.
      help: git ls-remote origin
    ");
    std::fs::rename(hub.with_extension("away"), &hub).unwrap();
    assert_snapshot!(stage.andon(&["sync", "nowhere"]).shown(), @r#"
    exit 2
    --- stderr
    error: there is no remote called "nowhere" here
      help: name one of: origin
    "#);
    stage.andon(&["sync", "--upload-pack=touch x"]).exits(2);
    assert_snapshot!(sync(&stage, &one).brief(), @"exit 0, stdout: synced with origin: 1 record sent");
    stage.git(&["remote", "remove", "origin"]).ok();
    assert_snapshot!(sync(&stage, &one).shown(), @r#"
    exit 2
    --- stderr
    error: there is no remote called "origin" here
      help: git remote add origin URL
    "#);
}

#[test]
fn a_dropped_connection_is_tried_again_and_loses_nothing() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    // A server whose packs break off in the middle the first two times.
    let (server, pack) = (root(&stage).join("upload-pack"), root(&stage).join("pack-objects"));
    let count = root(&stage).join("count");
    std::fs::write(
        &server,
        format!("#!/bin/sh\nexec git -c uploadpack.packObjectsHook={} upload-pack \"$@\"\n", pack.display()),
    )
    .unwrap();
    std::fs::write(
        &pack,
        format!(
            "#!/bin/sh\necho x >> {0}\n[ $(wc -l < {0}) -gt ${{DROPS:-2}} ] && exec \"$@\"\n\
             \"$@\" | head -c 100\nexit 1\n",
            count.display()
        ),
    )
    .unwrap();
    make_executable(&server);
    make_executable(&pack);
    let two = clone(&stage, "two");
    sync(&stage, &one).ok();
    stage.git_in(&two, &["config", "remote.origin.uploadpack", server.to_str().unwrap()]).ok();
    let out = sync(&stage, &two).ok();
    assert_eq!(out.stdout, "synced with origin: 1 record received\n");
    std::fs::remove_file(&count).unwrap();
    iterate(&stage, &one, "on\n", GREEN, "On").ok();
    sync(&stage, &one).ok();
    stage.set("DROPS", "100");
    sync(&stage, &two).exits(3).says("the connection to origin broke").says("again: andon sync");
    stage.git_in(&two, &["fsck", "--strict"]).ok();
    assert_eq!(notes(&stage, &two).lines().count(), 1);
    assert_eq!(notes(&stage, &hub).lines().count(), 2);
}

#[test]
fn a_configured_refspec_that_would_overwrite_is_not_used() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    stage.git(&["config", "--add", "remote.origin.fetch", "+refs/notes/*:refs/notes/*"]).ok();
    stage.git(&["config", "fetch.prune", "true"]).ok();
    iterate(&stage, &one, "on\n", GREEN, "On").ok();
    assert_snapshot!(sync(&stage, &one).brief(), @"exit 0, stdout: synced with origin: 1 record sent");
    assert_eq!(notes(&stage, &one).lines().count(), 2);
}

#[test]
fn install_sets_the_fetch_refspecs_and_uninstall_takes_them_out() {
    let (stage, _) = hub();
    let before = stage.read(".git/config");
    assert_snapshot!(stage.andon(&["install", "--fetch"]).brief(), @"
    exit 0, stdout: remote.origin.fetch = +refs/notes/andon*:refs/notes/remotes/origin/andon*
    remote.origin.fetch = +refs/andon/ledger/*:refs/andon/remote/origin/ledger/*
    remote.origin.fetch = +refs/andon/records/*:refs/andon/remote-records/origin/*
    ");
    assert_snapshot!(stage.andon(&["install", "--fetch"]).brief(),
        @"exit 0, stdout: Andon is installed in ROOT/repo/.git/hooks already; nothing changed");
    sync(&stage, stage.dir()).ok();
    stage.git(&["fetch", "-q"]).ok();
    assert_eq!(
        stage.git(&["for-each-ref", "refs/andon/remote-records/origin"]).ok().stdout.lines().count(),
        1
    );
    stage.andon(&["doctor"]).lacks("git config --add remote");
    let said = stage.andon(&["uninstall"]).ok().says("andon.push: taken out again");
    assert_eq!(said.stdout.matches("remote.origin.fetch: taken out again\n").count(), 3, "{said}");
    assert!(!stage.read(".git/config").contains("refs/notes/remotes"), "{before}");
}
