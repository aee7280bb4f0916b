//! Each judgement, from a healthy repository with one thing changed.

use std::path::PathBuf;

use super::{checks::checks, gather::gather, *};
use crate::install::{HookFile, HookMode, Owner, Scope, SettingsState};
use crate::setup::{ScopeHooks, Trust, fetch_states};
use crate::verbs::install::tests::Scratch;
use andon_core::domain::{Client, GitHook};
use andon_git::{ConfigScope, Repo, RepoEnv};

fn shim() -> HookFile {
    HookFile::Shim { program: Some("/bin/andon".into()), mode: HookMode::Runs }
}

fn healthy() -> RepositoryFacts {
    let state = |hook| HookState {
        hook,
        standing: shim(),
        chained: HookFile::Nothing,
        legacy: HookFile::Nothing,
        are_twins: false,
    };
    RepositoryFacts {
        outside: CallerFacts {
            program: "/bin/andon".into(),
            config: Check::ok("config", "andon.toml"),
            test_command: Some("cargo test".into()),
            test_program: TestProgram::There,
            last_run: None,
            journal: Check::ok("journal", "12 facts"),
            ledger: Check::ok("ledger", "2 entries"),
            answers: Check::ok("answers", "resume"),
            switch: None,
            rewrite_ref_env: None,
            clients: Vec::new(),
        },
        place: Ok(HooksPlace {
            dir: "/r/.git/hooks".into(),
            decided_by: Override::None,
            managed: None,
            patches: Presence::Present,
            shared: None,
            leads_on: false,
            hooks: Ok(GitHook::ALL.into_iter().map(state).collect()),
        }),
        missing_programs: Vec::new(),
        framework: Presence::Absent,
        manifest: None,
        display_refs: vec![value("refs/notes/andon")],
        rewrite_refs: Vec::new(),
        notes: Presence::Present,
        fetched: Vec::new(),
        commits: Presence::Present,
        remotes: fetch_states(&[
            ("origin".into(), "+refs/notes/andon*:refs/notes/remotes/origin/andon*".into()),
            ("origin".into(), "+refs/andon/ledger/*:refs/andon/remote/origin/ledger/*".into()),
            ("origin".into(), "+refs/andon/records/*:refs/andon/remote-records/origin/*".into()),
        ]),
        locks: Vec::new(),
        unwritable: Vec::new(),
        is_shallow: false,
        is_partial: false,
    }
}

fn value(value: &str) -> SourcedValue {
    SourcedValue { scope: ConfigScope::Local, origin: ".git/config".into(), value: value.into() }
}

/// The checks that are not fine, as `state id`.
fn complaints(facts: &RepositoryFacts) -> Vec<String> {
    let found = checks(facts);
    let bad = found.checks.iter().filter(|check| check.state != State::Ok);
    for check in bad.clone() {
        assert!(check.hint.is_some() || check.id == "partial-clone", "no hint: {check:?}");
    }
    bad.map(|check| format!("{} {}", check.state.as_str(), check.id)).collect()
}

fn with(change: impl FnOnce(&mut RepositoryFacts)) -> Vec<String> {
    let mut facts = healthy();
    change(&mut facts);
    complaints(&facts)
}

fn with_hook(hook: GitHook, change: impl FnOnce(&mut HookState)) -> Vec<String> {
    with(|facts| {
        let states = facts.place.as_mut().unwrap().hooks.as_mut().unwrap();
        change(states.iter_mut().find(|state| state.hook == hook).unwrap());
    })
}

#[test]
fn a_healthy_repository_has_no_complaints() {
    assert_eq!(complaints(&healthy()), Vec::<String>::new());
    assert!(checks(&healthy()).worst() < State::Fail);
}

#[test]
fn what_is_wrong_with_hooks() {
    let foreign = |owner| HookFile::Foreign { owner, mode: HookMode::Runs };
    let none: Vec<String> = Vec::new();
    assert_eq!(
        with_hook(GitHook::PreCommit, |state| state.standing = HookFile::Nothing),
        ["fail hook-pre-commit"]
    );
    assert_eq!(
        with_hook(GitHook::PrePush, |state| state.standing = HookFile::Nothing),
        ["warn hook-pre-push"]
    );
    let ignored = HookFile::Shim { program: None, mode: HookMode::Ignored };
    assert_eq!(with_hook(GitHook::PostCommit, |state| state.standing = ignored), ["fail hook-post-commit"]);
    assert_eq!(
        with_hook(GitHook::PostMerge, |state| state.standing = HookFile::EditedShim),
        ["warn hook-post-merge"]
    );
    assert_eq!(
        with_hook(GitHook::PostMerge, |state| state.standing = HookFile::NoFile),
        ["warn hook-post-merge"]
    );
    assert_eq!(
        with_hook(GitHook::PreCommit, |state| state.standing = foreign(Owner::Prek)),
        ["fail hook-pre-commit"]
    );
    assert_eq!(with_hook(GitHook::PreCommit, |state| state.chained = foreign(Owner::Husky)), none);
    let legacy = with_hook(GitHook::PreCommit, |state| {
        state.standing = foreign(Owner::PreCommit);
        state.legacy = shim();
    });
    assert_eq!(legacy, none);
    let framework = with(|facts| {
        facts.framework = Presence::Present;
        for state in facts.place.as_mut().unwrap().hooks.as_mut().unwrap() {
            state.standing = foreign(Owner::Prek);
        }
    });
    assert_eq!(framework, none);
    let empty = with(|facts| {
        for state in facts.place.as_mut().unwrap().hooks.as_mut().unwrap() {
            state.standing = HookFile::Nothing;
        }
    });
    assert_eq!(empty, ["fail hooks"]);
    assert_eq!(with(|facts| facts.place = Err("no".into())), ["fail hooks-path"]);
    assert_eq!(with(|facts| facts.place.as_mut().unwrap().hooks = Err("no".into())), ["fail hooks"]);
    let overridden = with(|facts| {
        let found = SourcedValue { scope: ConfigScope::Global, ..value("/h") };
        facts.place.as_mut().unwrap().decided_by = Override::Foreign(found);
    });
    assert_eq!(overridden, ["fail hooks-path"]);
    let own = with(|facts| facts.place.as_mut().unwrap().decided_by = Override::Own(value(".husky")));
    assert_eq!(own, none);
}

