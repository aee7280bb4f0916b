//! Marked lines in files of others: put in at one place, taken out again byte for byte.

/// Begins the lines that are ours, behind any indentation.
pub const BEGIN: &str = "# >>> andon (andon uninstall takes these lines out)";
/// Ends them.
pub const END: &str = "# <<< andon";
/// What a first line is known by, should its wording change.
const MARK: &str = "# >>> andon";

/// Lines between the marks, each indented by `indent` spaces.
pub fn marked(indent: usize, lines: &str) -> String {
    let pad = " ".repeat(indent);
    let body: String = lines
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{pad}{line}\n") })
        .collect();
    format!("{pad}{BEGIN}\n{body}{pad}{END}\n")
}

/// `text` without the inserted lines: `known` byte for byte, then everything between marks.
pub fn strip(text: &[u8], known: &[String]) -> Vec<u8> {
    let mut rest = text.to_vec();
    for inserted in known.iter().filter(|inserted| !inserted.is_empty()) {
        if let Some(at) = find(&rest, inserted.as_bytes()) {
            rest.drain(at..at + inserted.len());
        }
    }
    strip_marked(&rest)
}

/// Whether marked lines are there.
pub fn is_in(text: &[u8]) -> bool {
    find(text, MARK.as_bytes()).is_some()
}

fn strip_marked(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut waiting: Vec<u8> = Vec::new();
    let mut inside = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let words = line.trim_ascii();
        if inside {
            waiting.extend_from_slice(line);
            if words == END.as_bytes() {
                inside = false;
                waiting.clear();
            }
        } else if words.starts_with(MARK.as_bytes()) {
            inside = true;
            waiting.extend_from_slice(line);
        } else {
            kept.extend_from_slice(line);
        }
    }
    // A mark without its end is not ours to judge.
    kept.extend_from_slice(&waiting);
    kept
}

/// Position of `part` in `text`.
pub fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// `text` with `block` at `at`, behind a line end that is added where there is none. Returns what was put in, too.
pub fn insert(text: &[u8], at: usize, block: &str) -> (Vec<u8>, String) {
    let (before, after) = text.split_at(at);
    let opened = !before.is_empty() && !before.ends_with(b"\n");
    let crlf = find(text, b"\r\n").is_some();
    let mut inserted = if opened { format!("\n{block}") } else { block.to_owned() };
    if crlf {
        inserted = inserted.replace('\n', "\r\n");
    }
    ([before, inserted.as_bytes(), after].concat(), inserted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_byte_for_byte() {
        let block = marked(2, "one\n\n  two\n");
        for text in ["", "a\n", "a", "a\n\n\nb", "a\r\nb\r\n", "a\r\nb", "\u{fffd}\n"] {
            for at in [0, text.len()] {
                let (changed, inserted) = insert(text.as_bytes(), at, &block);
                assert!(is_in(&changed));
                assert_eq!(strip(&changed, &[inserted]), text.as_bytes(), "{text:?} at {at}");
            }
            // Without the manifest the marks tell, but for a line end that was missing.
            let (changed, _) = insert(text.as_bytes(), text.len(), &block);
            let stripped = strip(&changed, &[]);
            assert_eq!(stripped.trim_ascii_end(), text.as_bytes().trim_ascii_end(), "{text:?}");
        }
    }

    #[test]
    fn a_mark_without_its_end_stays() {
        let open = format!("a\n{BEGIN}\nb\n");
        assert_eq!(strip(open.as_bytes(), &[]), open.as_bytes());
        let edited = format!("a\n{BEGIN}\nmine\n{END}\nb\n");
        assert_eq!(strip(edited.as_bytes(), &["something else".to_owned()]), b"a\nb\n");
    }
}
