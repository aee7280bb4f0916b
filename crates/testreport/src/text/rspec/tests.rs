use super::super::tests::{check, errors, read};
use crate::TestStatus;

const FAILING: &str = "\
.F*

Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Calc divides
     # Not yet implemented
     # ./spec/calc_spec.rb:14

Failures:

  1) Calc subtracts
     Failure/Error: expect(subtract(3, 1)).to eq(2)

       expected: 2
            got: 1

       (compared using ==)
     # ./spec/calc_spec.rb:9:in `block (2 levels) in <top (required)>'

Finished in 0.01247 seconds (files took 0.06 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/calc_spec.rb:8 # Calc subtracts

";

const NOT_LOADED: &str = "
An error occurred while loading ./spec/broken_spec.rb.
Failure/Error: require 'nope'

LoadError:
  cannot load such file -- nope
# ./spec/broken_spec.rb:1:in `require'

Finished in 0.00002 seconds (files took 0.05 seconds to load)
0 examples, 0 failures, 1 error occurred outside of examples
";

#[test]
fn summaries() {
    use TestStatus::{Failed, NoTests, Passed, RunnerError};
    check(
        "rspec",
        &[
            (FAILING, 1, [1, 1, 0, 1], &["spec/calc_spec.rb::Calc subtracts"], Failed),
            (FAILING, 0, [1, 1, 0, 1], &["spec/calc_spec.rb::Calc subtracts"], Failed),
            (NOT_LOADED, 1, [0; 4], &[], RunnerError),
            (NOT_LOADED, 0, [0; 4], &[], RunnerError),
            ("1 example, 0 failures\n", 0, [1, 0, 0, 0], &[], Passed),
            ("1 example, 0 failures\n", 1, [1, 0, 0, 0], &[], RunnerError),
            ("0 examples, 0 failures\n", 0, [0; 4], &[], NoTests),
        ],
    );
}

#[test]
fn errors_are_without_places() {
    let run = read(FAILING, "", 1).unwrap();
    let text =
        "Failure/Error: expect(subtract(3, 1)).to eq(2)\n  expected: 2\n       got: 1\n  (compared using ==)";
    assert_eq!(errors(&run), [("spec/calc_spec.rb::Calc subtracts", text)]);
    let run = read(NOT_LOADED, "", 1).unwrap();
    let text =
        "./spec/broken_spec.rb: Failure/Error: require 'nope'\nLoadError:\n  cannot load such file -- nope";
    assert_eq!(errors(&run), [("", text)]);
}

#[test]
fn an_example_that_ends_the_process_leaves_no_mark() {
    let end = |count: u64| {
        format!(
            "\n\nFinished in 0.1 seconds (files took 0.2 seconds to load)\n{count} examples, 0 failures\n"
        )
    };
    let status = |text: String| read(&text, "", 0).unwrap().status;
    assert_eq!(status(format!(".{}", end(2))), TestStatus::Incomplete);
    assert_eq!(status(format!("..{}", end(2))), TestStatus::Passed);
    assert_eq!(status(format!("\nRandomized with seed 7\n..{}", end(2))), TestStatus::Passed);
    assert_eq!(status(format!("hello\n.{}", end(2))), TestStatus::Passed, "a mark may be behind it");
    assert_eq!(status(format!("\nx\n  adds\n  takes{}", end(2))), TestStatus::Passed, "another formatter");
    assert_eq!(status(format!(".....{}{}", end(3), end(2))), TestStatus::Passed, "two processes");
    assert_eq!(status(format!("....{}.{}", end(3), end(2))), TestStatus::Passed, "two processes");
}

#[test]
fn a_process_of_several_that_failed_without_a_summary_is_no_pass() {
    let text = "2 processes for 4 specs\n..\n\nFinished in 0.1 seconds\n2 examples, 0 failures\n\n2 examples, 0 failures\n\n";
    for (end, masked, status) in [
        ("", true, TestStatus::Passed),
        ("RSpecs Failed\n", true, TestStatus::RunnerError),
        ("RSpecs Failed\n", false, TestStatus::Passed),
    ] {
        let mut reader = crate::RunReader::new(crate::Root::none());
        reader.push(crate::Stream::Stdout, format!("{text}{end}").as_bytes());
        if masked {
            reader.exit_masked_by("true".to_owned());
        }
        assert_eq!(reader.finish(crate::ExitKind::Code(0)).status, status, "{end} {masked}");
    }
}
