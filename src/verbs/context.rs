//! `andon context`: how full the context window is, who says so, and what to do.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Exit, Format, FormatArg, Shell, error};
use andon_config::OnInternalError;
use andon_core::domain::{
    BRIEFING, CachedTokens, ContextWindowUse, FillSource, Finding, Hint, Level, PROMPT, Pressure, Thresholds,
};
use andon_core::escape::terminal_clip;
use andon_engine::text::{Page, Style, briefing::fill, decisions, message, phrase};
use andon_engine::{Result, Workspace, gate::compaction, json, view::ContextWindowView};

/// Shows the window, asks the gate, or writes the briefing.
pub fn run(shell: &Shell, args: &ContextArgs) -> Result<Exit> {
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    if args.gate {
        return Ok(gate(shell, args.format.format, node.as_deref()));
    }
    let ws = Workspace::open(&shell.ctx)?;
    if args.brief {
        compaction::brief(&shell.ctx, &ws, node.as_deref())?;
    }
    let view = compaction::shown(&ws, node.as_deref())?;
    match args.format.format {
        Format::Json => shell.out.result(&json::line(&json(&view))),
        Format::Text if args.brief => shell.out.result(&format!("{PROMPT}\n")),
        Format::Text => shell.out.result(&text(&view, shell.out.out)),
    }
    // To write a briefing is always allowed; else the question is whether the next turn may begin.
    Ok(if refuses(&view) && !args.brief { Exit::Refused } else { Exit::Allowed })
}

fn refuses(view: &ContextWindowView) -> bool {
    view.finding.as_ref().is_some_and(|finding| finding.level >= Level::Block)
}

/// Judges the next tool call. Like a hook of git it warns and lets pass where Andon itself cannot judge, and
/// a configuration that cannot be read leaves the defaults: an agent must be able to repair it.
fn gate(shell: &Shell, format: Format, node: Option<&str>) -> Exit {
    let opened = Workspace::open_lenient(&shell.ctx);
    let block = opened.as_ref().is_ok_and(|ws| ws.config.guard.on_internal_error == OnInternalError::Block);
    let judged = opened.and_then(|ws| Ok((compaction::run(&ws, node)?, ws.config_errors)));
    let (view, mistakes) = match judged {
        Ok(judged) => judged,
        Err(err) => {
            shell.fail(&err);
            return if block { Exit::Refused } else { Exit::Allowed };
        }
    };
    let shown = mistakes.as_ref().map_or(Vec::new(), error::config_diagnostics);
    shell.tell(&shown);
    let hard = view.fill.as_ref().is_some_and(|found| found.pressure == Pressure::HardBlock);
    let exit = if refuses(&view) && hard { Exit::Refused } else { Exit::Allowed };
    match format {
        Format::Json => shell.out.result(&json::line(&json(&view))),
        Format::Text if exit == Exit::Refused => {
            shell.out.message(&refusal(&view, shell.out.err));
        }
        Format::Text => {}
    }
    exit
}

/// `andon context`
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// Whose window; default: `ANDON_NODE`, else the node that acted last
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// For an agent's hook before a tool call: silent; exit code 1 at the hard block only
    #[arg(long)]
    pub gate: bool,
    /// Write `.andon/MISSION_BRIEFING.md` now, and print what to tell the next session
    #[arg(long, conflicts_with = "gate")]
    pub brief: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Columns of a name.
const NAME: usize = 100;
/// Columns of what was decided; JSON has all of it.
const WORDS: usize = 600;

fn source(view: &ContextWindowView, found: &ContextWindowUse) -> String {
    match (found.source, view.cached) {
        (FillSource::Reported, _) => "reported by the client (context_tokens)".to_owned(),
        (FillSource::Computed, CachedTokens::Separate) => {
            "computed: input_tokens + cached_tokens (usage.cached = \"separate\")".to_owned()
        }
        (FillSource::Computed, CachedTokens::Included) => {
            "computed: input_tokens (usage.cached = \"included\")".to_owned()
        }
        (FillSource::Estimate, _) => {
            let lines = usize::try_from(found.lines).unwrap_or(usize::MAX);
            format!("a rough estimate from {} of output", phrase::count(lines, "line"))
        }
    }
}

fn briefing(view: &ContextWindowView) -> Option<String> {
    view.briefed.then(|| format!(".andon/{BRIEFING}"))
}

/// The fill of each context window as lines for a terminal.
pub fn text(view: &ContextWindowView, style: Style) -> String {
    let mut page = Page::new(style);
    let pressure = view.fill.as_ref().map_or(Pressure::Free, |found| found.pressure);
    match &view.fill {
        Some(found) => page.line(&format!("{}{}", style.bold(&fill(found)), state(pressure, style))),
        None => page.line("no context usage reported yet"),
    }
    page.field("node", &terminal_clip(&view.node, NAME));
    page.fields("source", view.fill.as_ref().map(|found| source(view, found)));
    let Thresholds { warn, compact, block } = view.thresholds;
    page.field("thresholds", &format!("warning {warn} %, compaction {compact} %, hard block {block} %"));
    for line in view.finding.iter().flat_map(|finding| &finding.help) {
        page.field("do", &phrase::message(line));
    }
    page.fields("do", view.fill.is_none().then(|| Hint::ReportUsage.text()));
    page.fields("briefing", briefing(view));
    for one in &view.decided {
        page.field("decided", &decisions::in_short(one, WORDS));
    }
    page.finish()
}

