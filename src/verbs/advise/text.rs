//! `andon advise`: the unanswered halt, whom to ask and which provider goes on.

use crate::json::AdviceJson;
use crate::verbs::advise::view::ProviderAdvice;
use andon_core::domain::response::Deadlock;
use andon_core::escape::terminal;
use andon_engine::text::page::Page;
use andon_engine::text::style::Style;

impl ProviderAdvice {
    /// Why the next provider is the next, or why there is none.
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
}

/// As JSON, schema `andon/advice@1`.
pub fn json(advice: &ProviderAdvice) -> AdviceJson<'_> {
    AdviceJson {
        schema: "andon/advice@1",
        halt: advice.halt.as_ref(),
        deadlock: advice.deadlock.map(Deadlock::as_str),
        on_stall: advice.policy.as_str(),
        conditions: advice.conditions.iter().map(|one| one.as_str()).collect(),
        current: advice.current.as_deref(),
        next: advice.next.as_ref().map(|one| one.name.as_str()),
        why: advice.why(),
        question: advice.question.as_deref(),
        answer: advice.answer.as_deref(),
    }
}

/// The advice as lines for a terminal.
pub fn text(advice: &ProviderAdvice, style: Style) -> String {
    let mut page = Page::new(style);
    match &advice.halt {
        Some(halt) => page.line(&format!("halted by {}: {}", terminal(&halt.rule), terminal(&halt.message))),
        None => page.line("no halt waits for an answer"),
    }
    if let Some(deadlock) = advice.deadlock {
        page.field("deadlock", deadlock.as_str());
    }
    page.field("on stall", advice.policy.as_str());
    if advice.starts == Some(false) {
        page.field("", "your configuration names no on_stall.command");
    }
    if let Some(current) = &advice.current {
        page.field("provider", &terminal(current));
        let next = advice.next.as_ref().map_or("none", |one| one.name.as_str());
        page.field("next", &format!("{} ({})", terminal(next), advice.why()));
    }
    if let Some(question) = &advice.question {
        page.field("question", question);
    }
    if let Some(answer) = &advice.answer {
        page.field("answer", &format!("{answer}; to go on with it: andon advise --record"));
    }
    if let Some(halt) = &advice.halt {
        for action in halt.suggested_actions.iter().take(8) {
            page.field("try", &terminal(&action.text));
        }
    }
    page.finish()
}
