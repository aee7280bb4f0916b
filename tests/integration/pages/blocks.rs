//! The code blocks of a page.

/// A fenced block.
pub(super) struct Block {
    /// The first word behind the fence.
    pub(super) language: String,
    /// The second: the file that the block is written to.
    pub(super) file: Option<String>,
    pub(super) text: String,
}

/// A command, and the lines that the page shows for it.
pub(super) struct Step {
    pub(super) command: String,
    pub(super) shown: Vec<String>,
}

/// The blocks of a page, in order.
pub(super) fn read(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut words = info.split_whitespace().map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let file = words.next();
        let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        blocks.push(Block { language, file, text });
    }
    blocks
}

/// The steps of a `console` block.
pub(super) fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
            None => steps.last_mut().expect("a block begins with a command").shown.push(line.to_owned()),
        }
    }
    steps
}

/// Whether `found` is as shown: `...` matches any number of lines, and at the end of a line its rest.
pub(super) fn matches(shown: &[String], found: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return found.is_empty() };
    if first == "..." {
        return (0..=found.len()).any(|skip| matches(rest, &found[skip..]));
    }
    let Some((line, found)) = found.split_first() else { return false };
    let same = match first.strip_suffix("...") {
        Some(start) => line.starts_with(start),
        None => first == line,
    };
    same && matches(rest, found)
}

#[test]
fn dots_stand_for_lines_and_for_the_rest_of_a_line() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (shown, found, same) in [
        ("a\nb", "a\nb", true),
        ("a", "a\nb", false),
        ("a\n...", "a\nb\nc", true),
        ("...\nc", "a\nb\nc", true),
        ("a ...", "a thing", true),
        ("...", "", true),
        ("", "a", false),
    ] {
        assert_eq!(matches(&lines(shown), &found.lines().collect::<Vec<_>>()), same, "{shown:?} {found:?}");
    }
}

#[test]
fn a_fence_names_language_and_file() {
    let blocks = read("text\n```bash loop.sh\na\n\nb\n```\n```\nc\n```\n");
    let found: Vec<_> = blocks
        .iter()
        .map(|block| (block.language.as_str(), block.file.as_deref(), block.text.as_str()))
        .collect();
    assert_eq!(found, [("bash", Some("loop.sh"), "a\n\nb\n"), ("", None, "c\n")]);
}
