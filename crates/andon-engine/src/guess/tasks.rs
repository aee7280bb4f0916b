//! Runners of tasks: a recipe called test is the project's own word for how its tests run.

use super::{GuessedCommand, guessed, listing::Listing};

impl GuessedCommand {
    /// True when its recipe runs that command as a whole: `cargo test` is not `cargo test --workspace`.
    pub(super) fn runs(&self, command: &str) -> bool {
        self.script.match_indices(command).any(|(at, _)| {
            let before = self.script.get(..at).and_then(|head| head.chars().next_back());
            let after = self.script.get(at + command.len()..).and_then(|tail| tail.chars().next());
            let ends = |each: Option<char>| {
                each.is_none_or(|each| {
                    each.is_whitespace()
                        || matches!(each, '@' | '-' | ';' | '&' | '|' | ')' | '(' | '"' | '\'')
                })
            };
            ends(before) && ends(after)
        })
    }
}

/// Every runner with such a recipe.
pub(super) fn tasks(listing: &Listing) -> Vec<GuessedCommand> {
    let just = listing.first(&["justfile", "Justfile", ".justfile"]);
    let just =
        just.and_then(|file| just_recipe(listing.text(file)?).map(|recipe| task("just test", file, recipe)));
    let file = listing.first(&["GNUmakefile", "makefile", "Makefile"]);
    let make = file.and_then(|file| {
        let text = listing.text(file)?;
        let (target, recipe) =
            ["test", "check"].iter().find_map(|name| Some((name, make_recipe(text, name)?)))?;
        Some(task(&format!("make {target}"), file, recipe))
    });
    let taskfile = listing.first(&["Taskfile.yml", "Taskfile.yaml"]);
    let taskfile = taskfile
        .and_then(|file| yaml_task(listing.text(file)?).map(|recipe| task("task test", file, recipe)));
    [just, make, taskfile].into_iter().flatten().collect()
}

fn task(command: &str, file: &str, script: String) -> GuessedCommand {
    GuessedCommand { script, ..guessed(command, format!("the recipe in {file}")) }
}

/// The recipe of a target in a makefile; `None` when there is no rule for it. `test-unit:` is another target.
fn make_recipe(text: &str, target: &str) -> Option<String> {
    let mut recipe = None::<String>;
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with(['\t', ' ']) {
            if let (true, Some(recipe)) = (inside, &mut recipe) {
                recipe.push_str(line.trim());
                recipe.push('\n');
            }
            continue;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        inside = false;
        let Some((targets, rest)) = line.split_once(':') else { continue };
        let assignment = rest.starts_with('=')
            || rest.starts_with(":=")
            || rest.starts_with("::=")
            || targets.contains('=');
        if !assignment && targets.split_whitespace().any(|one| one == target) {
            inside = true;
            let reported = rest.split_once(';').map_or("", |(_, command)| command.trim());
            recipe.get_or_insert_default().push_str(reported);
        }
    }
    recipe
}

/// The recipe called test in a justfile, if it can be called without arguments.
fn just_recipe(text: &str) -> Option<String> {
    let mut recipe = None::<String>;
    for line in text.lines() {
        if let Some(recipe) = &mut recipe {
            if line.starts_with([' ', '\t']) {
                recipe.push_str(line.trim());
                recipe.push('\n');
                continue;
            }
            if !line.trim().is_empty() {
                break;
            }
            continue;
        }
        if line.starts_with([' ', '\t', '#']) {
            continue;
        }
        if line.strip_prefix("alias test").is_some_and(|rest| rest.trim_start().starts_with(":=")) {
            return Some(String::new());
        }
        let Some((head, rest)) = line.strip_prefix('@').unwrap_or(line).split_once(':') else { continue };
        let mut words = head.split_whitespace();
        let required = |word: &str| !word.contains('=') && !word.starts_with('*');
        if words.next() == Some("test") && !rest.starts_with('=') && !words.any(required) {
            recipe = Some(String::new());
        }
    }
    recipe
}

/// The task called test in a Taskfile: below `tasks:`, indented by as much as the first of them.
fn yaml_task(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "tasks:").skip(1);
    let mut indent = None;
    let mut recipe = None::<String>;
    for line in lines.by_ref().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let own = line.len() - line.trim_start().len();
        let level = *indent.get_or_insert(own);
        if own == 0 || own < level {
            break;
        }
        match &mut recipe {
            Some(recipe) if own > level => {
                recipe.push_str(line.trim());
                recipe.push('\n');
            }
            Some(_) => break,
            None if own == level && line.trim_start().starts_with("test:") => {
                recipe = Some(line.trim().to_owned());
            }
            None => {}
        }
    }
    recipe
}
