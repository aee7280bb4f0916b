use super::*;

#[test]
fn one_line_that_goes_there_and_back_takes_one_return_more() {
    let row = |states: &[u8], documents: fn(u8) -> Vec<(u8, u8, u8)>| {
        let turn = |(at, pair): (u8, &[u8])| switch(pair[1], (pair[0], pair[1]), &documents(at));
        level((0..).zip(states.windows(2)).map(turn).collect())
    };
    let alone = |_| Vec::new();
    assert_eq!(row(&[1, 2, 1, 2, 1], alone), Some(Level::Warn), "a status, or a trial of a hook");
    assert_eq!(row(&[1, 2, 1, 2, 1, 2], alone), Some(Level::Halt));
    let reviewed = |at: u8| if at.is_multiple_of(2) { vec![(2, at, at + 1)] } else { Vec::new() };
    assert_eq!(row(&[1, 2, 1, 2, 1], reviewed), Some(Level::Warn), "a document says why");
    let longer = |states: &[u8]| {
        let turn = |pair: &[u8]| switch(pair[1], (pair[0], pair[1]), &[]).lines(4, 1);
        level(states.windows(2).map(turn).collect())
    };
    assert_eq!(longer(&[1, 2, 1, 2, 1]), Some(Level::Halt));
}

#[test]
fn a_line_that_goes_there_and_back_from_ever_new_states_comes_back_nowhere() {
    let from = |(work, status): (u8, (u8, u8))| {
        vec![
            commit(work).change(Nature::Work, &[(9, work - 1, work)]).lines(40, 8),
            switch(work + 100, status, &[(2, work, work + 1)]),
            switch(work, (status.1, status.0), &[]),
        ]
    };
    let work: Vec<Commit> = (1..6).flat_map(|work| from((work, (1, 2)))).collect();
    assert_eq!(level(work), Some(Level::Note), "whose turn it is, beside new code");
    let back: Vec<Commit> = [1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1]
        .windows(2)
        .map(|pair| switch(pair[1], (pair[0], pair[1]), &[]))
        .collect();
    assert_eq!(level(back), Some(Level::Halt), "the same state again and again");
}

#[test]
fn what_is_put_on_and_off_beside_new_code_comes_back_nowhere() {
    // A feature each time, and the same five lines put on and off beside it.
    let round = |feature: u8, pattern: &[&str]| -> Vec<Commit> {
        let one = |step: &&str| match *step {
            "work" => commit(feature).change(Nature::Work, &[(10 + feature, 0, 1)]).lines(40, 0),
            "on" => commit(100 + feature).change(Nature::Work, &[(1, 1, 2)]).lines(5, 5),
            _ => commit(feature).change(Nature::Work, &[(1, 2, 1)]).lines(5, 5),
        };
        pattern.iter().map(one).collect()
    };
    let rows = |pattern: &[&str], tests: fn(u8) -> u64| {
        (1..=8_u8)
            .flat_map(|feature| round(feature, pattern).into_iter().map(move |one| (feature, one)))
            .map(|(feature, mut one)| {
                let state = one.record().code.0[0];
                one.tests(green(state, tests(feature)))
            })
            .collect::<Vec<_>>()
    };
    let halts =
        |rows: Vec<Commit>| (1..=rows.len()).find(|end| level(rows[..*end].to_vec()) == Some(Level::Halt));
    let growing = |feature| 10 + u64::from(feature);
    assert_eq!(halts(rows(&["work", "on", "off"], growing)), None);
    assert!(halts(rows(&["work", "on", "off"], |_| 10)).is_some(), "the tests stand still for long");
    assert!(halts(rows(&["work", "on", "off"], |_| 10)) > Some(12), "and not at once");
    // In the middle of the work: the code comes back to what is on.
    let within: Vec<Commit> = (0..8_u8)
        .flat_map(|at| {
            [
                commit(100 + at).change(Nature::Work, &[(1, 1, 2)]).lines(5, 5),
                commit(101 + at).change(Nature::Work, &[(10 + at, 0, 1)]).lines(40, 0),
                commit(1 + at).change(Nature::Work, &[(1, 2, 1)]).lines(5, 5),
            ]
        })
        .zip(0..)
        .map(|(mut one, at)| {
            let state = one.record().code.0[0];
            one.tests(green(state, 10 + at))
        })
        .collect();
    assert_eq!(halts(within), None);
}
