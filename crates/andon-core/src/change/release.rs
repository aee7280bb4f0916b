//! Recognizes what release tools commit: the project's own version, the references to it, and nothing else. The tests of the
//! commit before speak for such code.
//!
//! A release is known by contents. A version is the project's own where the project declares it: at the top of a JSON file,
//! in a section or a block that names no dependency, in a file of versions. Anything else may differ only by going from the
//! declared old version to the new one, in a line or a member that speaks of the version or names what declares it.

use std::collections::BTreeSet;

use serde_json::Value;

/// A file of code that changed, before and after.
#[derive(Debug, Clone, Copy)]
pub struct Rewritten<'a> {
    /// Path from the root of the repository.
    pub path: &'a [u8],
    /// The content before.
    pub old: &'a [u8],
    /// The content after.
    pub new: &'a [u8],
}

/// A version that a project declares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Bump {
    /// The name that is declared beside it; empty where there is none.
    name: String,
    old: String,
    new: String,
}

/// A place where two versions of a file differ by a version alone.
struct Place {
    bump: Bump,
    /// The key in front of the version.
    key: String,
    /// True where the file declares the version of its project there.
    declares: bool,
}

/// Returns whether the project's own version is all that differs in `files`, all the code that a commit changed.
pub fn is_release(files: &[Rewritten<'_>]) -> bool {
    let code = files.iter().filter(|file| !is_changelog(file.path));
    let Some(places) = code.map(places).collect::<Option<Vec<_>>>() else { return false };
    let places: Vec<Place> = places.into_iter().flatten().collect();
    let declared: BTreeSet<&Bump> = places.iter().filter(|one| one.declares).map(|one| &one.bump).collect();
    let refers = |one: &Place| {
        let same = |bump: &&&Bump| (&bump.old, &bump.new) == (&one.bump.old, &one.bump.new);
        let key = one.key.to_ascii_lowercase();
        let speaks = key.contains("version") && key != "version";
        declared.iter().filter(same).any(|bump| speaks || (!bump.name.is_empty() && bump.name == one.key))
    };
    !declared.is_empty() && places.iter().all(|one| one.declares || refers(one))
}

/// Returns whether some file of `files` declares another version of the project than before, whatever else changed.
pub fn declares_version(files: &[Rewritten<'_>]) -> bool {
    files.iter().any(|file| {
        let own = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(text).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let of = |at: usize| version_in(lines[at]).filter(|_| declares(file.path, &lines, at));
            (0..lines.len()).filter_map(of).map(|(_, version)| version).collect()
        };
        let (old, new) = (own(file.old), own(file.new));
        !old.is_empty() && !new.is_empty() && old != new
    })
}

/// A log of changes, by its name: it tells what was released, and no test reads it.
fn is_changelog(path: &[u8]) -> bool {
    let name = file_name(path);
    let stem = name.split('.').next().unwrap_or_default();
    ["changelog", "changes", "history", "news", "releases"].contains(&stem)
}

fn file_name(path: &[u8]) -> String {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    String::from_utf8_lossy(name).to_lowercase()
}

/// The places where a file differs; `None` where it differs by more than versions.
fn places(file: &Rewritten<'_>) -> Option<Vec<Place>> {
    let (old, new) = (std::str::from_utf8(file.old).ok()?, std::str::from_utf8(file.new).ok()?);
    if file_name(file.path).rsplit_once('.').is_some_and(|(_, kind)| kind == "json") {
        let mut found = Vec::new();
        let values = (serde_json::from_str(old).ok()?, serde_json::from_str(new).ok()?);
        let is_same = members(&values.0, &values.1, &mut Vec::new(), &mut found);
        return (is_same && is_in_order(old, new, &found)).then_some(found);
    }
    let lines: Vec<&str> = old.lines().collect();
    (lines.len() == new.lines().count()).then_some(())?;
    let differing = lines.iter().zip(new.lines()).enumerate().filter(|(_, (old, new))| *old != new);
    differing.map(|(at, (_, new))| place(file.path, &lines, at, new)).collect()
}

/// Returns whether two texts of JSON say their members in the same order, which `exports` of npm goes by.
fn is_in_order(old: &str, new: &str, found: &[Place]) -> bool {
    let pieces = |text: &str| -> Vec<String> {
        text.split('"').map(|piece| piece.split_whitespace().collect()).collect()
    };
    let (old, new) = (pieces(old), pieces(new));
    let bumped =
        |old: &str, new: &str| found.iter().any(|one| old.replace(&one.bump.old, &one.bump.new) == new);
    old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old == new || bumped(old, new))
}

/// Compares two values of JSON; false where they differ by more than versions. `above` are the keys that lead to them.
fn members(old: &Value, new: &Value, above: &mut Vec<String>, found: &mut Vec<Place>) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let name = |of: &serde_json::Map<String, Value>| Some(of.get("name")?.as_str()?.to_owned());
            let keys_are_same = old.len() == new.len() && old.keys().all(|key| new.contains_key(key));
            let own = is_own_object(above).then(|| name(old).unwrap_or_default());
            keys_are_same
                && old.iter().all(|(key, value)| {
                    let Value::String(version) = value else {
                        above.push(key.clone());
                        let same = members(value, &new[key], above, found);
                        above.pop();
                        return same;
                    };
                    if value == &new[key] {
                        return true;
                    }
                    let Some(differs) = new[key].as_str().and_then(|new| bump(version, new)) else {
                        return false;
                    };
                    let declares = key == "version" && own.is_some();
                    let name = own.clone().unwrap_or_default();
                    found.push(Place { bump: Bump { name, ..differs }, key: key.clone(), declares });
                    true
                })
        }
        (old, new) => old == new,
    }
}

