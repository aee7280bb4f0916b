//! A new halt in words, for the maker of the call that halted: the values of `loop.halted`, a line each.

use andon_core::domain::decision::Halt;

use super::phrase;

/// Suggestions that are shown; JSON has all.
const ACTIONS: usize = 4;

/// Cycle and iteration, evidence, what to do next. Raw ids are cut as everywhere in texts.
pub fn lines(halt: &Halt) -> Vec<String> {
    let mut lines =
        vec![format!("halted: cycle {}, iteration {}", phrase::message(&halt.cycle_id), halt.iteration)];
    let evidence = &halt.evidence;
    let kinds = [
        ("diffs", short(&evidence.diffs)),
        ("tests", short(&evidence.tests)),
        ("outputs", short(&evidence.outputs)),
    ];
    for (kind, hashes) in kinds.into_iter().filter(|(_, hashes)| !hashes.is_empty()) {
        lines.push(format!("{kind}: {hashes}"));
    }
    if !evidence.trend.is_empty() {
        let trend: Vec<String> = evidence.trend.iter().map(ToString::to_string).collect();
        lines.push(format!("trend: {} failing", trend.join(" -> ")));
    }
    for action in halt.suggested_actions.iter().take(ACTIONS) {
        let code = action.step.map_or("", andon_core::domain::suggestion::AdvisedStep::as_str);
        lines.push(format!("next[{code}]: {}", phrase::message(&action.text)));
    }
    lines
}

fn short<T: ToString>(hashes: &[T]) -> String {
    let short = |hash: &T| hash.to_string().chars().take(12).collect::<String>();
    hashes.iter().map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    #[test]
    fn the_lines_hold_the_values_of_the_json() {
        let lines = lines(&samples::halt());
        insta::assert_snapshot!(lines[0], @"halted: cycle agent, iteration 12");
        assert!(lines.contains(&"trend: 7 -> 4 -> 2 failing".to_owned()), "{lines:?}");
        assert!(lines.contains(&"next[narrow_task]: narrow the task".to_owned()), "{lines:?}");
    }
}
