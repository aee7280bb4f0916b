//! Pages are read by people in a hurry: no paragraph is a wall, one notion has one word, and the site shows every page.

use std::path::Path;

use super::{links, pages};

/// Words of a paragraph, an item of a list or a cell of a table.
const LONGEST_PARAGRAPH: usize = 120;
/// What a person gives a halt is an answer. These stay names of keys and commands, which are code.
const OTHER_WORDS: [&str; 4] = ["acknowledg", " ack ", "unacknowledged", "responds to a halt"];

/// The paragraphs, items and cells of a text without code blocks.
fn paragraphs(prose: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in prose.lines() {
        let line = line.trim();
        if line.starts_with('|') {
            found.extend(line.split(" | ").map(str::to_owned));
        }
        let begins_anew = line.is_empty() || line.starts_with(['#', '|']);
        if begins_anew || line.starts_with("- ") || line.starts_with(|one: char| one.is_ascii_digit()) {
            found.push(String::new());
        }
        if !begins_anew {
            let last = found.last_mut().expect("begins with one");
            last.push(' ');
            last.push_str(line);
        }
    }
    found
}

#[test]
fn no_paragraph_is_a_wall() {
    for path in links::documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for paragraph in paragraphs(&links::prose(&text)) {
            let words = paragraph.split_whitespace().count();
            assert!(words <= LONGEST_PARAGRAPH, "{}: {words} words: {paragraph}", path.display());
        }
    }
    let wall = "word ".repeat(60);
    assert_eq!(paragraphs(&format!("{wall}\n{wall}\n\n- {wall}")).len(), 3);
    assert!(paragraphs(&format!("{wall}\n{wall}"))[0].split_whitespace().count() == 120);
}

/// Words of Andon's own, each with how it is written where it is not an ordinary word.
const OWN_WORDS: [(&str, &str); 7] = [
    ("iteration", r"(?i-u)\biterations?\b"),
    ("turn", r"(?i-u)\b(?:a|the|each|one|of|per|its|this|that|new|next|last|no|every|whose) turns?\b"),
    ("window", r"(?i-u)\b(?:the|a|new|newest|this) window\b"),
    ("episode", r"(?i-u)\bepisodes?\b"),
    ("gate", r"(?i-u)\bgates?\b"),
    ("receipt", r"(?i-u)\breceipts?\b"),
    ("dirty bit", r"(?i-u)\bdirty bits?\b"),
];

/// The line, from 0, that first uses one of these words outside of code, headings and pictures.
fn first_own_word(prose: &str) -> Option<usize> {
    let words = OWN_WORDS.map(|(_, pattern)| regex::Regex::new(pattern).unwrap());
    let target = regex::Regex::new(r"\]\([^)]*\)").unwrap();
    let uses = |line: &str| {
        let text: String = line.split('`').step_by(2).collect();
        words.iter().any(|word| word.is_match(&target.replace_all(&text, "]")))
    };
    prose.lines().position(|line| !line.starts_with(['#', '[']) && uses(line))
}

/// Pages that explain the words, or that are lists of what other pages explain.
const NO_LINK: [&str; 5] = ["glossary.md", "SUMMARY.md", "cli.md", "spec-map.md", "cli/"];

#[test]
fn words_of_our_own_are_explained_at_their_first_use() {
    let mut seen = 0;
    for path in pages() {
        let name = path.to_string_lossy();
        if NO_LINK.iter().any(|part| name.contains(&format!("docs/{part}"))) {
            continue;
        }
        let prose = links::prose(&std::fs::read_to_string(&path).unwrap());
        let Some(first) = first_own_word(&prose) else { continue };
        let linked =
            prose.lines().position(|line| ["glossary.md", "concepts.md#"].iter().any(|to| line.contains(to)));
        assert!(
            linked.is_some_and(|linked| linked <= first),
            "{name} needs a link to the glossary at: {}",
            prose.lines().nth(first).unwrap_or_default()
        );
        seen += 1;
    }
    assert!(seen > 30, "{seen} pages use the words");
    let glossary =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/glossary.md")).unwrap();
    for (word, _) in OWN_WORDS {
        assert!(glossary.contains(&format!("\n| {word} | ")), "{word}");
    }
    assert_eq!(first_own_word("# The gate\n`turn` and in turn\nthe next turn"), Some(2));
}

#[test]
fn what_a_person_gives_a_halt_is_an_answer() {
    for path in pages() {
        let text = links::prose(&std::fs::read_to_string(&path).unwrap());
        let words: String = text.split('`').step_by(2).collect::<String>().to_lowercase();
        for other in OTHER_WORDS {
            assert!(!words.contains(other), "{}: {other}", path.display());
        }
    }
}

#[test]
fn the_site_shows_every_page_once() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for path in pages().iter().filter_map(|path| path.strip_prefix(&docs).ok()) {
        let link = format!("]({})", path.display());
        let expected = usize::from(path != Path::new("SUMMARY.md"));
        assert_eq!(summary.matches(&link).count(), expected, "{link}");
    }
}

#[test]
fn pages_name_the_rust_that_is_needed() {
    let rust = env!("CARGO_PKG_RUST_VERSION");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, words) in [
        ("README.md", format!("badge/rust-{rust}%2B")),
        ("CONTRIBUTING.md", format!("Rust {rust} or newer")),
        ("docs/install.md", format!("Rust {rust} or newer")),
        ("docs/versions.md", format!("| {rust} (`rust-version`")),
    ] {
        assert!(std::fs::read_to_string(root.join(page)).unwrap().contains(&words), "{page}: {words}");
    }
}