/// The top of a file, or a package of a lock file that lies in the repository itself.
fn is_own_object(above: &[String]) -> bool {
    match above {
        [] => true,
        [packages, path] => packages == "packages" && !path.split('/').any(|part| part == "node_modules"),
        [_] | [_, _, ..] => false,
    }
}

/// The place of one line that differs; `None` where more than a version differs.
fn place(path: &[u8], lines: &[&str], at: usize, new: &str) -> Option<Place> {
    let old = lines[at];
    let differs = bump(old, new)?;
    let name = block(lines, at).into_iter().find(|line| key(line) == "name").map(value).unwrap_or_default();
    Some(Place { bump: Bump { name, ..differs }, key: key(old), declares: declares(path, lines, at) })
}

/// The versions by which two texts differ, where nothing else does.
fn bump(old: &str, new: &str) -> Option<Bump> {
    let ((old_rest, old), (new_rest, new)) = (version_in(old)?, version_in(new)?);
    (old_rest == new_rest && old != new).then(|| Bump { name: String::new(), old, new })
}

/// The only version in a text, and the text around it.
fn version_in(text: &str) -> Option<(String, String)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+');
    let is_version = |word: &str| {
        let mut parts = word.splitn(3, '.');
        let number =
            |part: Option<&str>| part.is_some_and(|part| part.starts_with(|one: char| one.is_ascii_digit()));
        number(parts.next().map(|part| part.strip_prefix('v').unwrap_or(part))) && number(parts.next())
    };
    let mut words = text.split(|letter| !is_part(letter)).filter(|word| is_version(word));
    let version = words.next().filter(|_| words.next().is_none())?.trim_start_matches('v');
    let (before, after) = text.split_once(version)?;
    Some((format!("{before}\0{after}"), version.to_owned()))
}

/// The text before the value of a line: a word, a tag or a dotted name, by its last part.
fn key(line: &str) -> String {
    let line = version_in(line).map_or_else(|| line.to_owned(), |(rest, _)| rest);
    let before = line.split(['=', ':', '>', '(', '\0']).next().unwrap_or_default();
    let is_mark = |one: char| one.is_whitespace() || "<@-\"'_$".contains(one);
    let before = before.trim_matches(is_mark);
    // A scoped name of npm, such as `@x/a`, is no dotted one.
    let last =
        if before.contains('/') { before } else { before.rsplit([' ', '.']).next().unwrap_or_default() };
    last.trim_matches(is_mark).to_owned()
}

fn value(line: &str) -> String {
    let value = line.split_once(['=', ':']).map_or("", |(_, value)| value);
    value.trim().trim_matches(['"', '\'', ',']).to_owned()
}

/// Returns whether the line declares the version of the project: by its key, outside of what is said of a dependency.
fn declares(path: &[u8], lines: &[&str], at: usize) -> bool {
    let (name, line) = (file_name(path), lines[at]);
    let stem = name.split('.').next().unwrap_or_default().trim_matches('_');
    let key = key(line);
    let is_named = |names: &[&str]| names.iter().any(|one| key.eq_ignore_ascii_case(one));
    if stem == "version" {
        return is_named(&["", "version"]);
    }
    let ending = name.rsplit('.').next().unwrap_or_default();
    match ending {
        "toml" | "lock" | "cfg" | "ini" | "properties" => {
            let foreign = |line: &&str| {
                let key = self::key(line);
                let local =
                    ["editable", "virtual", "directory", "path"].iter().any(|word| line.contains(word));
                (key == "source" && !local)
                    || ["checksum", "files", "hash", "sdist", "wheels"].contains(&key.as_str())
            };
            let about = lines[..=at].iter().rev().find(|line| line.trim_start().starts_with('['));
            is_named(&["version", "current_version"])
                && about.is_none_or(|about| !about.contains("dependenc"))
                && !block(lines, at).iter().any(foreign)
        }
        "json" => is_named(&["version"]),
        "yaml" | "yml" => is_named(&["version"]) && line.starts_with(|first: char| !first.is_whitespace()),
        "xml" | "csproj" | "fsproj" | "props" => {
            let indent = |line: &str| line.len() - line.trim_start().len();
            let outer =
                lines[..at].iter().rev().find(|one| !one.trim().is_empty() && indent(one) < indent(line));
            let outer = outer.map(|outer| self::key(outer).to_lowercase()).unwrap_or_default();
            is_named(&["version"]) && ["project", "propertygroup"].iter().any(|one| outer.starts_with(one))
        }
        _ => {
            let declared = line.trim_start().trim_start_matches(['@', ' ']);
            declared.starts_with("__version__")
                || key == "VERSION"
                || (is_named(&["version"]) && (["setup", "mix"].contains(&stem) || ending == "gemspec"))
        }
    }
}

/// The lines around line `at`, from one header or empty line to the next.
fn block<'a>(lines: &[&'a str], at: usize) -> Vec<&'a str> {
    let ends = |line: &&&str| line.trim().is_empty() || line.trim_start().starts_with('[');
    let from = at - lines[..at].iter().rev().take_while(|line| !ends(line)).count();
    lines[from..].iter().take_while(|line| !ends(line)).copied().collect()
}

#[cfg(test)]
mod tests;