fn state(pressure: Pressure, style: Style) -> String {
    match pressure {
        Pressure::Free => String::new(),
        Pressure::Warning => format!("  {}", style.yellow("warning")),
        Pressure::Mandatory => format!("  {}", style.red("compaction is mandatory")),
        Pressure::HardBlock => format!("  {}", style.red("hard block")),
    }
}

/// As JSON, schema `andon/context@1`.
fn json(view: &ContextWindowView) -> Value {
    let found = view.fill.as_ref();
    let finding = view.finding.as_ref();
    let Thresholds { warn, compact, block } = view.thresholds;
    json!({
        "schema": "andon/context@1",
        "node": view.node,
        "used": found.map(|found| found.used),
        "window": view.window,
        "percent": found.map(ContextWindowUse::percent),
        "source": found.map(|found| found.source.as_str()),
        "estimate": found.is_some_and(|found| found.source == FillSource::Estimate),
        "threshold": found.map(|found| found.pressure.as_str()),
        "thresholds": { "warn": warn, "compact": compact, "block": block },
        "level": finding.map(|finding| finding.level),
        "message": finding.map(Finding::message),
        "help": finding.map(|finding| &finding.help),
        "briefing": briefing(view),
        "prompt": PROMPT,
        "decided": view.decided,
    })
}

/// The message of the gate on standard error.
pub fn refusal(view: &ContextWindowView, style: Style) -> String {
    message::diagnostics(&view.finding.iter().map(Into::into).collect::<Vec<_>>(), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Level;
    use andon_testkit::samples;

    fn view(source: FillSource, used: u64, pressure: Pressure) -> ContextWindowView {
        let thresholds = Thresholds { warn: 75, compact: 80, block: 85 };
        let fill = ContextWindowUse {
            node: "agent".into(),
            used,
            source,
            lines: 1,
            window: 200_000,
            thresholds,
            pressure,
        };
        let mut finding = samples::finding("context-window", Level::Block);
        finding.help = vec!["/compact".into()];
        ContextWindowView {
            node: "agent".into(),
            fill: Some(fill),
            window: 200_000,
            thresholds,
            cached: CachedTokens::Separate,
            finding: (pressure > Pressure::Free).then_some(finding),
            decided: Vec::new(),
            briefed: true,
        }
    }

    #[test]
    fn the_text_says_who_says_so_and_what_to_do() {
        let expected = "\
162000 of 200000 tokens (81 %)  compaction is mandatory
  node       agent
  source     reported by the client (context_tokens)
  thresholds warning 75 %, compaction 80 %, hard block 85 %
  do         /compact
  briefing   .andon/MISSION_BRIEFING.md
";
        assert_eq!(text(&view(FillSource::Reported, 162_000, Pressure::Mandatory), Style::Plain), expected);
        let estimate = text(&view(FillSource::Estimate, 200_000, Pressure::Warning), Style::Plain);
        assert!(
            estimate.starts_with("about 200000 of 200000 tokens (100 %), an estimate  warning\n"),
            "{estimate}"
        );
        insta::assert_snapshot!(estimate, @"
        about 200000 of 200000 tokens (100 %), an estimate  warning
          node       agent
          source     a rough estimate from 1 line of output
          thresholds warning 75 %, compaction 80 %, hard block 85 %
          do         /compact
          briefing   .andon/MISSION_BRIEFING.md
        ");
        let included = ContextWindowView {
            cached: CachedTokens::Included,
            ..view(FillSource::Computed, 1, Pressure::Free)
        };
        insta::assert_snapshot!(text(&included, Style::Plain), @r#"
        1 of 200000 tokens (0 %)
          node       agent
          source     computed: input_tokens (usage.cached = "included")
          thresholds warning 75 %, compaction 80 %, hard block 85 %
          briefing   .andon/MISSION_BRIEFING.md
        "#);
        let unknown = ContextWindowView { fill: None, finding: None, briefed: false, ..included };
        insta::assert_snapshot!(text(&unknown, Style::Plain), @r#"
        no context usage reported yet
          node       agent
          thresholds warning 75 %, compaction 80 %, hard block 85 %
          do         echo '{"context_tokens":N}' | andon observe usage
        "#);
        assert!(json(&unknown)["used"].is_null());
    }

    #[test]
    fn json_carries_the_same() {
        let view = view(FillSource::Estimate, 162_000, Pressure::Warning);
        let value = samples::value_of(&json(&view));
        assert_eq!(
            (&value["percent"], &value["source"], &value["estimate"]),
            (&81.into(), &"estimate".into(), &true.into())
        );
        assert_eq!((&value["threshold"], &value["level"]), (&"warning".into(), &"block".into()));
        assert_eq!(value["thresholds"]["compact"], 80);
        assert_eq!(value["briefing"], ".andon/MISSION_BRIEFING.md");
    }

    #[test]
    fn a_hostile_node_is_harmless() {
        let hostile = ContextWindowView {
            node: samples::HOSTILE.into(),
            ..view(FillSource::Reported, 1, Pressure::Free)
        };
        let shown = text(&hostile, Style::Plain);
        assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{shown}");
    }
}
