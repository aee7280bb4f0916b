//! Andon's hooks in the configuration of pre-commit and prek. The file is edited as text, so that comments and order stay;
//! where its shape is not the usual one nothing is edited.

use testreport::WordList;
use toml::{Table, Value};

use super::start_lines::{self, Audience};
use super::{edits, words};
use andon_core::domain::GitHook;

/// The configuration that both tools read.
pub const FILE: &str = ".pre-commit-config.yaml";
/// It, and names that only prek reads.
pub const FILES: WordList = words("files of pre-commit");
/// The key that says which hooks `pre-commit install` puts in place.
pub const TYPES_KEY: &str = "default_install_hook_types";
/// The key that says at which of them a hook runs that names no stages.
pub const STAGES_KEY: &str = "default_stages";

/// The change that the file needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It names Andon already.
    There,
    /// These lines go in: position and text, the last position first.
    Put(Vec<(usize, String)>),
    /// It cannot be edited safely.
    Unsafe(&'static str),
}

/// The entry, indented by `indent` spaces.
pub fn entry(indent: usize) -> String {
    let hooks: String = GitHook::of_frameworks().map(hook).collect();
    edits::marked(indent, &format!("- repo: local\n  hooks:\n{hooks}"))
}

fn hook(hook: GitHook) -> String {
    let name = hook.name();
    let id = id(hook);
    let files = hook.spec().names_files;
    let entry: String = command(hook, FILE).lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "    - id: {id}\n      name: andon ({name})\n      entry: |\n{entry}      \
         language: system\n      stages: [{name}]\n      always_run: true\n      pass_filenames: {files}\n      \
         require_serial: true\n      verbose: {}\n",
        !files
    )
}

/// The id of the entry of a hook.
fn id(hook: GitHook) -> String {
    if hook == GitHook::PreCommit { "andon".to_owned() } else { format!("andon-{}", hook.name()) }
}

/// The command of the entry of a hook in `file`.
fn command(hook: GitHook, file: &str) -> String {
    let lines = start_lines::lines(hook, "", " \"$@\"", file, Audience::NotPreparing);
    format!("sh -c '\n{lines}' andon")
}

/// The keys that `text`, which holds none of our lines, lacks: with them, every hook of ours is installed, and a hook
/// of others that names no stages runs where it ran before, not at each of ours. Nothing where both are there.
pub fn defaults(text: &str) -> String {
    let mut lines = String::new();
    if !has_key(text, TYPES_KEY) {
        let names: Vec<&str> = GitHook::of_frameworks().map(GitHook::name).collect();
        lines.push_str(&format!("{TYPES_KEY}: [{}]\n", names.join(", ")));
    }
    if !has_key(text, STAGES_KEY) {
        let stages = stages(&words_of(text, TYPES_KEY).unwrap_or_default()).join(", ");
        lines.push_str(&format!("{STAGES_KEY}: [{stages}]\n"));
    }
    if lines.is_empty() { lines } else { edits::marked(0, &lines) }
}

/// True if a hook of others that names no stages would run at every hook of ours.
pub fn runs_others_everywhere(text: &[u8]) -> bool {
    !has_key(&String::from_utf8_lossy(text), STAGES_KEY)
}

/// True if `text` has the hooks of `hook` installed, by name or by default.
pub fn is_listed(text: &[u8], hook: GitHook) -> bool {
    words_of(&String::from_utf8_lossy(text), TYPES_KEY)
        .map_or(hook == GitHook::PreCommit, |words| words.iter().any(|word| word == hook.name()))
}

/// The stages at which hooks of others that name none ran, with `before` as the hooks that were installed.
fn stages(before: &[String]) -> Vec<&str> {
    let known: Vec<&str> = before.iter().map(String::as_str).filter(|word| is_stage(word)).collect();
    if known.is_empty() { vec!["pre-commit"] } else { known }
}

/// The name of a hook of git, as both tools take it.
fn is_stage(word: &str) -> bool {
    const OTHERS: [&str; 2] = ["commit-msg", "post-checkout"];
    GitHook::of_frameworks().any(|hook| hook.name() == word) || OTHERS.contains(&word)
}

/// True if `key` is at the top, in any spelling of YAML.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| is_key(line, key))
}

