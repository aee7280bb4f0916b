//! `andon advise`: the unanswered halt, whom to ask and which provider goes on; and the advisor's new approach,
//! recorded as an answer.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Exit, FormatArg, Shell};
use andon_core::domain::{AckHow, Condition, Deadlock, Halt, Hint, OnStall, Pressure, Provider};
use andon_core::{detect, escape::terminal, policy};
use andon_engine::effect::best_effort::{self, ANSWER, QUESTION};
use andon_engine::halts::{self, Answer, ResumeReport};
use andon_engine::recording::{LoadedTimeline, timeline};
use andon_engine::text::{Page, Style};
use andon_engine::{Context, OpsError, Result, VerbError, Workspace, gate::fallback};

#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// The provider at work; default: the first of `fallback.providers`
    #[arg(long, value_name = "NAME")]
    pub current: Option<String>,

    /// Accept the advisor's new approach as the answer to the halt
    #[arg(long, conflicts_with = "current")]
    pub record: bool,

    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

struct ProviderAdvice {
    /// The unanswered halt.
    halt: Option<Halt>,
    /// Its type, where an advisor can say something about it.
    deadlock: Option<Deadlock>,
    policy: OnStall,
    /// The policy has its program; `None` when it needs none.
    starts: Option<bool>,
    /// The conditions of the fallback chain that hold.
    conditions: Vec<Condition>,
    /// The provider at work.
    current: Option<String>,
    /// The provider that goes on.
    next: Option<Provider>,
    /// The question for an advisor.
    question: Option<String>,
    /// The advisor's answer, untrusted; `None` before it was asked.
    answer: Option<String>,
}

/// Says whom to ask and which provider goes on; with `--record`, takes the advisor's approach as the answer to the
/// halt.
pub fn run(shell: &Shell, args: &AdviseArgs) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.record {
        let resumed = record(&shell.ctx, &ws)?;
        let by = terminal(&resumed.by).into_owned();
        shell.out.result(&format!("resumed: the halt was answered by {by}; counting starts over\n"));
        return Ok(Exit::Allowed);
    }
    let advice = advice(&shell.ctx, &ws, args.current.as_deref())?;
    shell.show(args.format.format, "advice", &advice.json(), |style| advice.text(style));
    Ok(Exit::Allowed)
}

/// `current` is the provider at work; without one, the first of the chain.
fn advice(ctx: &Context, ws: &Workspace, current: Option<&str>) -> Result<ProviderAdvice> {
    let response = &ws.config.response;
    let standing = halts::binding(ws)?;
    let halt = standing.map(|standing| standing.halt);
    let loaded = timeline::load(ws)?;
    let event = halt.as_ref().map(|halt| detect::about(&halt.rule).event);
    let conditions = policy::conditions(&loaded.timeline, event, pressure(ws, &loaded));
    if let Some(name) = current.filter(|name| !response.providers.iter().any(|one| one.name == *name)) {
        let what = format!("no such provider in [fallback]: {name}");
        return Err(OpsError::usage(what, Hint::ShowFallback));
    }
    let current = current.or_else(|| fallback::current(&loaded));
    let next = policy::next_provider(&response.providers, current, &conditions).cloned();
    let current =
        current.map(str::to_owned).or_else(|| response.providers.first().map(|one| one.name.clone()));
    let asked = halt.is_some() && ws.andon_dir().is_some_and(|dir| dir.size(QUESTION).is_some());
    Ok(ProviderAdvice {
        deadlock: halt.as_ref().zip(event).and_then(|(halt, event)| policy::deadlock_of(halt, event)),
        policy: response.on_stall,
        starts: matches!(response.on_stall, OnStall::SpawnReviewer | OnStall::RetryWithNewProvider)
            .then(|| response.on_stall_program.is_some()),
        conditions,
        current,
        next,
        question: asked.then(|| format!(".andon/{QUESTION}")),
        answer: best_effort::answer_to(&ws.site(ctx), halt.as_ref()).map(|_| format!(".andon/{ANSWER}")),
        halt,
    })
}

/// The pressure that the context window of the node that acted last is under.
fn pressure(ws: &Workspace, loaded: &LoadedTimeline) -> Pressure {
    let node = loaded.timeline.context_window_node();
    detect::context_use(&loaded.timeline, node, &ws.config.rules)
        .map_or(Pressure::Free, |found| found.pressure)
}

