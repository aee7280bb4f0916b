//! The links of the documents of this repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// README.md stays one that is read to its end.
const LONGEST_README: usize = 200;

/// All documents that are kept beside the code.
pub(super) fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "bench/README.md",
        "hooks/README.md",
    ];
    super::pages().into_iter().chain(beside.map(|name| root.join(name))).collect()
}

/// The text without its code blocks.
pub(super) fn prose(document: &str) -> String {
    document.split("\n```").step_by(2).collect()
}

/// The anchors of a document, as forges make them of its headings.
fn anchors(document: &str) -> BTreeSet<String> {
    let headings = prose(document);
    let headings = headings.lines().filter_map(|line| line.strip_prefix('#'));
    let slug = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'));
        kept.map(|one| if one == ' ' { '-' } else { one }).collect()
    };
    headings.map(slug).collect()
}

#[test]
fn links_lead_somewhere() {
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for rest in prose(&text).split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            // An address on the forge, wherever that is.
            if target.contains("://") || target.starts_with("../../actions/") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let found = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(found.exists(), "{}: {target}", path.display());
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&found).unwrap());
                assert!(there.contains(anchor), "{}: {target}: {there:?}", path.display());
            }
        }
    }
}

#[test]
fn the_readme_can_be_read_to_its_end() {
    let readme = std::fs::read_to_string(&super::pages()[0]).unwrap();
    assert!(readme.lines().count() <= LONGEST_README, "{} lines", readme.lines().count());
}

/// Every source file of this repository.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn comments_cite_pages_that_are_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in ["src", "tests", "benches", "bench", "crates"] {
        if !root.join(dir).exists() {
            continue;
        }
        sources(&root.join(dir), &mut files);
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
        for word in
            comments.flat_map(|line| line.split(|one: char| !one.is_alphanumeric() && !"/.-_".contains(one)))
        {
            let cited =
                word.strip_prefix("docs/").and_then(|_| word.trim_end_matches('.').strip_suffix(".md"));
            let Some(page) = cited else { continue };
            assert!(root.join(format!("{page}.md")).exists(), "{}: {page}.md", path.display());
        }
    }
}
