//! XML reports: which dialect a document is in is told by its root element.
//!
//! JUnit has a reader of its own, because it is the largest and the loosest of them. The others are a table
//! each: which element inside which means what.

mod ctest;
mod nunit;
mod trx;
mod xunit;

use super::junit;
use super::problem::ReportProblem;
use super::tally::Tally;
use super::xml::{Element, Node, decode, root_name, walk};

/// One of the XML formats: names the elements that matter and takes their text.
trait Dialect {
    /// What an open element is.
    type Tag: Copy;

    /// An element begins inside another; `None` for the root.
    fn open(&mut self, inside: Option<Self::Tag>, element: &Element<'_>) -> Result<Self::Tag, ReportProblem>;

    /// Text directly inside an element.
    fn text(&mut self, at: Self::Tag, text: &str);

    /// An element ends.
    fn close(&mut self, tag: Self::Tag) -> Result<(), ReportProblem>;
}

/// Reads a report into `tally`. What was read before an error stays there.
pub(super) fn read(bytes: &[u8], name: &str, tally: &mut Tally) -> Result<(), ReportProblem> {
    let text = decode(bytes)?;
    match root_name(&text).as_deref() {
        Some("Site") => ctest::read(&text, name, tally),
        Some("test-run" | "test-results") => nunit::read(&text, name, tally),
        Some("assemblies") => xunit::read(&text, name, tally),
        Some("TestRun") => trx::read(&text, name, tally),
        Some(_) | None => junit::read(&text, name, tally),
    }
}

fn drive<D: Dialect>(text: &str, dialect: &mut D) -> Result<(), ReportProblem> {
    let mut open: Vec<D::Tag> = Vec::new();
    walk(text, |node| match node {
        Node::Open(element) => {
            let tag = dialect.open(open.last().copied(), &element)?;
            open.push(tag);
            Ok(())
        }
        Node::Text(text) => {
            if let Some(tag) = open.last() {
                dialect.text(*tag, &text);
            }
            Ok(())
        }
        Node::Close => open.pop().map_or(Ok(()), |tag| dialect.close(tag)),
    })
}

/// The number that an attribute holds; 0 when it is absent or no number.
fn number(element: &Element<'_>, attribute: &str) -> u64 {
    element.attribute(attribute).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The value of an attribute, bounded; empty when it is absent.
fn value(element: &Element<'_>, attribute: &str) -> String {
    let value = element.attribute(attribute).unwrap_or_default();
    super::cases::bounded(&value).to_owned()
}

#[cfg(test)]
mod tests;
