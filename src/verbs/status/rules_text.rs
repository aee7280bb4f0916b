//! `andon status --rules`: the rules with their halts.

use crate::json::RuleCountsJson;
use crate::view::status::RuleCount;
use andon_core::domain::findings::Level;
use andon_core::escape::terminal_clip;
use andon_engine::text::page::Page;
use andon_engine::text::style::Style;

/// Columns of a name.
const NAME: usize = 40;

/// The counts for a person.
pub fn text(counts: &[RuleCount], style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.dim(&format!("{:<24} {:<6} {:>6} {:>9}", "rule", "level", "halts", "mistaken")));
    for count in counts {
        let level = count.level.map_or("?", Level::as_str);
        let (rule, halts, mistaken) = (terminal_clip(&count.rule, NAME), count.halts, count.mistaken);
        page.line(&format!("{rule:<24} {level:<6} {halts:>6} {mistaken:>9}"));
    }
    page.finish()
}

/// The counts for a program: `andon/rules@1`.
pub fn json(counts: &[RuleCount]) -> RuleCountsJson<'_> {
    RuleCountsJson { schema: "andon/rules@1", rules: counts }
}
