//! Andon's hooks as lines of prek.toml. A person adds them: the file is not edited.

use serde::Serialize;
use toml::{Table, Value};

use super::framework::{STAGES_KEY, TYPES_KEY, command, id, stages};
use andon_core::domain::git_hook::GitHook;

/// The name of the file.
pub const FILE: &str = "prek.toml";

#[derive(Serialize)]
struct Repos {
    repos: [Repo; 1],
}

#[derive(Serialize)]
struct Repo {
    repo: &'static str,
    hooks: Vec<Hook>,
}

#[derive(Serialize)]
struct Hook {
    id: String,
    name: String,
    entry: String,
    language: &'static str,
    stages: [&'static str; 1],
    always_run: bool,
    pass_filenames: bool,
    require_serial: bool,
    verbose: bool,
}

impl From<GitHook> for Hook {
    fn from(hook: GitHook) -> Self {
        let (name, files) = (hook.name(), hook.spec().names_files);
        Self {
            id: id(hook),
            name: format!("andon ({name})"),
            entry: command(hook, FILE),
            language: "system",
            stages: [name],
            always_run: true,
            pass_filenames: files,
            require_serial: true,
            verbose: !files,
        }
    }
}

/// Whether a hook of `text` is ours.
pub fn names_andon(text: &str) -> bool {
    let there: Table = text.parse().unwrap_or_default();
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let hooks = list(there.get("repos")).into_iter().flat_map(|repo| list(repo.get("hooks")));
    hooks.into_iter().any(|hook| {
        let of = |key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        of("id") == "andon" || of("entry").contains("andon hook ")
    })
}

/// What a person adds to `text`: keys where it lacks them, and the hooks.
pub fn lines(text: &str) -> String {
    let there: Table = text.parse().unwrap_or_default();
    let mut keys = Table::new();
    if !there.contains_key(TYPES_KEY) {
        let names: Vec<&str> = GitHook::of_frameworks().map(GitHook::name).collect();
        keys.insert(TYPES_KEY.to_owned(), names.into());
    }
    if !there.contains_key(STAGES_KEY) {
        let before = there
            .get(TYPES_KEY)
            .cloned()
            .and_then(|list| list.try_into::<Vec<String>>().ok())
            .unwrap_or_default();
        keys.insert(STAGES_KEY.to_owned(), stages(&before).into());
    }
    let repo = Repo { repo: "local", hooks: GitHook::of_frameworks().map(Hook::from).collect() };
    // Both are made of texts and flags, which TOML can hold.
    let hooks = toml::to_string_pretty(&Repos { repos: [repo] }).unwrap_or_default();
    let keys = if keys.is_empty() { String::new() } else { format!("# above the first table\n{keys}") };
    format!("{keys}# at the end\n{hooks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_toml_and_start_each_hook_of_ours() {
        let all: Table = lines("").parse().unwrap();
        let hooks = all["repos"][0]["hooks"].as_array().unwrap();
        assert_eq!(hooks.len(), GitHook::of_frameworks().count());
        for (hook, given) in GitHook::of_frameworks().zip(hooks) {
            assert_eq!(given["id"].as_str().unwrap(), id(hook));
            assert_eq!(given["entry"].as_str().unwrap(), command(hook, FILE));
        }
        assert_eq!(all[STAGES_KEY], Value::from(vec!["pre-commit"]));
    }

    #[test]
    fn hooks_of_ours_are_known_again() {
        let other = "[[repos]]\nrepo = \"builtin\"\nhooks = [{ id = \"x\" }]\n";
        assert!(!names_andon(other) && !names_andon("") && !names_andon("[["));
        assert!(names_andon(&format!("{other}{}", lines(other).split_once("# at the end\n").unwrap().1)));
        assert!(names_andon("[[repos]]\nrepo = \"https://x/andon\"\nhooks = [{ id = 'andon' }]\n"));
    }

    #[test]
    fn keys_that_are_there_are_not_given_twice() {
        let own = "default_install_hook_types = [\"pre-push\"]\n";
        let added: Table = lines(own).parse().unwrap();
        assert!(!added.contains_key(TYPES_KEY));
        assert_eq!(added[STAGES_KEY], Value::from(vec!["pre-push"]));
        let both = "default_install_hook_types = [\"pre-push\"]\ndefault_stages = [\"manual\"]\n";
        assert!(lines(both).starts_with("# at the end\n[[repos]]"));
    }
}
