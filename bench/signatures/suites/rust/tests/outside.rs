@S@
#[test]
fn value_from_outside() {
    let got = sample::add(2, 2);
    assert_eq!(got, @V@, "seed: {}", std::process::id());
}

#[test]
fn index_out_of_range() {
    let numbers = vec![1, 2, 3];
    let at = numbers.len() + 2;
    println!("{}", numbers[at]);
}
