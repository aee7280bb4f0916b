//! Circles of imports within a crate, the registry of rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{self, Violation};
use crate::scan::Reference;
use crate::source::Source;

/// Files of one crate that import each other in a circle. A parent and its own children do not count:
/// a parent declares them. A public type leads to its own file, whichever module above it is named; but the errors of a
/// parent are everyone's below it.
pub fn cycles<'a>(sources: &[&'a Source]) -> Vec<Violation> {
    let modules: BTreeMap<&[String], &'a Source> = sources
        .iter()
        .filter(|source| !source.module.is_empty())
        .map(|source| (&source.module[..], *source))
        .collect();
    let types = |source: &&'a Source| source.types.iter().map(|named| (&named.name[..], &source.module[..]));
    let homes: BTreeMap<&str, &[String]> = modules.values().flat_map(types).collect();
    let edges: BTreeMap<&[String], BTreeSet<&[String]>> =
        modules.iter().map(|(module, source)| (*module, uses(source, &modules, &homes))).collect();
    let mut found = Vec::new();
    for (module, source) in &modules {
        if reaches(module, module, &edges) {
            let message = format!("`{}` is part of a circle of imports", module.join("::"));
            found.push(violation(source, 1, "cycle", message));
        }
    }
    found
}

fn uses<'a>(
    source: &Source,
    modules: &BTreeMap<&'a [String], &'a Source>,
    homes: &BTreeMap<&str, &'a [String]>,
) -> BTreeSet<&'a [String]> {
    let inside = |reference: &&Reference| reference.path.first().is_some_and(|first| first == "crate");
    let paths = source.scan.references.iter().filter(inside).map(|reference| &reference.path[1..]);
    let nearest = |path: &[String]| {
        (1..=path.len())
            .rev()
            .find_map(|length| modules.get_key_value(&path[..length]).map(|(module, _)| *module))
    };
    let home = |path: &[String]| {
        let above = nearest(path);
        let of_type = path.iter().find_map(|name| homes.get(&name[..]).copied());
        let is_below = |home: &&[String]| home.starts_with(above.unwrap_or_default());
        let is_parent = source.module.starts_with(above.unwrap_or_default());
        let is_error = |home: &&[String]| home.last().is_some_and(|file| file == "error");
        of_type.filter(is_below).filter(|home| !(is_parent && is_error(home))).or(above)
    };
    paths
        .filter_map(home)
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

/// Every file of `rules/` is named in the value of `REGISTRY`.
pub fn unregistered_rules(sources: &[Source]) -> Vec<Violation> {
    let in_detect = |source: &&Source| source.path.starts_with(house::RULES);
    let registered: BTreeSet<&String> =
        sources.iter().filter(in_detect).flat_map(|source| &source.scan.registry).collect();
    sources
        .iter()
        .filter(in_detect)
        .filter(|source| matches!(&source.module[..], [_, dir, _] if dir == "rules"))
        .filter(|source| source.module.last().is_some_and(|rule| !registered.contains(rule)))
        .map(|source| violation(source, 1, "unregistered", "this rule is not in detect's REGISTRY".into()))
        .collect()
}

/// Outside `detect` no code names a rule: everything that other code needs is a property that the rule declares.
pub fn rule_ids(sources: &[Source]) -> Vec<Violation> {
    let (rules, others): (Vec<&Source>, Vec<&Source>) =
        sources.iter().partition(|source| source.path.starts_with(house::RULES));
    let rules = rules.iter().filter(|source| source.module.get(1).is_some_and(|dir| dir == "rules"));
    let files = rules.filter_map(|source| source.module.get(2));
    // The rules of a file of several are named by their statics, the one of a file of its own is called RULE.
    let is_own = |word: &&String| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let registered = sources.iter().flat_map(|source| &source.scan.registry);
    let rows = registered.filter(is_own).filter(|word| !matches!(&word[..], "RULE" | "REGISTRY"));
    let id = |name: &String| format!("\"{}\"", name.to_lowercase().replace('_', "-"));
    let ids: BTreeSet<String> = files.chain(rows).map(id).collect();
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
