//! XML reports: [`walk`] reads documents, and their root element decides the dialect.
//!
//! JUnit has a reader of its own, because it is the largest and the loosest of them. The others are a table
//! each: which element inside which means what.

mod ctest;
mod junit;
mod nunit;
mod output;
mod pieces;
mod trx;
mod walk;
mod xunit;

pub(super) use self::output::XmlOutput;
use self::walk::{Element, Node, Walk};
use self::{ctest::CtestReader, junit::JunitReader, nunit::NunitReader, trx::TrxReader, xunit::XunitReader};
use crate::{Format, ReportProblem, Root, WordList, cases::Cases, tally::Tally, words::PHRASES};

/// A format, most of them a table of paths, such as `/TestRun/Results`, and what each holds.
trait Dialect {
    /// Takes the next node, under the path of the element that begins, ends or holds it.
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>);

    /// No more of the document comes, whether it is whole or not.
    fn end(&mut self, _: &mut Cases) {}

    /// The document is whole: holds what it claims against what it lists.
    fn conclude(&mut self, _: &mut Cases) {}
}

/// A dialect with its cases, and the path of the innermost element that is open.
struct OpenDialect {
    dialect: Box<dyn Dialect>,
    cases: Cases,
    path: String,
}

impl OpenDialect {
    fn node(&mut self, node: Node<'_>) {
        if let Node::Open(element) = &node {
            // No dialect has longer names.
            let name = Some(element.name()).filter(|name| name.len() < 64 && !name.contains('/'));
            self.path.extend(["/", name.unwrap_or("?")]);
        }
        let ends = matches!(node, Node::Close);
        self.dialect.node(&mut self.cases, &self.path, node);
        if ends {
            self.path.truncate(self.path.rfind('/').unwrap_or(0));
        }
    }

    /// The document has ended, well or not. What was read before an error stays.
    fn finish(mut self, read: Result<(), ReportProblem>) -> Tally {
        self.dialect.end(&mut self.cases);
        match read {
            Ok(()) => self.dialect.conclude(&mut self.cases),
            Err(problem) => self.cases.problem(&problem),
        }
        self.cases.tally
    }
}

/// Root elements, with the formats whose they are.
const NAMES: WordList = WordList::section(PHRASES, "roots of XML");

/// The receiver of the nodes of a document: its root element decides the format.
struct Receiver {
    root: Root,
    report: String,
    wanted: Option<Format>,
    format: Option<OpenDialect>,
}

impl Receiver {
    fn node(&mut self, node: Node<'_>) -> Result<(), ReportProblem> {
        if let (None, Node::Open(element)) = (&self.format, &node) {
            self.format = Some(self.format_of(element.name())?);
        }
        if let Some(format) = &mut self.format {
            format.node(node);
        }
        Ok(())
    }

    /// The format whose documents have such a root element.
    fn format_of(&self, root: &str) -> Result<OpenDialect, ReportProblem> {
        let shown: String = root.chars().take(80).collect();
        let mut rows = NAMES.iter().filter_map(|row| row.split_once(' '));
        let named = rows.find(|(known, _)| *known == root).map_or("", |(_, format)| format);
        if let Some(wanted) = self.wanted.map(Format::name).filter(|wanted| *wanted != named) {
            let what = format!("root element <{shown}>, which is not {wanted}");
            return Err(ReportProblem::Unknown(what));
        }
        let (runner, dialect): (&'static str, Box<dyn Dialect>) = match named {
            "junit" => ("junit", Box::<JunitReader>::default()),
            "ctest-xml" => ("ctest-xml", Box::<CtestReader>::default()),
            "nunit" => ("nunit", Box::<NunitReader>::default()),
            "xunit" => ("xunit", Box::<XunitReader>::default()),
            "trx" => ("trx", Box::<TrxReader>::default()),
            _ => return Err(ReportProblem::Unknown(format!("root element <{shown}>"))),
        };
        let cases = Cases::new(&self.root, &self.report, runner);
        Ok(OpenDialect { dialect, cases, path: String::new() })
    }
}

/// Reads an XML report that comes in chunks of text.
pub(super) struct XmlReader {
    walk: Walk,
    receiver: Receiver,
    failed: Option<ReportProblem>,
}

impl XmlReader {
    /// For the report of that name, of a run in the project at `root`. With a format, another is an error.
    pub(super) fn new(root: &Root, report: &str, wanted: Option<Format>) -> Self {
        let (root, report) = (root.clone(), report.to_owned());
        Self { walk: Walk::new(), receiver: Receiver { root, report, wanted, format: None }, failed: None }
    }

    /// True when the root element has ended.
    pub(super) fn is_whole(&self) -> bool {
        self.walk.is_whole()
    }

    /// True when the root element is that of a format that is read.
    pub(super) fn is_known(&self) -> bool {
        self.receiver.format.is_some()
    }

    /// Takes the next chunk. After an error there is nothing more to be read.
    pub(super) fn push(&mut self, text: &str) -> Result<(), ReportProblem> {
        let Self { walk, receiver, failed } = self;
        let read = walk.push(text, &mut |node| receiver.node(node));
        read.inspect_err(|problem| *failed = Some(problem.clone()))
    }

    /// Notes why the report could not be read to its end.
    pub(super) fn fail(&mut self, problem: ReportProblem) {
        self.failed.get_or_insert(problem);
    }

    /// The result, with its problems.
    pub(super) fn finish(self) -> Tally {
        let Self { walk, mut receiver, failed } = self;
        let warning = walk.warning();
        let read = failed.map_or_else(|| walk.finish(&mut |node| receiver.node(node)), Err);
        let Receiver { root, report, format, .. } = receiver;
        let mut tally = match (format, read) {
            (Some(format), read) => format.finish(read),
            (None, Err(problem)) => Tally::unread(&report, &problem, &root),
            (None, Ok(())) => Tally::new(&root),
        };
        if let Some(warning) = warning {
            tally.warn(format!("{report}: {warning}"));
        }
        tally
    }
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
