//! Stories by seed: few values of each kind, so that they repeat.

use super::story::{Answers, Back, Making, RULES, Step, Story};

/// `SplitMix64`: the same stories on every machine.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.roll() % u64::from(end)).unwrap()
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(u32::try_from(all.len()).unwrap()) as usize]
    }

    /// Whether something happens that does so `percent` times of a hundred.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// What a story is mostly about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    Commits,
    Calls,
    Turns,
    Mixed,
    Round,
    Moves,
}

/// From this seed on HEAD is moved about: branches, resets, reverts and turns between them.
pub const MOVES: u64 = 1_000_000;

/// The story of a seed.
pub fn story(seed: u64) -> Story {
    let mut dice = Dice(seed);
    let drawn =
        [Theme::Commits, Theme::Calls, Theme::Turns, Theme::Mixed, Theme::Round][dice.below(5) as usize];
    let theme = if seed >= MOVES { Theme::Moves } else { drawn };
    let rules = if dice.chance(40) { "plain" } else { dice.pick(&RULES) }.to_owned();
    let history = matches!(theme, Theme::Commits | Theme::Round) && dice.chance(50);
    let answers = if history || dice.chance(40) { Answers::AtOnce } else { Answers::Reported };
    // Few values in a story: what is stuck comes back.
    let values = 1 + dice.below(4);
    let length = 6 + dice.below(15) as usize;
    let (mut steps, mut round) = (Vec::new(), 0);
    if rules == "flow" {
        steps.push(Step::Node(dice.pick(&["coder", "verifier"]).to_owned()));
    }
    while steps.len() < length {
        match theme {
            Theme::Commits => commit(&mut dice, values, &mut steps),
            Theme::Round => {
                let state = round % (1 + values);
                round += 1;
                steps.push(Step::Edit('a', state));
                if dice.chance(30) {
                    steps.push(Step::Edit('b', 100 + round));
                }
                let failing = if dice.chance(70) { String::new() } else { failing(&mut dice, values) };
                steps.push(Step::Test(failing));
                steps.push(if dice.chance(85) { Step::Commit(Making::New) } else { Step::Tick });
            }
            Theme::Calls if dice.chance(80) => steps.push(call(&mut dice, values)),
            Theme::Turns if dice.chance(70) => turn(&mut dice, values, &mut steps),
            Theme::Moves => moves(&mut dice, values, &mut steps),
            Theme::Calls | Theme::Turns | Theme::Mixed => match dice.below(10) {
                0..=2 => commit(&mut dice, values, &mut steps),
                3..=4 => steps.push(call(&mut dice, values)),
                5..=6 => turn(&mut dice, values, &mut steps),
                _ => steps.push(other(&mut dice, &rules)),
            },
        }
        if dice.chance(10) {
            steps.push(other(&mut dice, &rules));
        }
    }
    if history {
        // A history tells of commits and their records alone.
        let reported = |step: &Step| {
            matches!(
                step,
                Step::Edit(..)
                    | Step::Comment(..)
                    | Step::Doc(_)
                    | Step::Test(_)
                    | Step::Commit(Making::New)
                    | Step::Pause(_)
                    | Step::Session(_)
            )
        };
        steps.retain(reported);
    }
    Story { rules, answers, steps }
}

fn edit(dice: &mut Dice, values: u32) -> Step {
    let file = if dice.chance(75) { 'a' } else { 'b' };
    match dice.below(20) {
        0 => Step::Doc(dice.below(values)),
        1 => Step::Comment(file, dice.below(values)),
        2..=5 => Step::Edit(file, 100 + dice.below(1000)),
        _ => Step::Edit(file, dice.below(values)),
    }
}

fn failing(dice: &mut Dice, values: u32) -> String {
    match dice.below(12) {
        0 => "!".to_owned(),
        1..=3 => String::new(),
        _ => ["a", "ab", "abc", "b", "bc"][dice.below(values.min(5)) as usize].to_owned(),
    }
}

fn commit(dice: &mut Dice, values: u32, steps: &mut Vec<Step>) {
    if dice.chance(90) {
        steps.push(edit(dice, values));
    }
    if dice.chance(80) {
        steps.push(Step::Test(failing(dice, values)));
    }
    let making = match dice.below(40) {
        0..=4 => Making::Amend,
        5 => Making::Bypass,
        6 => Making::Revert,
        _ => Making::New,
    };
    steps.push(Step::Commit(making));
    if dice.chance(5) {
        steps.push(Step::Test(failing(dice, values)));
    }
}

fn moves(dice: &mut Dice, values: u32, steps: &mut Vec<Step>) {
    match dice.below(10) {
        0..=4 => commit(dice, values, steps),
        5 => turn(dice, values, steps),
        6 => steps.push(Step::Tick),
        7 => steps.push(Step::Node(dice.pick(&["agent", "coder"]).to_owned())),
        _ => steps.push(Step::Move([Back::Hard, Back::Mixed, Back::Branch][dice.below(3) as usize])),
    }
}

fn call(dice: &mut Dice, values: u32) -> Step {
    let tool = dice.pick(&["Bash", "Bash", "Bash", "Edit", "Read"]).to_owned();
    let answer = if dice.chance(80) { 0 } else { dice.below(values) };
    Step::Call(tool, dice.below(values.min(3)), answer)
}

fn turn(dice: &mut Dice, values: u32, steps: &mut Vec<Step>) {
    if dice.chance(30) {
        steps.push(Step::Start);
    }
    if dice.chance(50) {
        steps.push(edit(dice, values));
    }
    if dice.chance(40) {
        steps.push(Step::Test(failing(dice, values)));
    }
    if dice.chance(40) {
        steps.push(Step::Output(dice.below(values)));
    }
    steps.push(if dice.chance(90) { Step::Tick } else { Step::End });
}

fn other(dice: &mut Dice, rules: &str) -> Step {
    match dice.below(16) {
        0..=3 => Step::Answer,
        _ if dice.chance(15) => Step::Move([Back::Hard, Back::Mixed, Back::Branch][dice.below(3) as usize]),
        4 => Step::Pause(1 + i64::from(dice.below(9))),
        5..=6 => Step::Session(dice.below(3)),
        7 => Step::Node(dice.pick(&[if rules == "flow" { "verifier" } else { "agent" }, "coder"]).to_owned()),
        8..=11 => Step::Vote(u64::from(dice.below(3)), u64::from(dice.below(3))),
        12..=13 => Step::Output(dice.below(2)),
        _ if dice.chance(20) => Step::Compact,
        _ if dice.chance(40) => Step::Spend(10 + u64::from(dice.below(30))),
        14 => Step::Usage(u64::from(100_000 + 10_000 * dice.below(8))),
        _ => Step::Start,
    }
}
