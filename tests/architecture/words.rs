//! Names of modules and types, and what documents them.

use std::collections::BTreeMap;

use crate::house::{EMPTY_NAMES, PLAIN_DOCS, SHARED_NAMES, Violation, is_at};
use crate::source::Source;

/// What is wrong with the names and the documentation of one file.
pub fn check(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add =
        |line, rule, message| found.push(Violation { path: source.path.clone(), line, rule, message });
    let own = source.module.last().map(|name| (name, 1));
    let inner = source.scan.modules.iter().map(|named| (&named.name, named.line));
    for (name, line) in own.into_iter().chain(inner) {
        if EMPTY_NAMES.contains(&name.as_str()) {
            add(line, "empty-name", format!("`{name}` says nothing about what the module is for"));
        }
    }
    let is_bound = is_at(&source.path, PLAIN_DOCS);
    for doc in source.docs.iter().filter(|doc| is_bound && is_filler(&doc.text)) {
        let message = format!("{:?} says nothing: write what cannot be seen, or nothing", doc.text);
        add(doc.line, "filler", message);
    }
    for doc in source.docs.iter().filter(|doc| is_noun_clause(&doc.text)) {
        add(doc.line, "noun-clause", format!("{:?}: a sentence with a subject, or nothing", doc.text));
    }
    found
}

/// "Whether a halt stands.", "What is said at each commit.", "Where the journal is.": a clause without a sentence around it.
fn is_noun_clause(text: &str) -> bool {
    let first = text.split(". ").next().unwrap_or(text);
    let opens = |word: &str| first.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '));
    let is_question = first.ends_with('?');
    // "Where the ledger is lost, the journal is asked." is a sentence.
    !is_question
        && (["What", "Whether", "How", "Why", "Which"].iter().any(|word| opens(word))
            || opens("Where") && !first.contains(','))
}

/// A text that repeats the line below it: "The file.", "It does.", "Why."
fn is_filler(text: &str) -> bool {
    const OPENINGS: &[&str] = &["the", "its", "a", "an", "one", "that", "it", "they", "what", "how", "where"];
    const QUESTIONS: &[&str] =
        &["why", "when", "where", "what", "which", "who", "whose", "yes", "no", "nothing"];
    const VERBS: &[&str] = &["is", "does", "did", "do", "was", "were", "happened", "ended", "says"];
    let Some(sentence) = text.strip_suffix('.') else { return false };
    let words: Vec<String> = sentence.split(' ').map(str::to_lowercase).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [one] => QUESTIONS.contains(one),
        ["the" | "its" | "a" | "an" | "one" | "that", noun] => {
            noun.chars().all(|c| c.is_alphanumeric() || c == '-')
        }
        [opening, verb] | [opening, "it", verb] | [opening, verb, "not"] => {
            OPENINGS.contains(opening) && VERBS.contains(verb)
        }
        _ => false,
    }
}

/// Public types of one name: a reader has to find out which one is meant.
pub fn check_all(sources: &[Source]) -> Vec<Violation> {
    let mut places = BTreeMap::<_, Vec<(&Source, usize)>>::new();
    for source in sources {
        for named in &source.types {
            let key = (source.library.as_deref(), named.name.as_str());
            places.entry(key).or_default().push((source, named.line));
        }
    }
    let mut found = Vec::new();
    for ((_, name), places) in places.into_iter().filter(|((_, name), _)| !SHARED_NAMES.contains(name)) {
        for ((source, line), (other, _)) in places.iter().skip(1).zip(&places) {
            let message = format!("`{name}` is also the name of a public type in {}", other.path);
            found.push(Violation { path: source.path.clone(), line: *line, rule: "same-name", message });
        }
    }
    found
}
