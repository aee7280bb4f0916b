//! Bounds on files and functions, silenced lints.

use crate::house::Violation;
use crate::source::Source;

/// Longest file, without its inline tests.
pub const FILE_LINES: usize = 600;
/// Median over all files.
pub const MEDIAN_FILE_LINES: usize = 166;
/// Longest function, from signature to closing brace.
pub const FUNCTION_LINES: usize = 60;
/// 95th percentile over all functions.
pub const P95_FUNCTION_LINES: usize = 35;
/// Most parameters, `self` included; a tuple counts as what is in it.
pub const PARAMETERS: usize = 7;

/// What is wrong with one file's sizes and names.
pub fn check(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add =
        |line, rule, message| found.push(Violation { path: source.path.clone(), line, rule, message });
    if source.lines > FILE_LINES {
        add(1, "file-size", format!("{} lines, at most {FILE_LINES} outside tests", source.lines));
    }
    for function in &source.functions {
        if function.lines > FUNCTION_LINES {
            let message =
                format!("`{}` has {} lines, at most {FUNCTION_LINES}", function.name, function.lines);
            add(function.line, "function-size", message);
        }
        for kind in &function.nameless {
            let message = format!("`{}` takes {kind}: give what it means a type with a name", function.name);
            add(function.line, "nameless-parameter", message);
        }
        if function.parameters > PARAMETERS {
            let message =
                format!("`{}` takes {} parameters, at most {PARAMETERS}", function.name, function.parameters);
            add(function.line, "parameters", message);
        }
    }
    for line in &source.scan.bare_allows {
        add(*line, "bare-allow", "an allow needs a `reason = \"..\"`".into());
    }
    found
}

/// What is wrong with the whole.
pub fn check_all(sources: &[Source]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add = |rule, message| found.push(Violation { path: "src".into(), line: 0, rule, message });
    let files: Vec<usize> = sources.iter().map(|source| source.lines).collect();
    let median = percentile(files, 50);
    if median > MEDIAN_FILE_LINES {
        add("median-file", format!("the median file has {median} lines, at most {MEDIAN_FILE_LINES}"));
    }
    let functions =
        sources.iter().flat_map(|source| &source.functions).map(|function| function.lines).collect();
    let p95 = percentile(functions, 95);
    if p95 > P95_FUNCTION_LINES {
        add(
            "p95-function",
            format!("95 of 100 functions have up to {p95} lines, at most {P95_FUNCTION_LINES}"),
        );
    }
    found
}

/// The value that `percent` of the values do not exceed (nearest rank); 0 for none.
fn percentile(mut values: Vec<usize>, percent: usize) -> usize {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}
