//! `andon calibrate`: what can be promised, how that was found, and what to write into the configuration.

use std::fmt::Write as _;

use super::page::Page;
use super::style::Style;
use crate::domain::diagnostic::Diagnostic;
use crate::domain::view::calibration::{Calibration, LadderStep, PromiseKept, Promised, ScaledCounts};
use crate::domain::view::check::CheckReport;
use crate::wire::v1::output::{
    CalibrationChangeJson, CalibrationJson, CalibrationRuleJson, CalibrationStepJson,
};

/// Columns of the longest bar.
const BAR: f64 = 40.0;

/// The calibration for a person.
pub fn text(found: &Calibration, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.bold(&promise(found)));
    if let Some(line) = of_people(found) {
        page.line(&line);
    }
    if found.mistaken > 0 {
        page.line("at which larger counts those would not have come is not known: they count at every step");
    }
    if found.skipped_files > 0 {
        page.line(&format!("files without an event, not counted: {}", found.skipped_files));
    }
    page.heading("Good runs that are halted");
    for step in &found.curve {
        let bar = "#".repeat(columns(step, found));
        let (factor, halted) = (factor(step.factor), step.halted);
        let percent = percent(step.chance);
        page.line(&format!(
            "  x {factor:<5} {halted:>6} of {}  next one at most {percent:>7}  {bar}",
            found.runs
        ));
    }
    page.heading("Bounds (95 %, exact)");
    for rule in &found.bounds {
        page.line(&format!("  {:<24} {:>6} halted, at most {}", rule.rule, rule.halted, percent(rule.bound)));
    }
    if !found.changed.is_empty() {
        page.heading("What it costs: stops come later, or sooner, by these counts");
        for change in &found.changed {
            let counts = change.counts.iter().map(|(name, was, is)| format!("{name} {was} -> {is}"));
            page.line(&format!("  {:<24} {}", change.rule, counts.collect::<Vec<_>>().join(", ")));
        }
        page.heading("For andon.toml");
        page.line("[rules]");
        for change in &found.changed {
            page.line(&setting(change));
        }
    }
    page.finish()
}

fn promise(found: &Calibration) -> String {
    let (runs, alpha) = (found.runs, percent(found.alpha));
    match found.promised {
        Promised::Factor(100) => {
            format!(
                "the configuration keeps the promise: of {runs} good runs the next is halted with {alpha} at most"
            )
        }
        Promised::Factor(at) => format!(
            "with the counts times {} the next good run is halted with a chance of {alpha} at most ({runs} runs)",
            factor(at)
        ),
        Promised::TooFew(needed) => {
            format!("nothing can be promised: {alpha} takes {needed} good runs, and these are {runs}")
        }
        Promised::Nothing => {
            format!("nothing can be promised: of {runs} good runs too many are halted even at the last step")
        }
    }
}

/// What people said of halts among those runs.
fn of_people(found: &Calibration) -> Option<String> {
    let (left_out, mistaken) = (found.left_out, found.mistaken);
    (left_out > 0 || mistaken > 0).then(|| {
        format!(
            "halts marked --mistaken among them: {mistaken}; runs left out, halted and not marked: {left_out}"
        )
    })
}

/// What `andon check --calibration` says: whether the thresholds keep the promise as they stand.
pub fn as_check(found: &Calibration, range: &str) -> CheckReport {
    let (runs, asked) = (found.runs, percent(found.alpha));
    let help = format!("andon calibrate {range} --alpha {}", found.alpha);
    let said = |said: Diagnostic| vec![said.code("calibration").help(help.clone())];
    let (violations, undecided) = match found.kept() {
        PromiseKept::Yes(..) => (Vec::new(), Vec::new()),
        PromiseKept::No(halted, chance) => {
            let message = format!(
                "the thresholds do not hold the promise of {asked}: {halted} of {runs} good runs are halted, the next one with {} at most",
                percent(chance)
            );
            (said(Diagnostic::error(message)), Vec::new())
        }
        PromiseKept::TooFew(needed) => {
            let message =
                format!("whether the thresholds hold {asked} takes {needed} good runs, and these are {runs}");
            (Vec::new(), said(Diagnostic::error(message)))
        }
    };
    CheckReport {
        range: range.to_owned(),
        configuration: None,
        commits: found.commits,
        violations,
        undecided,
        warnings: Vec::new(),
    }
}

