//! Tables of counts: a line of names, and rows whose numbers end where the names do, or are between the same rules.

use super::line::Kind;

/// The columns of a table by their places, until its rows end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table(Vec<(usize, String)>);

impl Table {
    /// A row in words, each number behind the name of its column. Any other line may name the columns of a table.
    pub(super) fn row(&mut self, line: &str) -> Option<String> {
        let has_number = line.contains(|one: char| one.is_ascii_digit());
        if !has_number || self.0.is_empty() {
            let is_rule = line.contains(['│', '┼', '|']) && !line.contains(char::is_alphanumeric);
            if !is_rule {
                self.0 = if has_number { Vec::new() } else { columns(line) };
            }
            return None;
        }
        let name = |place| self.0.iter().find(|(column, _)| *column == place).map(|(_, name)| name);
        let named = cells(line).filter_map(|(place, cell)| Some(format!("; {}: {cell}", name(place)?)));
        Some(cells(line).take(1).map(|(_, label)| label.to_owned()).chain(named).collect())
    }
}

/// True for a line whose cells stand between rules: `│ PASS │ 0.01s │ 2 │`.
pub(super) fn is_ruled(line: &str) -> bool {
    line.matches(['│', '|', '┃']).count() > 2
}

/// The words of a line that names a column of tests that passed beside one of all or of those that failed.
fn columns(line: &str) -> Vec<(usize, String)> {
    let words: Vec<_> = cells(line).map(|(place, word)| (place, word.to_ascii_lowercase())).collect();
    let has = |kinds: &[Kind]| {
        words.iter().any(|(_, word)| Kind::of(word).is_some_and(|kind| kinds.contains(&kind)))
    };
    if has(&[Kind::Passed]) && has(&[Kind::Total, Kind::Failed]) { words } else { Vec::new() }
}

/// The cells of a line, each with its number between rules, or else its right edge.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let ruled = is_ruled(line);
    let mut place = 0;
    line.split(move |one| if ruled { matches!(one, '│' | '|' | '┃') } else { one == ' ' }).filter_map(
        move |cell| {
            place += if ruled { 1 } else { cell.chars().count() + 1 };
            let cell = cell.trim();
            (!cell.is_empty()).then_some((place, cell))
        },
    )
}
