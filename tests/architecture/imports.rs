//! Ranks, purity, doors, cycles, the registry of rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{self, Door, Nature, Violation};
use crate::scan::{Place, Reference};
use crate::source::Source;

/// What is wrong with the imports of one file.
pub fn check(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    for reference in &source.scan.references {
        found.extend(rank(source, reference));
        found.extend(other_verb(source, reference));
        found.extend(library(source, reference));
        found.extend(purity(source, reference));
        found.extend(house::DOORS.iter().filter_map(|door| closed_door(source, reference, door)));
    }
    for named in &source.scan.macros {
        if house::PRINTING_MACROS.contains(&named.name.as_str())
            && !house::is_at(&source.path, house::PRINTING_AT)
        {
            let message = format!("`{}!` prints; only {} does", named.name, house::PRINTING_AT.join(", "));
            found.push(violation(source, named.line, "door", message));
        }
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
    let nature = match &source.library {
        Some(library) => house::library(library),
        None => source.top().and_then(house::module).map(|(_, nature)| nature),
    };
    nature == Some(Nature::Pure)
}

/// A library has a nature, and does not import the package that uses it.
fn library(source: &Source, reference: &Reference) -> Option<Violation> {
    let library = source.library.as_deref()?;
    if house::library(library).is_none() {
        let message =
            format!("library `{library}` has no nature; give it one in tests/architecture/house.rs");
        return Some(violation(source, reference.line, "unranked", message));
    }
    (reference.path.first()? == "andon").then(|| {
        let message = format!("`{library}` is a library of its own and imports `andon`");
        violation(source, reference.line, "upward", message)
    })
}

/// A top module may import only from lower ranks.
fn rank(source: &Source, reference: &Reference) -> Option<Violation> {
    let own = source.top()?;
    if reference.through_alias || reference.path.first().is_none_or(|first| first != "crate") {
        return None;
    }
    let at = |rule, message| Some(violation(source, reference.line, rule, message));
    let Some((rank, _)) = house::module(own) else {
        return at(
            "unranked",
            format!("module `{own}` has no rank; give it one in tests/architecture/house.rs"),
        );
    };
    let Some(other) = reference.path.get(1) else {
        let hides = reference.place != Place::Code;
        return hides
            .then(|| at("root", "importing the crate root hides which module is used".into()))
            .flatten();
    };
    if other == own {
        return None;
    }
    match house::module(other) {
        None => {
            at("unranked", format!("`crate::{other}` is no module with a rank: the root re-exports nothing"))
        }
        Some((theirs, _)) if theirs > rank => at("upward", wrong_rank(own, rank, other, theirs)),
        Some((theirs, _)) if theirs == rank => at("sideways", wrong_rank(own, rank, other, theirs)),
        Some((_, Nature::Impure)) if is_pure(source) => {
            at("impure", format!("`{own}` is pure and imports `{other}`, which is not"))
        }
        Some(_) => None,
    }
}

fn wrong_rank(own: &str, rank: u8, other: &str, theirs: u8) -> String {
    format!("`{own}` (rank {rank}) imports `{other}` (rank {theirs}); only lower ranks may be imported")
}

/// A verb imports no other verb: what two of them need belongs to the engine.
fn other_verb(source: &Source, reference: &Reference) -> Option<Violation> {
    let own = source.module.get(1).filter(|_| source.top() == Some(house::VERBS))?;
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

/// Files of one top module that import each other in a circle. A parent and its own children do not count:
/// a parent declares them, and what it re-exports is theirs.
pub fn cycles(sources: &[&Source]) -> Vec<Violation> {
    let modules: BTreeMap<&[String], &Source> = sources
        .iter()
        .filter(|source| !source.module.is_empty())
        .map(|source| (&source.module[..], *source))
        .collect();
    let edges: BTreeMap<&[String], BTreeSet<&[String]>> =
        modules.iter().map(|(module, source)| (*module, uses(source, &modules))).collect();
    let mut found = Vec::new();
    for (module, source) in &modules {
        if reaches(module, module, &edges) {
            let message = format!("`{}` is part of a circle of imports", module.join("::"));
            found.push(violation(source, 1, "cycle", message));
        }
    }
    found
}

fn uses<'a>(source: &Source, modules: &BTreeMap<&'a [String], &'a Source>) -> BTreeSet<&'a [String]> {
    let inside = |reference: &&Reference| reference.path.first().is_some_and(|first| first == "crate");
    let paths = source.scan.references.iter().filter(inside).map(|reference| &reference.path[1..]);
    let nearest = |path: &[String]| {
        (1..=path.len())
            .rev()
            .find_map(|length| modules.get_key_value(&path[..length]).map(|(module, _)| *module))
    };
    paths
        .filter_map(nearest)
        .filter(|module| !module.starts_with(&source.module) && !source.module.starts_with(module))
        .collect()
}

fn reaches(from: &[String], wanted: &[String], edges: &BTreeMap<&[String], BTreeSet<&[String]>>) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&[String]> = vec![from];
    while let Some(module) = waiting.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if *next == wanted {
                return true;
            }
            if seen.insert(*next) {
                waiting.push(next);
            }
        }
    }
    false
}

/// Every file of `src/detect/rules/` is named in the value of `REGISTRY`.
pub fn unregistered_rules(sources: &[Source]) -> Vec<Violation> {
    let in_detect = |source: &&Source| source.top() == Some("detect");
    let registered: BTreeSet<&String> =
        sources.iter().filter(in_detect).flat_map(|source| &source.scan.registry).collect();
    sources
        .iter()
        .filter(|source| matches!(&source.module[..], [top, dir, _] if top == "detect" && dir == "rules"))
        .filter(|source| source.module.last().is_some_and(|rule| !registered.contains(rule)))
        .map(|source| violation(source, 1, "unregistered", "this rule is not in detect's REGISTRY".into()))
        .collect()
}

/// Outside `detect` nobody asks a rule by its name: what is to be known of one is a property that it declares.
pub fn rule_ids(sources: &[Source]) -> Vec<Violation> {
    let (rules, others): (Vec<&Source>, Vec<&Source>) =
        sources.iter().partition(|source| source.top() == Some("detect"));
    let rules = rules.iter().filter(|source| source.path.starts_with("src/detect/rules/"));
    let named = rules.filter_map(|source| source.module.get(2));
    let ids: BTreeSet<String> = named.map(|name| format!("\"{}\"", name.replace('_', "-"))).collect();
    let strings =
        others.iter().flat_map(|source| source.scan.strings.iter().map(move |found| (source, found)));
    let message = |id: &str| format!("{id} is the id of a rule: ask for a property of the rule");
    strings
        .filter(|(_, found)| ids.contains(&found.name))
        .map(|(source, found)| violation(source, found.line, "rule-id", message(&found.name)))
        .collect()
}

fn violation(source: &Source, line: usize, rule: &'static str, message: String) -> Violation {
    Violation { path: source.path.clone(), line, rule, message }
}