fn is_key(line: &str, key: &str) -> bool {
    let quoted =
        line.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_prefix(key)?.strip_prefix(['"', '\'']));
    quoted.or_else(|| line.strip_prefix(key)).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// The words of the list at `key`; `None` where it is not there.
fn words_of(text: &str, key: &str) -> Option<Vec<String>> {
    let at = text.lines().position(|line| is_key(line, key))?;
    let more = |line: &&str| line.starts_with([' ', '-', ']', '#']) || line.is_empty();
    let first = text.lines().nth(at)?.split_once(':')?.1;
    let rest = text.lines().skip(at + 1).take_while(more);
    let uncommented = |line: &str| line.split('#').next().unwrap_or_default().to_owned();
    let list: String = std::iter::once(first).chain(rest).map(|line| uncommented(line) + " ").collect();
    let words = list
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty() && *word != "-");
    Some(words.map(str::to_owned).collect())
}

/// True if `text` names every hook that has to be installed, or says nothing of them.
pub fn installs_all(text: &[u8]) -> bool {
    let Some(words) = words_of(&String::from_utf8_lossy(text), TYPES_KEY) else { return true };
    GitHook::of_frameworks().all(|hook| words.iter().any(|word| word == hook.name()))
}

/// Says where the lines go in `text`, which holds none of ours.
pub fn answer(text: &[u8]) -> FileChange {
    let Ok(text) = std::str::from_utf8(text) else { return FileChange::Unsafe("it is not UTF-8") };
    if text.contains("andon hook ")
        || text.lines().any(|line| line.trim().trim_start_matches("- ").trim() == "id: andon")
    {
        return FileChange::There;
    }
    match of_repos(text) {
        Err(why) => FileChange::Unsafe(why),
        Ok(Repos { head, end, indent }) => {
            let mut put = vec![(end, entry(indent))];
            let defaults = defaults(text);
            // Before the list, which people add to at the end of the file.
            if !defaults.is_empty() {
                put.push((head, defaults));
            }
            FileChange::Put(put)
        }
    }
}

/// The list of `repos`.
struct Repos {
    /// The offset at which its line begins.
    head: usize,
    /// The offset at which its last entry ends.
    end: usize,
    /// The indentation of its entries, in spaces.
    indent: usize,
}

fn of_repos(text: &str) -> Result<Repos, &'static str> {
    let content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        lines.push((at, line.trim_end_matches(['\n', '\r'])));
    }
    if lines.iter().skip(1).any(|(_, line)| *line == "---" || *line == "...") {
        return Err("it holds several documents");
    }
    let head = |line: &str| line.strip_prefix("repos:").is_some_and(|rest| !content(rest));
    let heads: Vec<usize> = (0..lines.len()).filter(|at| head(lines[*at].1)).collect();
    let [head] = heads[..] else { return Err("it has no list `repos:` of the usual form") };
    let begins = if head == 0 { 0 } else { lines[head - 1].0 };
    let mut indent = None;
    let mut end = None;
    for (at, line) in &lines[head + 1..] {
        if line.trim_start().len() != line.trim_start_matches(' ').len() && content(line) {
            return Err("it is indented by tabs");
        }
        let depth = line.len() - line.trim_start().len();
        let Some(first) = indent else {
            if content(line) {
                if !line.trim_start().starts_with("- ") {
                    return Err("`repos` is no list of the usual form");
                }
                (indent, end) = (Some(depth), Some(*at));
            }
            continue;
        };
        let item = depth == first && line.trim_start().starts_with('-');
        if content(line) && depth <= first && !item {
            break;
        }
        // A comment that is indented deeper may be a line of a text.
        if content(line) || (depth > first && !line.trim().is_empty()) {
            end = Some(*at);
        }
    }
    let (end, indent) = end.zip(indent).ok_or("`repos` is empty")?;
    Ok(Repos { head: begins, end, indent })
}

/// The configuration of prek in TOML.
pub const PREK_FILE: &str = "prek.toml";

/// The entry of a hook for prek.
fn prek_hook(hook: GitHook) -> String {
    let (id, name, files) = (id(hook), hook.name(), hook.spec().names_files);
    // It is made of a text, which TOML can hold.
    let entry = Table::from_iter([("entry".to_owned(), command(hook, PREK_FILE).into())]);
    let entry = toml::to_string_pretty(&entry).unwrap_or_default();
    format!(
        "\n[[repos.hooks]]\nid = \"{id}\"\nname = \"andon ({name})\"\n{entry}language = \"system\"\nstages = [\"{name}\"]\n\
         always_run = true\npass_filenames = {files}\nrequire_serial = true\nverbose = {}\n",
        !files
    )
}

