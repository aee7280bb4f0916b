use super::*;

/// A set: `-` in front of an id says that it is skipped.
fn set(ids: &[&str]) -> Vec<NamedTest> {
    let of = |id: &&str| match id.strip_prefix('-') {
        Some(id) => NamedTest { id: id.to_owned(), skipped: true },
        None => NamedTest { id: (*id).to_owned(), skipped: false },
    };
    ids.iter().map(of).collect()
}

fn lost(before: &[&str], now: &[&str]) -> (Vec<String>, Vec<String>) {
    lost_beside(before, now, &TestComparison::default())
}

fn lost_beside(before: &[&str], now: &[&str], files: &TestComparison) -> (Vec<String>, Vec<String>) {
    let found = lost_tests(&set(before), &set(now), &BTreeSet::new(), files);
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
    let cases: [(&[&str], &[&str]); 14] = [
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
        (&["T::case_1", "T::case_2", "T::case_3"], &["T::case_1", "T::case_2"]),
        (&["T::add_0", "T::add_1"], &["T::add"]),
        (&["T::add"], &["T::add_0", "T::add_1"]),
        (&["S/Adds.All/0", "S/Adds.All/1"], &["S/Adds.All/0"]),
        (&["adds(int)[1]", "adds(int)[2]"], &["adds(int)[1]"]),
    ];
    for (before, now) in cases {
        assert_eq!(lost(before, now), (vec![], vec![]), "{before:?} {now:?}");
    }
}

#[test]
fn what_runs_again_is_told_where_it_was_told_to_be_lost() {
    let told = BTreeSet::from(["m::a", "m::b", "m::c"]);
    let found = lost_tests(
        &set(&["-m::b", "m::c"]),
        &set(&["m::a", "m::b", "m::c", "m::new"]),
        &told,
        &TestComparison::default(),
    );
    assert_eq!(found.back, ["m::a", "m::b"]);
}

#[test]
fn long_lists_are_cut_and_counted() {
    let many: Vec<String> = (0..2321).map(|at| format!("m{at}::gone")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let found = lost_tests(&set(&many), &set(&["m::other"]), &BTreeSet::new(), &TestComparison::default());
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

#[test]
fn numbers_and_words_in_a_name_make_no_row_of_it() {
    let cases: [(&[&str], &[&str], &[&str]); 8] = [
        (&["t.py::test_a_utf8", "t.py::test_a_utf16"], &["t.py::test_a_utf16"], &["t.py::test_a_utf8"]),
        (&["m::sha1", "m::sha256"], &["m::sha256"], &["m::sha1"]),
        // No row goes out of the middle, or before the others.
        (&["m::a_1", "m::a_2", "m::a_3"], &["m::a_2", "m::a_3"], &["m::a_1"]),
        (&["m::a_1", "m::a_2", "m::a_3"], &["m::a_1", "m::a_3"], &["m::a_2"]),
        (&["m::http_404", "m::http_500"], &["m::http_404"], &["m::http_500"]),
        (&["m::a", "m::a_2"], &["m::a_2"], &["m::a"]),
        (&["m::a", "m::a_2"], &["m::a"], &["m::a_2"]),
        (&["s > adds (negative)", "s > adds (positive)"], &["s > adds (positive)"], &["s > adds (negative)"]),
    ];
    for (before, now, gone) in cases {
        assert_eq!(lost(before, now), (owned(gone), vec![]), "{before:?} {now:?}");
    }
}

#[test]
fn what_test_files_tell_of_names_is_believed() {
    let files = |moved: &[&str], added: &[&str], gone: &[&str]| TestComparison {
        moved: owned(moved),
        added: owned(added),
        gone: owned(gone),
        ..TestComparison::default()
    };
    // One table replaced four tests; the new tests have replaced none.
    let table = lost_beside(
        &["a_1", "a_2", "a_3", "a_4"],
        &["adds"],
        &files(&["a_1", "a_2", "a_3", "a_4"], &[], &[]),
    );
    assert_eq!(table.0, owned(&[]));
    let before = &["a_1", "b_1", "b_2"];
    let other = lost_beside(before, &["a_1", "a_5", "a_6"], &files(&[], &["a_5", "a_6"], &[]));
    assert_eq!(other.0, owned(&["b_1", "b_2"]));
    let unknown = lost_beside(before, &["a_1", "a_5", "a_6"], &files(&[], &["a_5"], &[]));
    assert_eq!(unknown.0, owned(&["b_2"]));
    // One of two tests of a name moved, the other is gone.
    assert_eq!(
        lost_beside(&["m::a", "n::a"], &["o::x"], &files(&["a"], &["x"], &["a"])).0,
        owned(&["m::a", "n::a"])
    );
}

#[test]
fn a_test_that_its_file_tells_as_skipped_and_the_run_as_gone_is_told_once() {
    let told = Weakening { skipped: owned(&["unit_1", "unit_2"]), total: 2, ..Weakening::default() };
    let lost =
        LostTests { gone: owned(&["tests::unit_1", "tests::unit_2"]), gone_total: 2, ..LostTests::default() };
    assert_eq!(with_lost(Some(told.clone()), &lost), Some(told));
    let cut = Weakening { removed: owned(&["a"]), total: 1, extent: Extent::AtLeast, ..Weakening::default() };
    let lost = LostTests { gone: owned(&["m::a", "m::b"]), gone_total: 9, ..LostTests::default() };
    let found = with_lost(Some(cut), &lost).unwrap();
    assert_eq!((found.total, found.extent), (9, Extent::Whole));
}