/// The line of a rule in `andon.toml`.
fn setting(change: &ScaledCounts) -> String {
    let counts: Vec<String> = change.counts.iter().map(|(name, _, is)| format!("{name} = {is}")).collect();
    format!("{} = {{ {} }}", change.rule, counts.join(", "))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of forty columns")]
fn columns(step: &LadderStep, found: &Calibration) -> usize {
    let most = found.curve.iter().map(|step| step.chance).fold(f64::MIN_POSITIVE, f64::max);
    (step.chance / most * BAR).round() as usize
}

fn factor(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// The curve as a picture: the chance over the factor, and what was asked for as a line.
pub fn svg(found: &Calibration) -> String {
    let most = found.curve.iter().map(|step| step.chance).fold(found.alpha * 1.5, f64::max);
    let last = u32::try_from(found.curve.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    let x = |at: u32| 60.0 + 500.0 * f64::from(at) / f64::from(last);
    let y = |chance: f64| 260.0 - 220.0 * chance / most;
    let points: Vec<String> =
        (0..).zip(&found.curve).map(|(at, step)| format!("{:.1},{:.1}", x(at), y(step.chance))).collect();
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 320\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>Chance that the next good run is halted, by factor</title>\n",
    );
    let line = y(found.alpha);
    let asked = percent(found.alpha);
    let _ = writeln!(
        svg,
        "<line x1=\"60\" x2=\"560\" y1=\"{line:.1}\" y2=\"{line:.1}\" stroke=\"#c00\" stroke-dasharray=\"4\"/>"
    );
    let _ = writeln!(svg, "<text x=\"564\" y=\"{line:.1}\" fill=\"#c00\">{asked}</text>");
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2\" points=\"{}\"/>",
        points.join(" ")
    );
    for (at, step) in (0..).zip(&found.curve) {
        let (px, py) = (x(at), y(step.chance));
        let (factor, percent) = (factor(step.factor), percent(step.chance));
        let _ = writeln!(
            svg,
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\" fill=\"#06c\"><title>{percent}</title></circle>"
        );
        let _ = writeln!(svg, "<text x=\"{px:.1}\" y=\"280\" text-anchor=\"middle\">{factor}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The calibration for a program: `andon/calibration@1`.
pub fn json(found: &Calibration) -> CalibrationJson {
    let step = |step: &LadderStep| CalibrationStepJson {
        factor: factor(step.factor),
        halted: step.halted,
        chance: format!("{:.6}", step.chance),
    };
    let (factor_of, needed) = match found.promised {
        Promised::Factor(at) => (Some(factor(at)), None),
        Promised::TooFew(needed) => (None, Some(needed)),
        Promised::Nothing => (None, None),
    };
    CalibrationJson {
        schema: "andon/calibration@1",
        alpha: format!("{}", found.alpha),
        runs: found.runs,
        left_out: found.left_out,
        mistaken: found.mistaken,
        skipped_files: found.skipped_files,
        factor: factor_of,
        needed,
        curve: found.curve.iter().map(step).collect(),
        rules: found
            .bounds
            .iter()
            .map(|rule| CalibrationRuleJson {
                rule: rule.rule,
                halted: rule.halted,
                bound: format!("{:.6}", rule.bound),
            })
            .collect(),
        changes: found
            .changed
            .iter()
            .flat_map(|change| {
                change.counts.iter().map(|(param, was, is)| CalibrationChangeJson {
                    rule: change.rule,
                    param,
                    was: *was,
                    is: *is,
                })
            })
            .collect(),
        lines: found.changed.iter().map(setting).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::view::calibration::RuleBound;

    fn sample(promised: Promised) -> Calibration {
        Calibration {
            alpha: 0.05,
            commits: 90,
            runs: 40,
            left_out: 1,
            mistaken: 2,
            skipped_files: 0,
            warnings: Vec::new(),
            promised,
            curve: vec![
                LadderStep { factor: 100, halted: 2, chance: 3.0 / 41.0 },
                LadderStep { factor: 125, halted: 0, chance: 1.0 / 41.0 },
            ],
            bounds: vec![RuleBound { rule: "tool-loop", halted: 0, bound: 0.0722 }],
            changed: vec![ScaledCounts { rule: "tool-loop", counts: vec![("hard", 5, 7)] }],
        }
    }

    #[test]
    fn it_reads_as_a_promise_with_its_ground() {
        insta::assert_snapshot!(text(&sample(Promised::Factor(125)), Style::Plain), @"
        with the counts times 1.25 the next good run is halted with a chance of 5.00 % at most (40 runs)
        halts marked --mistaken among them: 2; runs left out, halted and not marked: 1
        at which larger counts those would not have come is not known: they count at every step

        Good runs that are halted
          x 1.00       2 of 40  next one at most  7.32 %  ########################################
          x 1.25       0 of 40  next one at most  2.44 %  #############

        Bounds (95 %, exact)
          tool-loop                     0 halted, at most 7.22 %

        What it costs: stops come later, or sooner, by these counts
          tool-loop                hard 5 -> 7

        For andon.toml
        [rules]
        tool-loop = { hard = 7 }
        ");
        let few = promise(&sample(Promised::TooFew(99)));
        assert_eq!(few, "nothing can be promised: 5.00 % takes 99 good runs, and these are 40");
        let check = |promised| as_check(&sample(promised), "main");
        insta::assert_snapshot!(check(Promised::Factor(125)).violations[0].message, @"the thresholds do not hold the promise of 5.00 %: 2 of 40 good runs are halted, the next one with 7.32 % at most");
        insta::assert_snapshot!(check(Promised::TooFew(99)).undecided[0].message, @"whether the thresholds hold 5.00 % takes 99 good runs, and these are 40");
        let picture = svg(&sample(Promised::Factor(125)));
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
