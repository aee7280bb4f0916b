//! A story: what an agent and a person do, one step after the other; written as a line of text.

use std::fmt;

/// How a commit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// `git commit`
    New,
    /// `git commit --amend`
    Amend,
    /// `git commit --no-verify`
    Bypass,
    /// `git revert HEAD`, where nothing else is changed.
    Revert,
}

/// Where HEAD is moved back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Back {
    /// `git reset --hard HEAD~1`
    Hard,
    /// `git reset HEAD~1`: the work stays.
    Mixed,
    /// A new branch from where the story began.
    Branch,
}

/// When a person answers a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Where the story says so.
    Reported,
    /// At once, as `replay RANGE` takes it.
    AtOnce,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Brings a file of the code into a state.
    Edit(char, u32),
    /// Adds a line of comment to a file of the code.
    Comment(char, u32),
    /// Brings a document into a state.
    Doc(u32),
    /// Runs the tests: those named by a letter fail; `!` is a build that fails.
    Test(String),
    /// Commits everything.
    Commit(Making),
    /// A tool is called: tool, arguments, answer.
    Call(String, u32, u32),
    /// The node says something.
    Output(u32),
    /// Reviewers vote.
    Vote(u64, u64),
    /// The context window is reported.
    Usage(u64),
    /// Tokens and cents are spent.
    Spend(u64),
    /// The context window was compacted.
    Compact,
    /// A turn begins.
    Start,
    /// A turn ends.
    Tick,
    /// A turn ends in an unknown state.
    End,
    /// HEAD is moved back.
    Move(Back),
    /// A person answers the unanswered halt.
    Answer,
    /// Nothing happens for hours.
    Pause(i64),
    /// Another session goes on.
    Session(u32),
    /// Another node goes on.
    Node(String),
}

/// A story under a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The name of the configuration, see [`rules`].
    pub rules: String,
    /// When halts are answered.
    pub answers: Answers,
    /// What happens.
    pub steps: Vec<Step>,
}

/// The rest of `andon.toml` under each name.
pub fn rules(name: &str) -> &'static str {
    match name {
        "plain" => "",
        "cap" => "iteration-cap = { max = 5 }\n",
        "signals" => {
            "iteration-cap = { max = 9 }\nconsecutive-failures = \"off\"\nrepeated-failures = \"off\"\n"
        }
        "flow" => {
            "iteration-cap = { max = 12 }\nnode-turns = { max = 3 }\n[workflow]\nnodes.coder = {}\n\
             nodes.verifier = { edits = false }\nedges = [\n  { from = \"coder\", to = \"verifier\" },\n\
             { from = \"verifier\", to = \"coder\", anchor = true, max_iterations = 3, max_cost = \"0.5\" },\n]\n"
        }
        other => panic!("no rules of that name: {other}"),
    }
}

/// All names.
pub const RULES: [&str; 4] = ["plain", "cap", "signals", "flow"];

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(file, state) => write!(f, "edit {file} {state}"),
            Self::Comment(file, state) => write!(f, "comment {file} {state}"),
            Self::Doc(state) => write!(f, "doc {state}"),
            Self::Test(failing) if failing.is_empty() => f.write_str("test -"),
            Self::Test(failing) => write!(f, "test {failing}"),
            Self::Commit(Making::New) => f.write_str("commit"),
            Self::Commit(Making::Amend) => f.write_str("amend"),
            Self::Commit(Making::Bypass) => f.write_str("bypass"),
            Self::Commit(Making::Revert) => f.write_str("revert"),
            Self::Move(Back::Hard) => f.write_str("undo"),
            Self::Move(Back::Mixed) => f.write_str("unmake"),
            Self::Move(Back::Branch) => f.write_str("branch"),
            Self::Call(tool, args, answer) => write!(f, "call {tool} {args} {answer}"),
            Self::Output(text) => write!(f, "output {text}"),
            Self::Vote(approve, reject) => write!(f, "vote {approve} {reject}"),
            Self::Usage(tokens) => write!(f, "usage {tokens}"),
            Self::Spend(tokens) => write!(f, "spend {tokens}"),
            Self::Compact => f.write_str("compact"),
            Self::Start => f.write_str("start"),
            Self::End => f.write_str("end"),
            Self::Tick => f.write_str("tick"),
            Self::Answer => f.write_str("answer"),
            Self::Pause(hours) => write!(f, "pause {hours}"),
            Self::Session(number) => write!(f, "session {number}"),
            Self::Node(name) => write!(f, "node {name}"),
        }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = if self.answers == Answers::AtOnce { " once" } else { "" };
        write!(f, "{}{answers}", self.rules)?;
        self.steps.iter().try_for_each(|step| write!(f, "; {step}"))
    }
}

/// Reads what `Display` writes.
pub fn parse(text: &str) -> Story {
    let mut parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let head: Vec<&str> = parts.next().unwrap().split_whitespace().collect();
    let answers = if head.contains(&"once") { Answers::AtOnce } else { Answers::Reported };
    Story { rules: head[0].to_owned(), answers, steps: parts.map(step).collect() }
}

fn step(text: &str) -> Step {
    let words: Vec<&str> = text.split_whitespace().collect();
    let letter = |at: usize| words[at].chars().next().unwrap();
    let number = |at: usize| words[at].parse().unwrap();
    match words[0] {
        "edit" => Step::Edit(letter(1), number(2)),
        "comment" => Step::Comment(letter(1), number(2)),
        "doc" => Step::Doc(number(1)),
        "test" => Step::Test(words[1].replace('-', "")),
        "commit" => Step::Commit(Making::New),
        "amend" => Step::Commit(Making::Amend),
        "bypass" => Step::Commit(Making::Bypass),
        "revert" => Step::Commit(Making::Revert),
        "undo" => Step::Move(Back::Hard),
        "unmake" => Step::Move(Back::Mixed),
        "branch" => Step::Move(Back::Branch),
        "call" => Step::Call(words[1].to_owned(), number(2), number(3)),
        "output" => Step::Output(number(1)),
        "vote" => Step::Vote(number(1).into(), number(2).into()),
        "usage" => Step::Usage(number(1).into()),
        "spend" => Step::Spend(number(1).into()),
        "compact" => Step::Compact,
        "end" => Step::End,
        "start" => Step::Start,
        "tick" => Step::Tick,
        "answer" => Step::Answer,
        "pause" => Step::Pause(number(1).into()),
        "session" => Step::Session(number(1)),
        "node" => Step::Node(words[1].to_owned()),
        other => panic!("no step of that name: {other}"),
    }
}
