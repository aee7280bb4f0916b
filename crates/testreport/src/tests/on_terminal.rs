//! The output of a runner on a terminal is read as that into a pipe.

use super::{run, samples::SAMPLES};

/// The text with every word in colour, lines that end as on a terminal, and progress that is drawn over.
fn drawn(text: &str) -> String {
    let coloured = |word: &str| {
        if word.trim().is_empty() { word.to_owned() } else { format!("\x1b[1;32m{word}\x1b(B\x1b[m\x0f") }
    };
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(coloured).collect();
        format!("\x1b[?25l\x1b[2K\r{}\x1b[K\r\n", words.join(" "))
    };
    text.lines().map(line).collect()
}

#[test]
fn colours_and_redraws_change_nothing() {
    let text = |name: &str| ["tap/", "libtest/", "text-"].iter().any(|kind| name.starts_with(kind));
    for ((name, bytes), ..) in SAMPLES.into_iter().filter(|((name, _), ..)| text(name)) {
        let plain = run(bytes, b"", &[], 1);
        let shown = run(drawn(&String::from_utf8_lossy(bytes)).as_bytes(), b"", &[], 1);
        assert_eq!(shown, plain, "{name}");
    }
}
