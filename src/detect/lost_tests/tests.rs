use super::*;

/// A set: `-` in front of an id says that it is skipped.
fn set(ids: &[&str]) -> Vec<Identity> {
    let of = |id: &&str| match id.strip_prefix('-') {
        Some(id) => Identity { id: id.to_owned(), skipped: true },
        None => Identity { id: (*id).to_owned(), skipped: false },
    };
    ids.iter().map(of).collect()
}

fn lost(before: &[&str], now: &[&str]) -> (Vec<String>, Vec<String>) {
    let found = lost_tests(&set(before), &set(now), &BTreeSet::new());
    assert_eq!(found.gone_total, u64::try_from(found.gone.len()).unwrap());
    (found.gone, found.skipped)
}

#[test]
fn what_is_gone_or_newly_skipped_is_named() {
    let cases = [
        (&["m::a", "m::b"][..], &["m::a"][..], &["m::b"][..], &[][..]),
        (&["m::a", "m::b"], &["m::a", "-m::b"], &[], &["m::b"]),
        (&["-m::a"], &[], &["m::a"], &[]),
        (&["-m::a"], &["-m::a"], &[], &[]),
        (&["m::a", "m::b", "n::c"], &["m::a", "m::x"], &["n::c"], &[]),
        (&["m::a", "m::b", "m::c"], &["m::x"], &["m::b", "m::c"], &[]),
    ];
    for (before, now, gone, skipped) in cases {
        let found = lost(before, now);
        assert_eq!((found.0, found.1), (owned(gone), owned(skipped)), "{before:?} {now:?}");
    }
}

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn what_came_under_another_name_is_not_lost() {
    let cases: [(&[&str], &[&str]); 9] = [
        // Renamed, moved, moved with others, in files that were renamed or split.
        (&["m::a", "m::b"], &["m::a", "m::c"]),
        (&["m::a"], &["n::deep::a"]),
        (
            &["tests/a.py::T::test_x", "tests/a.py::T::test_y"],
            &["tests/a.py::T::test_x", "tests/b.py::test_y"],
        ),
        (&["a.test.js::sum > adds"], &["b.test.js::total > adds"]),
        (&["pkg/a::TestX/case_1"], &["pkg/b::TestX/case_1"]),
        // Rows of a test.
        (&["t.py::test_a"], &["t.py::test_a[1]", "t.py::test_a[2]"]),
        (&["t.py::test_a[1-x::y]", "t.py::test_a[2]"], &["t.py::test_a[3]"]),
        (&["S::adds (1)", "S::adds (2)", "S::adds (3)"], &["S::adds (1)"]),
        (&["T::case_1", "T::case_2"], &["T::case_1"]),
    ];
    for (before, now) in cases {
        assert_eq!(lost(before, now), (vec![], vec![]), "{before:?} {now:?}");
    }
}

#[test]
fn what_runs_again_is_told_where_it_was_told_to_be_lost() {
    let told = BTreeSet::from(["m::a", "m::b", "m::c"]);
    let found = lost_tests(&set(&["-m::b", "m::c"]), &set(&["m::a", "m::b", "m::c", "m::new"]), &told);
    assert_eq!(found.back, ["m::a", "m::b"]);
}

#[test]
fn long_lists_are_cut_and_counted() {
    let many: Vec<String> = (0..2321).map(|at| format!("m{at}::gone")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let found = lost_tests(&set(&many), &set(&["m::other"]), &BTreeSet::new());
    assert_eq!((found.gone.len(), found.gone_total), (LostTests::MAX_NAMES, 2321));
}

#[test]
fn what_test_files_tell_is_told_once() {
    let of = |gone: &[&str], total: u64| LostTests {
        gone: owned(gone),
        gone_total: total,
        ..LostTests::default()
    };
    let removed = |names: &[&str], total: u64| {
        Some(Weakening { removed: owned(names), total, waiver: Some("why".into()), ..Weakening::default() })
    };
    let many: Vec<String> = (0..LostTests::MAX_NAMES).map(|at| format!("t{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases = [
        (None, of(&["m::a"], 1), Some((owned(&["m::a"]), 1))),
        (removed(&["a"], 1), of(&["m::a", "m::ba"], 2), Some((owned(&["a", "m::ba"]), 2))),
        (
            removed(&["test_a"], 1),
            of(&["t.py::test_a[1]", "t.py::test_a[2]"], 2),
            Some((owned(&["test_a"]), 1)),
        ),
        (removed(&many, 2321), of(&many, 2321), Some((owned(&many), 2321))),
        (removed(&many[..2], 2), of(&many, 2321), Some((owned(&many), 2321))),
        (removed(&["a"], 1), of(&[], 0), Some((owned(&["a"]), 1))),
        (None, of(&[], 0), None),
    ];
    for (told, lost, expected) in cases {
        let found = with_lost(told.clone(), &lost);
        assert_eq!(found.clone().map(|found| (found.removed, found.total)), expected, "{told:?} {lost:?}");
        assert!(told.is_none() || found.is_some_and(|found| found.waiver.is_some()), "a waiver stays");
    }
}

#[test]
fn over_a_range_what_came_back_is_not_lost() {
    let run = |gone: &[&str], skipped: &[&str], back: &[&str]| LostTests {
        gone: owned(gone),
        gone_total: u64::try_from(gone.len()).unwrap(),
        skipped: owned(skipped),
        skipped_total: u64::try_from(skipped.len()).unwrap(),
        back: owned(back),
    };
    let runs = [run(&["a", "b"], &["c"], &[]), run(&["d"], &[], &["a", "c"]), run(&["a"], &[], &[])];
    assert_eq!(lost_in_all(runs.into_iter()), run(&["b", "d", "a"], &[], &[]));
}
