//! Doors, purity, verbs.

use crate::house::{self, Door, Violation};
use crate::scan::{Place, Reference};
use crate::source::Source;

/// What is wrong with what one file names.
pub fn check(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    for reference in &source.scan.references {
        found.extend(root(source, reference));
        found.extend(other_verb(source, reference));
        found.extend(purity(source, reference));
        found.extend(house::DOORS.iter().filter_map(|door| closed_door(source, reference, door)));
    }
    if is_pure(source) {
        for named in &source.scan.methods {
            if house::IMPURE_METHODS.contains(&named.name.as_str()) {
                let message = format!("`.{}()` looks at the disk, and this module is pure", named.name);
                found.push(violation(source, named.line, "impure", message));
            }
        }
    }
    found
}

fn is_pure(source: &Source) -> bool {
    let of_verb = || {
        let part = source.module.get(2).filter(|_| source.top() == Some(house::VERBS))?;
        let is_it = |name: &&str| part == name || part.ends_with(&format!("_{name}"));
        house::PURE_PARTS.iter().find(|name| is_it(name))
    };
    house::is_at(&source.path, house::PURE) || of_verb().is_some()
}

/// The root of the program re-exports nothing.
fn root(source: &Source, reference: &Reference) -> Option<Violation> {
    let hides = source.library.is_none() && reference.place != Place::Code && reference.path == ["crate"];
    hides.then(|| {
        violation(
            source,
            reference.line,
            "root",
            "importing the crate root hides which module is used".into(),
        )
    })
}

/// A part of a verb imports no other verb: what two of them need belongs to the engine. The file in which the verb begins may ask
/// another verb.
fn other_verb(source: &Source, reference: &Reference) -> Option<Violation> {
    let own = source.module.get(1).filter(|_| source.top() == Some(house::VERBS))?;
    let begins = [format!("src/{}/{own}/mod.rs", house::VERBS), format!("src/{}/{own}.rs", house::VERBS)];
    if begins.contains(&source.path) {
        return None;
    }
    let [root, top, other, ..] = &reference.path[..] else { return None };
    if reference.through_alias || root != "crate" || top != house::VERBS || other == own {
        return None;
    }
    let message = format!("verb `{own}` imports verb `{other}`; what both need belongs to `engine`");
    Some(violation(source, reference.line, "verb", message))
}

/// A pure module names nothing that does I/O.
fn purity(source: &Source, reference: &Reference) -> Option<Violation> {
    if !is_pure(source) {
        return None;
    }
    let target = house::IMPURE.iter().find(|target| names(reference, target))?;
    let message = format!("`{target}` in a pure module; take the value as an argument");
    Some(violation(source, reference.line, "impure", message))
}

/// What a door closes is named only where the door is, and is not handed on from there.
fn closed_door(source: &Source, reference: &Reference, door: &Door) -> Option<Violation> {
    let target = door.targets.iter().find(|target| names(reference, target))?;
    let places = door.at.join(", ");
    if !house::is_at(&source.path, door.at) {
        let message = format!("`{target}`: {} is only for {places}", door.name);
        return Some(violation(source, reference.line, "door", message));
    }
    (reference.place == Place::ReExport).then(|| {
        let message = format!("re-exporting `{target}` opens the door of {places} to everyone");
        violation(source, reference.line, "door", message)
    })
}

/// True when `reference` is `target`, something inside it, or a glob that brings it in.
fn names(reference: &Reference, target: &str) -> bool {
    let target: Vec<&str> = target.split("::").collect();
    let path: Vec<&str> = reference.path.iter().map(String::as_str).collect();
    if path.first() == Some(&"core") && target.first() == Some(&"std") {
        return path
            .get(1..)
            .is_some_and(|rest| target.get(1..).is_some_and(|wanted| rest.starts_with(wanted)));
    }
    path.starts_with(&target) || (reference.glob && target.starts_with(&path))
}

fn violation(source: &Source, line: usize, rule: &'static str, message: String) -> Violation {
    Violation { path: source.path.clone(), line, rule, message }
}
