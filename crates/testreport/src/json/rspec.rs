//! The JSON of RSpec (`--format json`): one document a run.
//!
//! An id is the file and the full description, as in RSpec's text: the places in the file move with the code. Errors
//! outside of examples have no example: the run gave up.

use super::walk::{Document, Node};
use crate::cases::{Case, Cases, bounded};
use crate::tally::{Outcome, TestTime, Trouble, append};

/// An example that is open.
#[derive(Default)]
struct Example {
    description: String,
    full: String,
    file: String,
    status: String,
    class: String,
    message: String,
    /// It is exactly 0 where nothing ran: the clock counts nanoseconds.
    run_time: Option<f64>,
}

/// The claims of the summary.
#[derive(Default)]
struct Summary {
    examples: Option<u64>,
    failures: Option<u64>,
    outside: u64,
}

/// Reads a document as it comes.
#[derive(Default)]
pub(super) struct RspecDocument {
    listed: bool,
    summary: Summary,
    example: Example,
    /// RSpec's words on errors outside of examples.
    messages: String,
}

impl RspecDocument {
    fn text(&mut self, path: &str, text: &str) {
        let example = &mut self.example;
        let into = match path {
            ".examples[].description" => &mut example.description,
            ".examples[].full_description" => &mut example.full,
            ".examples[].file_path" => &mut example.file,
            ".examples[].status" => &mut example.status,
            ".examples[].exception.class" => &mut example.class,
            ".examples[].exception.message" => &mut example.message,
            ".messages[]" => &mut self.messages,
            _ => return,
        };
        append(into, text);
    }

    fn word(&mut self, path: &str, word: &str) {
        let number = word.parse().ok();
        match path {
            ".examples[].run_time" => self.example.run_time = word.parse().ok(),
            ".summary.example_count" => self.summary.examples = number,
            ".summary.failure_count" => self.summary.failures = number,
            ".summary.errors_outside_of_examples_count" => self.summary.outside = number.unwrap_or(0),
            _ => {}
        }
    }

    fn end_example(&mut self, cases: &mut Cases) {
        let Example { description, full, file, status, class, message, run_time } =
            std::mem::take(&mut self.example);
        let outcome = Outcome::told("rspec-json", &status).unwrap_or_default();
        if let Some(seconds) = run_time.filter(|_| outcome == Outcome::Passed) {
            cases.tally.took(if seconds > 0.0 { TestTime::Some } else { TestTime::Nothing });
        }
        let named = bounded(if full.is_empty() { &description } else { &full });
        let file = bounded(file.strip_prefix("./").unwrap_or(&file));
        let id = if file.is_empty() { named.to_owned() } else { [file, "::", named].concat() };
        let message = message.trim();
        // A failed expectation says itself what it is.
        let is_plain = class.is_empty() || class == "RSpec::Expectations::ExpectationNotMetError";
        let error = if is_plain { message.to_owned() } else { format!("{class}: {message}") };
        cases.end(&Case::new(id, outcome).with_error(&error));
    }
}

impl Document for RspecDocument {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        match (path, node) {
            (".examples", Node::Open) => self.listed = true,
            (".examples[]", Node::Close) => self.end_example(cases),
            (_, Node::Text(text)) => self.text(path, text),
            (_, Node::Word(word)) => self.word(path, word),
            (_, Node::Open | Node::Close) => {}
        }
    }

    fn is_sure(&self) -> bool {
        self.listed && self.summary.examples.is_some() && self.summary.failures.is_some()
    }

    fn conclude(&mut self, cases: &mut Cases) {
        let Summary { examples, failures, outside } = std::mem::take(&mut self.summary);
        cases.hold_against(examples.unwrap_or(0), failures.unwrap_or(0));
        if outside > 0 {
            let messages = std::mem::take(&mut self.messages);
            let tally = &mut cases.tally;
            tally.trouble(Trouble::GaveUp);
            tally.run_error(messages.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{no_cut_passes, run, tally};
    use crate::{Counts, TestStatus};

    const FAILING: &str = r#"{"version":"3.13.0","seed":7,"examples":[{"id":"./spec/calc_spec.rb[1:1]","description":"adds","full_description":"Calc adds","status":"passed","file_path":"./spec/calc_spec.rb","line_number":4,"run_time":0.0001,"pending_message":null},{"id":"./spec/calc_spec.rb[1:2]","description":"subtracts","full_description":"Calc subtracts","status":"failed","file_path":"./spec/calc_spec.rb","line_number":8,"run_time":0.01,"pending_message":null,"exception":{"class":"RSpec::Expectations::ExpectationNotMetError","message":"\nexpected: 2\n     got: 1\n\n(compared using ==)\n","backtrace":["/p/spec/calc_spec.rb:9:in `x'"]}},{"id":"./spec/calc_spec.rb[1:3]","description":"divides","full_description":"Calc divides","status":"failed","file_path":"./spec/calc_spec.rb","line_number":12,"run_time":0.01,"pending_message":null,"exception":{"class":"ZeroDivisionError","message":"divided by 0","backtrace":[]}},{"id":"./spec/calc_spec.rb[1:4]","description":"later","full_description":"Calc later","status":"pending","file_path":"./spec/calc_spec.rb","line_number":16,"run_time":0.0,"pending_message":"No reason given"}],"summary":{"duration":0.02,"example_count":4,"failure_count":2,"pending_count":1,"errors_outside_of_examples_count":0},"summary_line":"4 examples, 2 failures, 1 pending"}"#;

    const PASSING: &str = r#"{
  "version": "3.13.0",
  "examples": [
    { "description": "adds", "full_description": "Calc adds", "status": "passed", "file_path": "./spec/a_spec.rb" }
  ],
  "summary": { "duration": 0.1, "example_count": 1, "failure_count": 0, "pending_count": 0, "errors_outside_of_examples_count": 0 },
  "summary_line": "1 example, 0 failures"
}
"#;

    #[test]
    fn samples() {
        let one = run(&format!("Run options: x\n{FAILING}\n"));
        let counts = Counts { total: 4, passed: 1, failed: 2, errored: 0, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, "rspec-json"));
        assert_eq!(one.failing, ["spec/calc_spec.rb::Calc divides", "spec/calc_spec.rb::Calc subtracts"]);
        let texts: Vec<_> = one.errors.iter().map(|error| error.text.as_str()).collect();
        assert_eq!(
            texts,
            ["ZeroDivisionError: divided by 0", "expected: 2\n     got: 1\n(compared using ==)"]
        );
        assert_eq!((run(PASSING).status, run(PASSING).counts.passed), (TestStatus::Passed, 1));
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (PASSING.replace("example_count\": 1", "example_count\": 2"), TestStatus::Incomplete),
            (PASSING.replace("failure_count\": 0", "failure_count\": 1"), TestStatus::Failed),
            (PASSING.replace("examples_count\": 0", "examples_count\": 1"), TestStatus::RunnerError),
            (PASSING.replace("\"passed\"", "\"odd\""), TestStatus::Failed),
            (PASSING.replace("\"passed\"", "\"pending\""), TestStatus::NoTests),
        ];
        for (text, status) in cases {
            assert_eq!(run(&text).status, status, "{text}");
        }
        let none = r#"{"examples":[],"summary":{"example_count":0,"failure_count":0}}"#;
        assert_eq!(run(none).status, TestStatus::NoTests);
        assert!(tally(r#"{"examples":[],"summary":{}}"#).is_none());
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING]);
    }
}
