use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::place::{Roots, Scope, files};
use super::*;
use andon_core::domain::Client;

const SETTINGS: &str = "{\n  // mine\n  \"model\": \"opus\", // why\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \
                        \"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }] },\n    ],\n  },\n}\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn files(&self, client: Client) -> Vec<SettingsFile> {
        let top = Some(self.dir.path().join("p"));
        let roots = Roots { project: top.clone(), home: top, ..Roots::default() };
        std::fs::create_dir_all(self.dir.path().join("p")).unwrap();
        let of_project = files(client, Scope::Project, &roots);
        if of_project.is_empty() { files(client, Scope::User, &roots) } else { of_project }
    }

    fn saved(&self) -> PathBuf {
        SavedFiles::path(&self.dir.path().join("state"))
    }

    fn install(&self, client: Client, program: &str) -> Result<Vec<InstalledFile>> {
        let planned = planned(&self.files(client), program, &self.saved())?;
        planned.make(&self.saved()).map(|()| planned.outcomes)
    }

    fn uninstall(&self, client: Client) -> Vec<EditRemoval> {
        let done = uninstall(&self.files(client), &self.saved()).unwrap();
        done.into_iter().map(|(_, cleaned)| cleaned).collect()
    }

    /// The files of the project, by path.
    fn tree(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut waiting = vec![self.dir.path().join("p")];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push((path.clone(), path.is_file().then(|| std::fs::read(&path).unwrap())));
                if path.is_dir() {
                    waiting.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join("p").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The clients that have settings.
fn installable() -> impl Iterator<Item = Client> {
    Client::every().filter(|client| !client.spec().settings.files.is_empty())
}

#[test]
fn every_client_is_installed_once_and_leaves_nothing() {
    for client in installable() {
        let place = Place::new();
        let files = place.files(client);
        let before = place.tree();
        assert!(files.iter().all(|file| look(file, "andon") == SettingsState::Absent));
        let first = place.install(client, "andon").unwrap();
        assert!(first.iter().all(|file| file.changed), "{client:?}");
        assert!(files.iter().all(|file| look(file, "andon") == SettingsState::Installed), "{client:?}");
        let after = place.tree();
        let again = place.install(client, "andon").unwrap();
        assert!(again.iter().all(|file| !file.changed), "{client:?}");
        assert_eq!(place.tree(), after);
        // Another program takes the place of the first, and of nothing else.
        assert!(files.iter().any(|file| look(file, "/new/an don") == SettingsState::Outdated), "{client:?}");
        place.install(client, "/new/an don").unwrap();
        assert!(files.iter().all(|file| look(file, "/new/an don") == SettingsState::Installed), "{client:?}");
        place.install(client, "andon").unwrap();
        assert_eq!(place.tree(), after, "{client:?}");
        assert!(place.uninstall(client).iter().all(|cleaned| *cleaned == EditRemoval::Gone), "{client:?}");
        assert_eq!(place.tree(), before, "{client:?}");
        assert!(place.uninstall(client).iter().all(|cleaned| *cleaned == EditRemoval::Nothing));
    }
}

#[test]
fn whatever_is_written_of_a_hook_is_compared() {
    let place = Place::new();
    for client in [Client::Claude, Client::Codex, Client::Cursor, Client::Kiro, Client::Kimi] {
        place.install(client, "andon").unwrap();
        let file = place.files(client).into_iter().next().unwrap();
        let before = std::fs::read_to_string(&file.path).unwrap();
        assert!(!starts_less(&file, &before), "{client:?}");
        for (was, is) in [("timeout", "timeouts"), ("andon", "true; andon")] {
            std::fs::write(&file.path, before.replacen(was, is, 1)).unwrap();
            let is_there = before.contains(was);
            assert_eq!(starts_less(&file, &before), is_there, "{client:?} {is}");
            assert_eq!(look(&file, "andon") == SettingsState::Installed, !is_there, "{client:?} {is}");
        }
    }
    for (text, is_off) in [
        ("{\"disableAllHooks\": true} // x", true),
        ("{\"env\": {\"PATH\": \"/elsewhere\"}}", true),
        ("{\"env\": {\"PATH\": \"/here\"}}", false),
        ("{", false),
        ("", false),
    ] {
        assert_eq!(merge::switches_off(text, |path| path == "/elsewhere"), is_off, "{text}");
    }
}

#[test]
fn settings_come_back_byte_for_byte() {
    let texts = [
        "",
        "\n",
        "{}",
        "{\"a\":1}",
        "{ }\n",
        SETTINGS,
        "{\r\n\t\"a\": [1,\r\n\t2]\r\n}\r\n",
        "// only a comment\n{}\n",
        "{\"hooks\":{}}",
        "\u{feff}{\r\n\t\"a\": 1,\r\n}\r\n",
        "\u{feff}",
        "{\"hooks\": {\"PreToolUse\": [], \"Stop\": [ ]}, \"b\": \"@ANDON@\"}\n",
        "{\n    \"$version\": 3,\n    \"version\": 2\n}\n",
    ];
    for client in [Client::Claude, Client::Qwen, Client::Cursor, Client::Openhands] {
        for text in texts {
            let place = Place::new();
            let path = place.files(client)[0].path.clone();
            place.put(path.strip_prefix(place.dir.path().join("p")).unwrap().to_str().unwrap(), text);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            place.install(client, "/x/an don").unwrap();
            let installed = std::fs::read_to_string(&path).unwrap();
            assert_eq!(
                look(&place.files(client)[0], "/x/an don"),
                SettingsState::Installed,
                "{text:?} {installed}"
            );
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
            place.install(client, "/y/andon").unwrap();
            place.uninstall(client);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

/// Also where a file is to be ours alone, and twice with another program in between.
#[test]
fn an_empty_file_is_empty_again() {
    for client in installable() {
        let place = Place::new();
        // An empty program is not ours, and refused.
        for file in place.files(client).iter().filter(|file| file.way != FileOwner::Program) {
            place.put(file.path.strip_prefix(place.dir.path().join("p")).unwrap().to_str().unwrap(), "");
        }
        let before = place.tree();
        for programs in [&["/one/andon"][..], &["/one/andon", "/two/andon"]] {
            for program in programs {
                place.install(client, program).unwrap();
            }
            assert_ne!(place.tree(), before);
            place.uninstall(client);
            assert_eq!(place.tree(), before, "{client:?}");
        }
    }
}

#[test]
fn what_a_person_wrote_meanwhile_stays() {
    let place = Place::new();
    let path = place.put(".claude/settings.json", SETTINGS);
    place.install(Client::Claude, "andon").unwrap();
    let edited = std::fs::read_to_string(&path).unwrap().replace("\"opus\"", "\"sonnet\"");
    std::fs::write(&path, &edited).unwrap();
    assert!(!place.install(Client::Claude, "andon").unwrap()[0].changed);
    assert_eq!(place.uninstall(Client::Claude), [EditRemoval::Restored]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), SETTINGS.replace("\"opus\"", "\"sonnet\""));
    // In a clone nothing is remembered; our hooks are known by their command.
    place.install(Client::Claude, "andon").unwrap();
    std::fs::remove_file(place.saved()).unwrap();
    assert_eq!(place.uninstall(Client::Claude), [EditRemoval::Restored]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), SETTINGS.replace("\"opus\"", "\"sonnet\""));
    // A hook that was removed is put in again.
    place.install(Client::Claude, "andon").unwrap();
    let less = std::fs::read_to_string(&path).unwrap().replace("claude\", \"Stop\"", "claude2\", \"Stop\"");
    std::fs::write(&path, less).unwrap();
    assert_eq!(look(&place.files(Client::Claude)[0], "andon"), SettingsState::Outdated);
    place.install(Client::Claude, "andon").unwrap();
    assert_eq!(look(&place.files(Client::Claude)[0], "andon"), SettingsState::Installed);
}

#[test]
fn what_cannot_be_read_is_named_with_its_line_and_left_alone() {
    let cases = [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}\n", ":3: column 7"),
        ("{\n  \"hooks\": []\n}\n", ":2: its \"hooks\" is no object"),
        ("{\"hooks\": {\"Stop\": {}}}", ":1: its \"hooks.Stop\" is no array"),
        ("// a\n{\n\"hooks\": {\n \"a\": [],\n\n \"Stop\": {}}}", ":6: its \"hooks.Stop\" is no array"),
        ("\n[]", ":2: it is no JSON object"),
        ("{} {}", ":1: column 4"),
        ("{\"a\": 'b'}", ":1: column 7"),
    ];
    for (text, wanted) in cases {
        let place = Place::new();
        let path = place.put(".claude/settings.json", text);
        let error = place.install(Client::Claude, "andon").unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains(".claude/settings.json"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert!(!place.saved().exists());
    }
    let place = Place::new();
    let path = place.put(".claude/settings.json", "");
    std::fs::write(&path, b"{\n\"a\": \"\xff\"}").unwrap();
    let error = place.install(Client::Claude, "andon").unwrap_err().to_string();
    assert!(error.contains(":2: it is not UTF-8"), "{error}");
    std::fs::write(&path, " ".repeat(2 << 20)).unwrap();
    let error = place.install(Client::Claude, "andon").unwrap_err().to_string();
    assert!(error.contains("settings.json is left alone: it is longer than 1 MiB"), "{error}");
    std::fs::write(&path, "[".repeat(100_000)).unwrap();
    assert!(matches!(look(&place.files(Client::Claude)[0], "andon"), SettingsState::Broken(_)));
}

#[test]
fn links_are_not_followed_out_of_the_project() {
    for target in [".claude", ".agents"] {
        let place = Place::new();
        let client = if target == ".claude" { Client::Claude } else { Client::Goose };
        let outside = place.dir.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        place.files(client);
        symlink(&outside, place.dir.path().join("p").join(target)).unwrap();
        let error = place.install(client, "andon").unwrap_err().to_string();
        assert!(error.contains("leads out of the repository"), "{error}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
    let place = Place::new();
    let outside = place.dir.path().join("other.json");
    std::fs::write(&outside, "{}").unwrap();
    place.put(".claude/x", "");
    symlink(&outside, place.dir.path().join("p/.claude/settings.json")).unwrap();
    let error = place.install(Client::Claude, "andon").unwrap_err().to_string();
    assert!(error.contains("left alone: it is not a plain file"), "{error}");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "{}");
}

#[test]
fn a_link_within_the_project_stays_one() {
    let place = Place::new();
    let (path, link) =
        (place.put("config/claude.json", "{}"), place.dir.path().join("p/.claude/settings.json"));
    place.put(".claude/x", "");
    symlink("../config/claude.json", &link).unwrap();
    place.install(Client::Claude, "andon").unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("PreToolUse") && link.is_symlink());
    assert_eq!(place.uninstall(Client::Claude), [EditRemoval::Restored]);
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), link.is_symlink()), ("{}", true));
}

