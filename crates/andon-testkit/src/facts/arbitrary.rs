//! Arbitrary facts: few values of each kind, so that repetitions happen, and the extremes.

use proptest::prelude::*;

use super::{Commit, ack, call, code, commit, evidence as evidence_of, oid, run};
use andon_core::domain::{
    Ballot, CommitId, CommitKind, CommitRefused, DiffHash, Digest, Event, EventKind, Fact, Gate, Output,
    OutputKind, Renewal, RunValidity, ShortHash, Signature, TestEvidence, TestStatus, Timestamp, TurnEnd,
    Usage,
};

fn pick<T: Clone + std::fmt::Debug + 'static>(of: &[(T, &str)]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(of.iter().map(|(value, _)| value.clone()).collect::<Vec<_>>())
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![10 => 0_i64..100_000, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

pub fn evidence() -> impl Strategy<Value = TestEvidence> {
    let counts = prop_oneof![10 => 0_u64..20, 1 => Just(u64::MAX)];
    (0_u8..4, pick(&TestStatus::ALL), prop::collection::vec("[a-c]", 0..4), counts, prop::option::of(0_u8..3))
        .prop_map(|(state, status, failing, total, errors)| {
            let names: Vec<&str> = failing.iter().map(String::as_str).collect();
            let mut tests = evidence_of(state, status, &names, total);
            tests.errors = errors.map(|error| Signature([error; 32]));
            tests.skipped = total / 3;
            tests
        })
}

fn commits() -> impl Strategy<Value = Commit> {
    let what = (0_u8..4, 0_u8..3, pick(&CommitKind::ALL), pick(&Gate::ALL), any::<bool>());
    let number = prop_oneof![6 => Just(0_u64), 6 => 1_u64..9, 1 => Just(u64::MAX)];
    let when = (time(), prop::option::of("[ab]"), number);
    let ids = (prop::option::of(0_u64..12), prop::option::of(0_u64..12));
    let subject = prop_oneof!["[a-z ]{0,8}", Just("Release 1.0".to_owned()), ".{0,200}"];
    (what, when, ids, prop::option::of(evidence()), subject).prop_map(|(what, when, ids, tests, subject)| {
        let (state, diff, kind, gate, empty) = what;
        let (at, session, number) = when;
        let mut made = commit(state).kind(kind).at(at).number(number).subject(&subject);
        made.0.id = ids.0.map(|id| CommitId(oid(id)));
        let record = made.record();
        record.parent = ids.1.map(|id| CommitId(oid(id)));
        record.diff.hash = DiffHash([diff; 32]);
        record.diff.empty = empty;
        record.diff.added = number;
        record.gate = gate;
        record.session = session;
        record.tests = tests.map(|tests| TestEvidence { code: code(state), ..tests });
        made
    })
}

pub fn fact() -> impl Strategy<Value = Fact> {
    let runs =
        (evidence(), pick(&RunValidity::ALL), prop::option::of(time())).prop_map(|(tests, valid, at)| {
            let mut run = run(tests);
            run.validity = valid;
            run.at = at.map(Timestamp);
            Fact::TestRun(Box::new(run))
        });
    prop_oneof![
        8 => commits().prop_map(Commit::fact),
        3 => runs,
        1 => time().prop_map(ack),
        8 => events(),
    ]
}

fn events() -> impl Strategy<Value = Fact> {
    let outputs = (pick(&OutputKind::ALL), 0_u8..3).prop_map(|(kind, hash)| {
        EventKind::Output(Output {
            kind,
            hash: (hash > 0).then_some(Digest([hash; 32])),
            lines: Some(u64::from(hash) * 200),
        })
    });
    let usage = (prop::option::of(any::<u64>()), prop_oneof!["[0-9]{1,3}", "[0-9]{1,30}\\.[0-9]{0,9}"])
        .prop_map(|(count, cost)| {
            EventKind::Usage(Usage {
                input_tokens: count,
                output_tokens: count,
                cost_usd: Some(cost),
                context_tokens: count.filter(|count| count % 3 == 0),
                window_tokens: count.filter(|count| count % 7 == 0),
                cached_tokens: count.filter(|count| count % 2 == 0),
                output_lines: count.filter(|count| count % 5 == 0),
            })
        });
    let ends = (prop::option::of(0_u8..4), prop::option::of(0_u8..3)).prop_map(|(state, docs)| {
        EventKind::TurnEnd(TurnEnd { code: state.map(code), docs: docs.map(|docs| Digest([docs; 32])) })
    });
    let calls = (prop::sample::select(vec!["Edit", "Bash", "Read"]), 0_u8..3, prop::option::of(0_u8..3))
        .prop_map(|(tool, args, answer)| EventKind::ToolCall(call(tool, args, answer)));
    let ballots = (any::<u64>(), 0_u64..3)
        .prop_map(|(approve, reject)| EventKind::Verdict(Ballot { reviewer: None, approve, reject }));
    let refused = (0_u8..4).prop_map(|state| {
        let rule = "untested-edit".to_owned();
        EventKind::Refused(CommitRefused { code: code(state), tree: None, rule })
    });
    let renewals = pick(&Renewal::ALL).prop_map(EventKind::Renewed);
    let what = prop_oneof![
        2 => Just(EventKind::TurnStart), 4 => ends, 6 => calls, 2 => outputs, 1 => usage, 1 => ballots, 1 => renewals, 1 => refused,
    ];
    let names = (prop::option::of("[ab]"), prop::option::of("[st]"));
    let frame = (prop::option::of(time()), names, prop::option::of(0_u8..40));
    (frame, what).prop_map(|((at, (node, session), id), what)| {
        let id = id.map(|id| ShortHash([id; 8]));
        Fact::Event(Box::new(Event {
            at: at.map(Timestamp),
            uptime: None,
            node,
            session,
            id,
            trace: None,
            what,
        }))
    })
}

pub fn facts() -> impl Strategy<Value = Vec<Fact>> {
    prop::collection::vec(fact(), 0..60)
}