/// Records the advisor's new approach as the answer to the halt. Only what the program of `[advisor]` said about this
/// very halt counts: a halted agent cannot advise itself.
fn record(ctx: &Context, ws: &Workspace) -> Result<ResumeReport> {
    let refused = |why: &str, help: String| {
        OpsError::verb(VerbError::Unanswerable, format!("no advice to record: {why}"), help)
    };
    let none = |why: &str| refused(why, Hint::Answer.led("a person answers instead"));
    let Some(halt) = halts::binding(ws)? else {
        return Err(refused("no halt waits for an answer", Hint::Status.into()));
    };
    let response = &ws.config.response;
    let reviewer = response.on_stall_program.as_ref().filter(|_| response.on_stall == OnStall::SpawnReviewer);
    let (whose, Some(advisor)) = (match (&response.advisor, reviewer) {
        (Some(advisor), _) => ("advisor", Some(advisor)),
        (None, reviewer) => ("reviewer", reviewer),
    }) else {
        return Err(none("your configuration names no [advisor]"));
    };
    let Some(answer) = best_effort::answer_to(&ws.site(ctx), Some(&halt.halt)) else {
        return Err(none("the advisor has not answered this halt, or its answer was edited"));
    };
    let name = advisor.argv.first().map_or("", String::as_str);
    let (prompt, short) = (answer.trim(), answer.trim().chars().take(1000).collect::<String>());
    let reason = format!("new approach by the {whose} {name}: {short}");
    let answer = Answer { halt: Some(&halt), words: Some(prompt), ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, AckHow::Resume, &reason)?;
    Ok(ResumeReport {
        halt: Some(halt),
        by: format!("the {whose} {name}, recorded by {}", ctx.committer(&ws.repo)),
    })
}

impl ProviderAdvice {
    /// The reason why the next provider is the next, or why there is none.
    fn why(&self) -> String {
        let held: Vec<&str> = self.conditions.iter().map(|one| one.as_str()).collect();
        match (&self.next, held.is_empty()) {
            (_, true) => "no condition of the fallback chain holds".to_owned(),
            (Some(next), false) if next.on.is_empty() => {
                format!("{} holds, and it takes whatever comes", held.join(", "))
            }
            (Some(next), false) => {
                let wanted = next.on.iter().filter(|one| self.conditions.contains(one));
                let wanted: Vec<&str> = wanted.map(|one| one.as_str()).collect();
                format!("{} leads to it", wanted.join(", "))
            }
            (None, false) => format!("{} holds, and the chain has none left for it", held.join(", ")),
        }
    }

    fn json(&self) -> Value {
        json!({
            "halt": self.halt,
            "deadlock": self.deadlock.map(Deadlock::as_str),
            "on_stall": self.policy.as_str(),
            "conditions": self.conditions.iter().map(|one| one.as_str()).collect::<Vec<_>>(),
            "current": self.current,
            "next": self.next.as_ref().map(|one| &one.name),
            "why": self.why(),
            "question": self.question,
            "answer": self.answer,
        })
    }

    fn text(&self, style: Style) -> String {
        let mut page = Page::new(style);
        match &self.halt {
            Some(halt) => {
                page.line(&format!("halted by {}: {}", terminal(&halt.rule), terminal(&halt.message)));
            }
            None => page.line("no halt waits for an answer"),
        }
        page.fields("deadlock", self.deadlock.map(Deadlock::as_str));
        page.field("on stall", self.policy.as_str());
        let lacks = self.starts == Some(false);
        page.fields("", lacks.then_some("your configuration names no on_stall.command"));
        if let Some(current) = &self.current {
            page.field("provider", &terminal(current));
            let next = self.next.as_ref().map_or("none", |one| one.name.as_str());
            page.field("next", &format!("{} ({})", terminal(next), self.why()));
        }
        page.fields("question", &self.question);
        let way = Hint::AdviseRecord.led("to go on with it");
        page.fields("answer", self.answer.as_ref().map(|answer| format!("{answer}; {way}")));
        for action in self.halt.iter().flat_map(|halt| halt.suggested_actions.iter().take(8)) {
            page.field("try", &terminal(&action.text));
        }
        page.finish()
    }
}