/// True if a hook of `text` is ours.
pub fn prek_names_andon(text: &str) -> bool {
    let there: Table = text.parse().unwrap_or_default();
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let hooks = list(there.get("repos")).into_iter().flat_map(|repo| list(repo.get("hooks")));
    hooks.into_iter().any(|hook| {
        let of = |key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        of("id") == "andon" || of("entry").contains("andon hook ")
    })
}

/// The lines that a person adds to `text`: keys where it lacks them, and the hooks.
pub fn prek_lines(text: &str) -> String {
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
    let hooks: String = GitHook::of_frameworks().map(prek_hook).collect();
    let keys = if keys.is_empty() { String::new() } else { format!("# above the first table\n{keys}") };
    format!("{keys}# at the end\n[[repos]]\nrepo = \"local\"\n{hooks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str) -> String {
        let FileChange::Put(put) = answer(text.as_bytes()) else { panic!("{:?}", answer(text.as_bytes())) };
        let mut out = text.as_bytes().to_vec();
        for (at, block) in put {
            (out, _) = edits::insert(&out, at, &block);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_entry_goes_to_the_end_of_the_list() {
        let text = "# mine\nrepos:\n  # a comment\n  - repo: x\n    hooks:\n      - id: y # z\n\n# about ci\nci:\n  a: 1";
        let out = put(text);
        let entry = entry(2);
        assert!(out.contains(&format!("- id: y # z\n{entry}\n# about ci\nci:")), "{out}");
        assert!(out.starts_with(&format!("# mine\n{}repos:\n", defaults(""))), "{out}");
        assert!(out.ends_with("ci:\n  a: 1"), "{out}");
        assert!(
            entry.starts_with("  # >>> andon")
                && entry.contains("\n  - repo: local\n    hooks:\n      - id: andon\n")
        );
        let flat = put(
            "repos:\n- repo: x\n  hooks:\n  - id: y\n    entry: |\n      a\n      # b\ndefault_stages: [x]\n",
        );
        assert!(
            flat.contains("      # b\n# >>> andon") && flat.contains("\n- repo: local\n  hooks:\n"),
            "{flat}"
        );
        let listed = "default_install_hook_types: [pre-commit]\nrepos:\n- repo: x\n";
        assert!(!put(listed).contains("[pre-commit, pre-merge-commit"));
    }

    #[test]
    fn hooks_of_others_run_where_they_ran_before() {
        let stages = |text: &str| {
            let out = put(&format!("{text}repos:\n- repo: x\n"));
            let lines: Vec<String> =
                out.lines().filter(|line| line.starts_with(STAGES_KEY)).map(str::to_owned).collect();
            lines.join("|")
        };
        for (text, wanted) in [
            ("", "default_stages: [pre-commit]"),
            ("default_install_hook_types: [pre-commit]\n", "default_stages: [pre-commit]"),
            (
                "default_install_hook_types: [pre-commit, pre-push]\n",
                "default_stages: [pre-commit, pre-push]",
            ),
            (
                "default_install_hook_types:\n- commit-msg  # x\n- pre-commit\n",
                "default_stages: [commit-msg, pre-commit]",
            ),
            (
                "default_install_hook_types:\n  - pre-push\n\nx:\n  - pre-commit\n",
                "default_stages: [pre-push]",
            ),
            ("default_stages: [pre-push]\n", "default_stages: [pre-push]"),
            ("default_stages:\n- manual\n", "default_stages:"),
            ("\"default_stages\" : [manual]\n", ""),
        ] {
            assert_eq!(stages(text), wanted, "{text}");
        }
        let own =
            "default_install_hook_types: [pre-commit]\ndefault_stages: [pre-commit]\nrepos:\n- repo: x\n";
        assert_eq!(put(own).matches("default_").count(), 2);
    }

    #[test]
    fn what_is_odd_is_not_edited() {
        for text in [
            "",
            "repos: []\n",
            "repos: [{repo: local}]\n",
            "repos:\n",
            "repos:\n  x: 1\n",
            "repos:\n\t- repo: x\n",
            "a: 1\n---\nrepos:\n- repo: x\n",
            "repos:\n- repo: x\nrepos:\n- repo: y\n",
            "{repos: []}",
        ] {
            assert!(matches!(answer(text.as_bytes()), FileChange::Unsafe(_)), "{text:?}");
        }
        assert!(matches!(answer(b"repos:\n- repo: \xff\n"), FileChange::Unsafe(_)));
        let named = b"repos:\n- repo: https://x/andon\n  hooks:\n  - id: andon\n";
        assert_eq!(answer(named), FileChange::There);
    }

    #[test]
    fn hook_types_that_are_missing_are_seen() {
        assert!(installs_all(b"repos: []\n"));
        assert!(installs_all(defaults("").as_bytes()));
        assert!(!installs_all(b"default_install_hook_types: [pre-commit, pre-push]\n"));
        let listed: String = GitHook::of_frameworks().map(|hook| format!("- {}\n", hook.name())).collect();
        assert!(installs_all(format!("default_install_hook_types:\n{listed}").as_bytes()));
        assert!(!installs_all(format!("default_install_hook_types:\n- pre-commit\nx:\n{listed}").as_bytes()));
    }

    #[test]
    fn what_this_repository_offers_frameworks_is_every_hook_of_ours() {
        let offered = include_str!("../../.pre-commit-hooks.yaml");
        for hook in GitHook::of_frameworks() {
            let name = hook.name();
            let end = if hook == GitHook::PreCommit { String::new() } else { format!("-{name}") };
            for (id, language) in [("andon", "rust"), ("andon-wheel", "python")] {
                assert!(offered.contains(&format!("- id: {id}{end}\n  name: andon ({name})\n")), "{id}{end}");
                let files = hook.spec().names_files;
                let how = format!(
                    "  entry: andon hook {name}\n  language: {language}\n  stages: [{name}]\n  \
                     always_run: true\n  pass_filenames: {files}\n"
                );
                assert!(offered.contains(&how), "{how}");
            }
        }
        assert_eq!(offered.matches("  entry: andon hook ").count(), 2 * GitHook::of_frameworks().count());
        let mut listed = words_of(&offered.replace("#   ", ""), TYPES_KEY).unwrap();
        let mut ours: Vec<&str> = GitHook::of_frameworks().map(GitHook::name).collect();
        listed.sort();
        ours.sort_unstable();
        assert_eq!(listed, ours);
    }

    #[test]
    fn the_lines_are_toml_and_start_each_hook_of_ours() {
        let all: Table = prek_lines("").parse().unwrap();
        let hooks = all["repos"][0]["hooks"].as_array().unwrap();
        assert_eq!(hooks.len(), GitHook::of_frameworks().count());
        for (hook, given) in GitHook::of_frameworks().zip(hooks) {
            assert_eq!(given["id"].as_str().unwrap(), id(hook));
            assert_eq!(given["entry"].as_str().unwrap(), command(hook, PREK_FILE));
        }
        assert_eq!(all[STAGES_KEY], Value::from(vec!["pre-commit"]));
    }

    #[test]
    fn hooks_of_ours_are_known_again() {
        let other = "[[repos]]\nrepo = \"builtin\"\nhooks = [{ id = \"x\" }]\n";
        assert!(!prek_names_andon(other) && !prek_names_andon("") && !prek_names_andon("[["));
        assert!(prek_names_andon(&format!(
            "{other}{}",
            prek_lines(other).split_once("# at the end\n").unwrap().1
        )));
        assert!(prek_names_andon("[[repos]]\nrepo = \"https://x/andon\"\nhooks = [{ id = 'andon' }]\n"));
    }

    #[test]
    fn keys_that_are_there_are_not_given_twice() {
        let own = "default_install_hook_types = [\"pre-push\"]\n";
        let added: Table = prek_lines(own).parse().unwrap();
        assert!(!added.contains_key(TYPES_KEY));
        assert_eq!(added[STAGES_KEY], Value::from(vec!["pre-push"]));
        let both = "default_install_hook_types = [\"pre-push\"]\ndefault_stages = [\"manual\"]\n";
        assert!(prek_lines(both).starts_with("# at the end\n[[repos]]"));
    }
}