#[test]
fn a_hook_of_ones_own_is_not_replaced() {
    let place = Place::new();
    let path = place.put(".clinerules/hooks/PreToolUse", "#!/bin/sh\nmine\n");
    let error = place.install(Client::Cline, "andon").unwrap_err().to_string();
    assert!(error.contains("PreToolUse is a file of your own"), "{error}");
    assert_eq!(place.tree().iter().filter(|(_, bytes)| bytes.is_some()).count(), 1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\nmine\n");
    assert_eq!(place.uninstall(Client::Cline)[0], EditRemoval::Nothing);
    // Nor is a file that only has our name.
    let (place, path) = (Place::new(), ".github/hooks/andon.json");
    let path = place.put(path, "{\"version\": 1}");
    let error = place.install(Client::Copilot, "andon").unwrap_err().to_string();
    assert!(error.contains("andon.json is a file of your own"), "{error}");
    assert_eq!(look(&place.files(Client::Copilot)[0], "andon"), SettingsState::Foreign);
    assert_eq!(place.uninstall(Client::Copilot), [EditRemoval::Nothing]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"version\": 1}");
    let place = Place::new();
    place.install(Client::Cline, "andon").unwrap();
    let made = place.files(Client::Cline)[0].path.metadata().unwrap();
    assert_eq!(made.permissions().mode() & 0o111, 0o111);
}

#[test]
fn plugins_have_the_hooks_that_are_installed() {
    let pairs = [
        (Client::Claude, include_str!("../../../hooks/agents/claude/plugin/hooks/hooks.json")),
        (Client::Codex, include_str!("../../../hooks/agents/codex/plugin/hooks/hooks.json")),
        (Client::Gemini, include_str!("../../../hooks/agents/gemini/extension/hooks/hooks.json")),
    ];
    for (client, plugin) in pairs {
        let place = Place::new();
        assert_eq!(whole(&place.files(client)[0], "andon"), plugin, "{client:?}");
    }
    let manifests = [
        include_str!("../../../hooks/agents/claude/plugin/.claude-plugin/plugin.json"),
        include_str!("../../../hooks/agents/codex/plugin/.codex-plugin/plugin.json"),
        include_str!("../../../hooks/agents/gemini/extension/gemini-extension.json"),
        include_str!("../../../hooks/agents/goose/plugin.json"),
    ];
    for manifest in manifests {
        let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap();
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn the_marketplace_names_a_plugin_that_is_there() {
    let market = include_str!("../../../.claude-plugin/marketplace.json");
    let market: serde_json::Value = serde_json::from_str(market).unwrap();
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for plugin in market["plugins"].as_array().unwrap() {
        let source = top.join(plugin["source"].as_str().unwrap());
        let manifest = std::fs::read_to_string(source.join(".claude-plugin/plugin.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!((&manifest["name"], &manifest["description"]), (&plugin["name"], &plugin["description"]));
        for command in ["status", "why"] {
            let text = std::fs::read_to_string(source.join(format!("commands/{command}.md"))).unwrap();
            assert!(text.starts_with("---\ndescription: ") && text.contains("!`andon status`"), "{command}");
        }
    }
}