#[test]
fn hooks_of_patches_that_an_earlier_version_did_not_install_are_named_with_the_command() {
    let hint = |mode, patches, guarded| {
        let mut facts = healthy();
        let place = facts.place.as_mut().unwrap();
        place.managed = Some((mode, guarded));
        place.patches = patches;
        let found = checks(&facts).checks.into_iter().find(|check| check.id == "hook-post-applypatch");
        found.map(|check| (check.state, check.hint.unwrap_or_default()))
    };
    let warned = |hint: &str| Some((State::Warn, hint.to_owned()));
    for (mode, expected) in [
        (Integration::Husky, warned("andon install --mode husky")),
        (Integration::Lefthook, warned("andon install && lefthook install")),
        (Integration::Config, warned("andon install --mode config")),
        (Integration::PreCommit, None),
    ] {
        assert_eq!(hint(mode, Presence::Absent, GuardState::Yes), expected, "{mode:?}");
        assert_eq!(hint(mode, Presence::Present, GuardState::Yes), None, "{mode:?}");
    }
    let gone = GuardState::Gone(andon_engine::view::LostHooks { what: "x".into(), help: "y".into() });
    assert_eq!(hint(Integration::Husky, Presence::Absent, gone), None, "said already");
}

#[test]
fn what_is_wrong_elsewhere() {
    let none: Vec<String> = Vec::new();
    assert_eq!(with(|facts| facts.missing_programs.push("/gone".into())), ["fail program"]);
    assert_eq!(with(|facts| facts.outside.switch = Some("0".into())), ["warn switch"]);
    assert_eq!(with(|facts| facts.outside.switch = Some("1".into())), none);
    assert_eq!(with(|facts| facts.display_refs.clear()), none);
    assert_eq!(with(|facts| facts.rewrite_refs.push(value("refs/notes/*"))), ["warn rewrite-ref"]);
    assert_eq!(with(|facts| facts.rewrite_refs.push(value("refs/notes/commits"))), none);
    let env = |text: &str| Some(OsString::from(text));
    assert_eq!(
        with(|facts| facts.outside.rewrite_ref_env = env("refs/notes/x:refs/notes/*")),
        ["warn rewrite-ref"]
    );
    let masked = with(|facts| {
        facts.rewrite_refs.push(value("refs/notes/*"));
        facts.outside.rewrite_ref_env = env("");
    });
    assert_eq!(masked, none);
    assert_eq!(with(|facts| facts.notes = Presence::Absent), ["warn records"]);
    let unborn = with(|facts| {
        facts.notes = Presence::Absent;
        facts.commits = Presence::Absent;
    });
    assert_eq!(unborn, none);
    let heads: (String, String) = ("up".into(), "+refs/heads/*:refs/remotes/up/*".into());
    assert_eq!(with(|facts| facts.remotes = fetch_states(&[heads])), ["warn fetch-up"]);
    let mirror: (String, String) = ("up".into(), "+refs/*:refs/*".into());
    assert_eq!(with(|facts| facts.remotes = fetch_states(&[mirror])), ["fail fetch-up"]);
    assert_eq!(with(|facts| facts.outside.test_command = None), ["warn test-command"]);
    assert_eq!(with(|facts| facts.outside.config = Check::fail("config", "x", "y")), ["fail config"]);
    assert_eq!(with(|facts| facts.outside.journal = Check::warn("journal", "x", "y")), ["warn journal"]);
    assert_eq!(with(|facts| facts.outside.ledger = Check::fail("ledger", "x", "y")), ["fail ledger"]);
    let denied = ("/r/.git/objects".into(), "Read-only file system".into());
    assert_eq!(with(|facts| facts.unwritable.push(denied)), ["fail writable"]);
    assert_eq!(with(|facts| facts.locks.push("/r/.git/refs/notes/andon.lock".into())), ["warn lock"]);
    assert_eq!(
        with(|facts| (facts.is_shallow, facts.is_partial) = (true, true)),
        ["warn shallow", "warn partial-clone"]
    );
}

