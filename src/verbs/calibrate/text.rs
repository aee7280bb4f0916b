//! `andon calibrate`: what can be promised, how that was found, and what to write into the configuration.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use andon_core::detect::calibration::Promise;
use andon_core::detect::ladder::{AS_CONFIGURED, LADDER};
use andon_core::domain::{Diagnostic, Hint};
use andon_engine::text::{Page, Style, phrase};
use andon_engine::view::{
    Calibration, CalibrationResult, CheckReport, HaltsOfBudgets, LadderStep, MistakenHalts, PromiseStatus,
};

/// Columns of the longest bar.
const BAR: f64 = 40.0;

/// The calibration for a person.
pub fn text(found: &Calibration, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.bold(&promise(found)));
    if let Some(help) = help(found).filter(|_| found.runs == 0) {
        of_people(found, &mut page);
        page.line(&format!("  help: {help}"));
        return page.finish();
    }
    if let Some(step) = found.promised_step() {
        let exact = percent(step.exact);
        page.line(&format!("that is over all runs that might have been drawn; of runs like these at most {exact} are halted (95 %, exact)"));
    }
    page.line(COVERED);
    of_people(found, &mut page);
    beside(found, &mut page);
    if let Some(help) = help(found) {
        page.line(&format!("  help: {help}"));
    }
    page.heading("Good runs that are halted, at that factor or at a larger one");
    for step in &found.curve {
        let bar = "#".repeat(columns(step, found));
        let (factor, halted) = (factor(step.factor), step.halted);
        let (next, exact) = (percent(step.chance), percent(step.exact));
        page.line(&format!(
            "  x {factor:<5} {halted:>6} of {}  next one at most {next:>8}, exact {exact:>8}  {bar}",
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
        let place = "# under [rules], in the place of the lines of these rules";
        page.line(if found.own_rules { place } else { "[rules]" });
        for change in &found.changed {
            page.line(&change.line);
        }
    }
    page.finish()
}

/// The scope of the promise.
const COVERED: &str = "it covers the rules that see a loop make no progress; budgets, which end good work too, are no part of it";

fn promise(found: &Calibration) -> String {
    let (runs, alpha) = (found.runs, percent(found.alpha));
    let good = phrase::count(runs, "good run");
    match found.promised {
        Promise::Step(AS_CONFIGURED) => {
            format!("the configuration keeps the promise: of {good} the next is halted with {alpha} at most")
        }
        Promise::Step(at) => format!(
            "with the counts times {} the next good run is halted with a chance of {alpha} at most ({})",
            factor(LADDER[at]),
            phrase::count(runs, "run")
        ),
        Promise::TooFew { needed } => {
            format!("not enough data: {alpha} needs {}, {runs} given", phrase::count(needed, "good run"))
        }
        Promise::None => format!("no promise: of {good} too many are halted even at the last step"),
    }
}

/// Returns advice on what can be done where nothing is promised.
fn help(found: &Calibration) -> Option<&'static str> {
    match found.promised {
        Promise::Step(_) => None,
        Promise::TooFew { .. } => {
            Some("give more runs that went well, or ask for less with a larger --alpha")
        }
        Promise::None if found.ground.mistaken.counted > 0 => Some(Hint::LoosenRules.text()),
        Promise::None => Some("look whether those runs did go well, or ask for less with a larger --alpha"),
    }
}

/// Writes what people said of halts among those runs.
fn of_people(found: &Calibration, page: &mut Page) {
    let MistakenHalts { counted, mended, of_budgets, beside_right_ones } = found.ground.mistaken;
    if found.ground.left_out > 0 || counted > 0 {
        page.line(&format!(
            "halts marked --mistaken among them: {counted}; runs left out, halted and not marked: {}",
            found.ground.left_out
        ));
    }
    if counted > 0 {
        page.line("at which larger counts those would not have come is not known: they count at every step");
    }
    for (count, why) in [
        (mended, "the rule was made looser since, or halts no more"),
        (of_budgets, "they are of budgets, which the promise does not cover"),
        (beside_right_ones, "in runs that are left out"),
    ] {
        if count > 0 {
            page.line(&format!("halts marked --mistaken that do not count, {why}: {count}"));
        }
    }
}

/// Writes what is not judged, and what else ends good runs.
fn beside(found: &Calibration, page: &mut Page) {
    let HaltsOfBudgets { all: halted, budgets } = &found.by_budgets;
    if *halted > 0 {
        let rules: Vec<String> = budgets.iter().map(|one| format!("{} {}", one.rule, one.halted)).collect();
        page.line(&format!("good runs that budgets halt as configured: {halted} ({})", rules.join(", ")));
    }
    let mut lacks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for unasked in &found.unasked {
        lacks.entry(unasked.lacks).or_default().push(unasked.rule);
    }
    if !lacks.is_empty() {
        let lacks: Vec<String> =
            lacks.iter().map(|(what, of)| format!("{what} ({})", of.join(", "))).collect();
        page.line(&format!("rules that stay as they are, because the runs have no {}", lacks.join(", no ")));
    }
    if found.ground.skipped_files > 0 {
        page.line(&format!("files without an event, not counted: {}", found.ground.skipped_files));
    }
    if found.ground.duplicate_files > 0 {
        page.line(&format!(
            "files with the content of another one, not counted: {}",
            found.ground.duplicate_files
        ));
    }
}

/// Returns the report of `andon check --calibration`, which says whether the present thresholds keep the promise.
pub fn as_check(found: &CalibrationResult, range: &str) -> CheckReport {
    let report = |commits| CheckReport { range: range.to_owned(), commits, ..CheckReport::default() };
    let found = match found {
        CalibrationResult::Undecided { commits, why } => {
            return CheckReport { undecided: vec![why.clone()], ..report(*commits) };
        }
        CalibrationResult::Whole(found) => found,
    };
    let (runs, asked) = (found.runs, percent(found.alpha));
    let help = Hint::Calibrate.with([range, &found.alpha.to_string()]);
    let said = |said: Diagnostic| vec![said.code("calibration").help(help.clone())];
    let of = |step: &LadderStep| {
        let (halted, next, exact) = (step.halted, percent(step.chance), percent(step.exact));
        format!(
            "{halted} of {} are halted, the next one with {next} at most (exact, 95 %: {exact})",
            phrase::count(runs, "good run")
        )
    };
    let report = report(found.ground.commits);
    match found.kept() {
        PromiseStatus::Yes(step) => {
            let note = Diagnostic::note(format!("the thresholds hold the promise of {asked}: {}", of(&step)));
            CheckReport { warnings: vec![note.code("calibration")], ..report }
        }
        PromiseStatus::No(step) => {
            let message = format!("the thresholds do not hold the promise of {asked}: {}", of(&step));
            CheckReport { violations: said(Diagnostic::error(message)), ..report }
        }
        PromiseStatus::TooFew(needed) => {
            let message = format!(
                "whether the thresholds hold {asked} takes {}, and these are {runs}",
                phrase::count(needed, "good run")
            );
            CheckReport { undecided: said(Diagnostic::error(message)), ..report }
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of forty columns")]
fn columns(step: &LadderStep, found: &Calibration) -> usize {
    let most = found.curve.iter().map(|step| step.chance).fold(f64::MIN_POSITIVE, f64::max);
    (step.chance / most * BAR).round() as usize
}

fn factor(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// With two decimals, or two digits where that would be nothing.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = format!("{percent:.2}");
    let decimals =
        (3..=20_usize).find(|decimals| percent * 10_f64.powi(i32::try_from(*decimals).unwrap_or(0)) >= 10.0);
    match decimals {
        Some(decimals) if text == "0.00" && share > 0.0 => format!("{percent:.decimals$} %"),
        Some(_) | None => format!("{text} %"),
    }
}

/// The curve as a picture: the chance over the factor, and what was asked for as a line.
pub fn svg(found: &Calibration) -> String {
    let most = found.curve.iter().map(|step| step.chance).fold(found.alpha * 1.5, f64::max);
    let last = u32::try_from(found.curve.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    let x = |at: u32| 60.0 + 500.0 * f64::from(at) / f64::from(last);
    let y = |chance: f64| 260.0 - 220.0 * chance / most;
    let points: Vec<String> =
        (0..).zip(&found.curve).map(|(at, step)| format!("{:.1},{:.1}", x(at), y(step.chance))).collect();
    let mark = |(at, step): (u32, &LadderStep)| {
        let (px, py) = (x(at), y(step.chance));
        let (factor, percent) = (factor(step.factor), percent(step.chance));
        format!(
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\" fill=\"#06c\"><title>{percent}</title></circle>\n\
             <text x=\"{px:.1}\" y=\"280\" text-anchor=\"middle\">{factor}</text>\n"
        )
    };
    let (line, asked, points) = (y(found.alpha), percent(found.alpha), points.join(" "));
    let marks: String = (0..).zip(&found.curve).map(mark).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 320\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>Chance that the next good run is halted, by factor</title>\n\
         <line x1=\"60\" x2=\"560\" y1=\"{line:.1}\" y2=\"{line:.1}\" stroke=\"#c00\" stroke-dasharray=\"4\"/>\n\
         <text x=\"564\" y=\"{line:.1}\" fill=\"#c00\">{asked}</text>\n\
         <polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2\" points=\"{points}\"/>\n{marks}</svg>\n"
    )
}

/// The calibration for a program. Shares and factors are texts of decimal numbers, so that they read alike everywhere.
pub fn json(found: &Calibration) -> Value {
    let (promised, needed) = match found.promised {
        Promise::Step(at) => (Some(factor(LADDER[at])), None),
        Promise::TooFew { needed } => (None, Some(needed)),
        Promise::None => (None, None),
    };
    let share = |share: f64| format!("{share:.6}");
    let curve = found.curve.iter().map(|step| {
        json!({
            "factor": factor(step.factor),
            "halted": step.halted,
            "chance": share(step.chance),
            "exact": share(step.exact),
        })
    });
    let rules = found
        .bounds
        .iter()
        .map(|rule| json!({ "rule": rule.rule, "halted": rule.halted, "bound": share(rule.bound) }));
    let changes = found.changed.iter().flat_map(|change| {
        let one = |(param, was, is): &(&str, u64, u64)| {
            json!({ "rule": change.rule, "param": param, "was": was, "is": is })
        };
        change.counts.iter().map(one)
    });
    let mut document = json!({
        "alpha": found.alpha.to_string(),
        "runs": found.runs,
        "left_out": found.ground.left_out,
        "mistaken": found.ground.mistaken.counted,
        "mistaken_not_counted": found.ground.mistaken,
        // Budgets are no part of the promise.
        "covers": "progress",
        "skipped_files": found.ground.skipped_files,
        "duplicate_files": found.ground.duplicate_files,
        "factor": promised,
        "needed": needed,
        "curve": curve.collect::<Value>(),
        "rules": rules.collect::<Value>(),
        "unasked": found.unasked,
        "changes": changes.collect::<Value>(),
        "lines": found.changed.iter().map(|change| &change.line).collect::<Vec<_>>(),
    });
    if let (Value::Object(members), Value::Object(budgets)) = (&mut document, json!(found.by_budgets)) {
        members.extend(budgets);
    }
    document
}

#[cfg(test)]
mod tests;