#[test]
fn text_and_json_say_the_same_and_obey_nobody() {
    let mut facts = healthy();
    facts.missing_programs.push(PathBuf::from("/\u{1b}[31m/x\ny"));
    let found = checks(&facts);
    let text = found.to_text(Style::Plain);
    assert!(text.starts_with("fail  program: the hooks start /\\u{1b}[31m/x\\ny, which"), "{text}");
    assert!(text.contains("\n      help: andon install\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert_eq!(found.worst(), State::Fail);
    let json = serde_json::to_value(&found.checks).unwrap();
    assert_eq!(json[0]["state"], "fail");
    assert_eq!(json.as_array().unwrap().len(), text.lines().filter(|line| !line.starts_with(' ')).count());
    assert_eq!(json[0]["mend"], "andon install");
}

/// Runs the hints of a real repository and expects its complaints to go.
#[test]
fn the_hints_repair_a_real_repository() {
    let scratch = Scratch::new();
    let at = scratch.init("doctor");
    let look = || {
        let repo = Repo::open(&at, &RepoEnv::default()).unwrap();
        let outside = CallerFacts { program: scratch.program.clone(), ..healthy().outside };
        checks(&gather(&repo, outside).unwrap())
    };
    let bad = |found: &Diagnosis| -> Vec<String> {
        let bad = found.checks.iter().filter(|check| check.state != State::Ok);
        bad.map(|check| format!("{} {}", check.state.as_str(), check.id)).collect()
    };
    assert_eq!(bad(&look()), ["fail hooks"]);
    scratch.install(&at).unwrap();
    assert_eq!(bad(&look()), Vec::<String>::new());

    scratch.commit(&at);
    scratch.git(&at, &["remote", "add", "it'smine", "../remote"]);
    scratch.git(&at, &["config", "--add", "remote.it'smine.fetch", "+refs/notes/*:refs/notes/*"]);
    scratch.git(&at, &["config", "--add", "notes.rewriteRef", "refs/notes/*"]);
    scratch.git(&at, &["config", "core.hooksPath", ".git/hooks"]);
    std::fs::create_dir_all(at.join(".git/refs/notes")).unwrap();
    std::fs::write(at.join(".git/refs/notes/andon.lock"), "").unwrap();
    let found = look();
    assert_eq!(bad(&found), ["warn rewrite-ref", "warn records", "fail fetch-it'smine", "warn lock"]);
    for _ in 0..2 {
        for check in look().checks.iter().filter(|check| check.state != State::Ok && check.id != "records") {
            let hint = check.hint.as_deref().unwrap();
            let hint = hint.strip_prefix("if no git or andon process is running: ").unwrap_or(hint);
            if hint == "andon install --fetch" {
                scratch.fetch(&at);
                continue;
            }
            let out = scratch.run(&at, &["sh", "-c", hint]);
            assert!(out.status.success(), "{hint}: {}", String::from_utf8_lossy(&out.stderr));
        }
    }
    assert_eq!(bad(&look()), ["warn records"]);
    let fetches = scratch.git(&at, &["config", "--get-all", "remote.it'smine.fetch"]);
    insta::assert_snapshot!(fetches, @"
    +refs/heads/*:refs/remotes/it'smine/*
    +refs/notes/andon*:refs/notes/remotes/it'smine/andon*
    +refs/andon/ledger/*:refs/andon/remote/it'smine/ledger/*
    +refs/andon/records/*:refs/andon/remote-records/it'smine/*
    ");
}

#[test]
fn a_client_that_does_not_run_the_hooks_is_told_with_what_is_left_to_do() {
    let hooks = |state: SettingsState, trust| ClientHooks {
        client: Client::Codex,
        places: vec![ScopeHooks { scope: Scope::Project, path: "/r/.codex/hooks.json".into(), state }],
        missing_program: None,
        trust,
        heard: None,
    };
    let cases = [
        (hooks(SettingsState::Absent, Trust::NotNeeded), None, ""),
        (
            hooks(SettingsState::Installed, Trust::Given),
            Some(State::Ok),
            "runs the hooks (project), and trusts them",
        ),
        (hooks(SettingsState::Installed, Trust::Missing), Some(State::Warn), "does not run them"),
        (hooks(SettingsState::Installed, Trust::Unknown), Some(State::Warn), "is not known"),
        (hooks(SettingsState::Outdated, Trust::Given), Some(State::Warn), "does not run them"),
        (
            hooks(SettingsState::Broken("x:3".into()), Trust::NotNeeded),
            Some(State::Warn),
            "cannot be read: x:3",
        ),
    ];
    for (hooks, state, words) in cases {
        let mut facts = healthy();
        facts.outside.clients = vec![hooks];
        let found = checks(&facts).checks.into_iter().find(|check| check.id == "agent-codex");
        assert_eq!(found.as_ref().map(|check| check.state), state, "{found:?}");
        assert!(found.is_none_or(|check| check.message.contains(words)));
    }
}
