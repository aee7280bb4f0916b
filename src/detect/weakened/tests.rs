use super::*;
use crate::detect::rule;

fn found(extension: &str, old: &str, new: &str) -> String {
    let setting = rule("test-weakening").unwrap().defaults();
    let file = ChangedText { extension: extension.into(), old: old.into(), new: new.into() };
    match weakened(&[file], &Patterns::of(&setting)) {
        None => String::new(),
        Some(found) => {
            let named = [("-", found.removed), ("s", found.skipped), ("a", found.loosened)];
            let named = named.iter().filter(|(_, names)| !names.is_empty());
            named.map(|(mark, names)| format!("{mark} {}", names.join("|"))).collect::<Vec<_>>().join("; ")
        }
    }
}

const RUST: &str = "#[test]\nfn adds() {\n    let sum = add(1, 2);\n    assert_eq!(sum, 3);\n}\n\n    #[test]\n    fn \
                        fails() {\n        let it = parse(\"x\");\n        assert!(it.is_err());\n        assert!(log.is_empty());\n    }\n";

#[test]
fn what_is_gone_skipped_or_loosened_is_named() {
    let without_fails = RUST.split("\n\n").next().unwrap();
    let cases = [
        (RUST.to_owned(), ""),
        (without_fails.to_owned(), "- fails"),
        (String::new(), "- adds|fails"),
        (RUST.replace("#[test]\nfn adds", "#[test]\n#[ignore]\nfn adds"), "s adds"),
        (RUST.replace("#[test]\nfn adds", "#[ignore = \"slow\"]\n#[test]\nfn adds"), "s adds"),
        (RUST.replace("        assert!(log.is_empty());\n", ""), "a fails"),
        (RUST.replace("fn fails", "fn refuses"), ""),
        (RUST.replace("sum, 3", "sum, 4"), ""),
        (RUST.replace("    assert_eq!(sum, 3);", "    // assert_eq!(sum, 3);"), "a adds"),
    ];
    for (new, expected) in cases {
        assert_eq!(found("rs", RUST, &new), expected, "{new}");
    }
}

#[test]
fn a_moved_test_is_not_removed() {
    let setting = rule("test-weakening").unwrap().defaults();
    let text =
        |old: &str, new: &str| ChangedText { extension: "rs".into(), old: old.into(), new: new.into() };
    let moved = [text(RUST, ""), text("", RUST)];
    assert_eq!(weakened(&moved, &Patterns::of(&setting)), None);
    let renamed = [text(RUST, ""), text("", &RUST.replace("fn adds", "fn sums"))];
    assert_eq!(weakened(&renamed, &Patterns::of(&setting)), None);
    // What was asserted in each test is asserted in a function beside them now.
    let helped = RUST.replace("    assert_eq!(sum, 3);", "    is_three(sum);");
    assert_eq!(
        found("rs", RUST, &format!("fn is_three(sum: u8) {{\n    assert_eq!(sum, 3);\n}}\n{helped}")),
        ""
    );
}

const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    (
        "py",
        "def test_a():\n    assert one() == 1\n\ndef test_b():\n    assert two()\n",
        "def test_a():\n    assert one() == 1\n",
        "- test_b",
    ),
    (
        "py",
        "def test_a():\n    assert one()\n",
        "@pytest.mark.skip\ndef test_a():\n    assert one()\n",
        "s test_a",
    ),
    (
        "py",
        "class T:\n    async def test_a(self):\n        self.assertEqual(1, f())\n",
        "class T:\n    async def test_a(self):\n        f()\n",
        "a test_a",
    ),
    (
        "js",
        "it('adds', () => {\n  expect(add(1)).toBe(2);\n});\n",
        "it.skip('adds', () => {\n  expect(add(1)).toBe(2);\n});\n",
        "s adds",
    ),
    (
        "ts",
        "  test(\"adds\", async () => {\n    expect(a).toBe(2);\n  });\n",
        "  test.todo(\"adds\");\n",
        "s adds",
    ),
    (
        "ts",
        "test('a', () => { expect(1); });\ntest('b', () => { expect(2); });\n",
        "test('a', () => { expect(1); });\n",
        "- b",
    ),
    (
        "go",
        "func TestA(t *testing.T) {\n\tt.Error(f())\n}\n",
        "func TestA(t *testing.T) {\n\tt.Skip(\"later\")\n\tt.Error(f())\n}\n",
        "s TestA",
    ),
    (
        "java",
        "  @Test\n  public void adds() {\n    assertEquals(2, add());\n  }\n",
        "  @Test\n  @Disabled\n  public void adds() {\n    assertEquals(2, add());\n  }\n",
        "s adds",
    ),
    (
        "cc",
        "TEST(S, A) {\n  EXPECT_EQ(1, f());\n}\nTEST(S, B) {\n  EXPECT_EQ(2, g());\n}\n",
        "TEST(S, A) {\n  EXPECT_EQ(1, f());\n}\n",
        "- S, B",
    ),
    (
        "cs",
        "    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(2, Add());\n    }\n",
        "    [Fact]\n    public void Adds()\n    {\n        Add();\n    }\n",
        "a Adds",
    ),
    (
        "rb",
        "  it \"adds\" do\n    expect(a).to eq 2\n  end\n",
        "  xit \"adds\" do\n    expect(a).to eq 2\n  end\n",
        "s adds",
    ),
    (
        "bats",
        "@test \"adds\" {\n  [ \"$x\" = 1 ]\n}\n",
        "@test \"adds\" {\n  skip\n  [ \"$x\" = 1 ]\n}\n",
        "s adds",
    ),
    ("txt", "def test_a():\n    assert 1\n", "", ""),
];

#[test]
fn languages_declare_tests_in_their_own_ways() {
    for (extension, old, new, expected) in LANGUAGES {
        assert_eq!(found(extension, old, new), *expected, "{extension}: {new}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(old: String, new in "(#\\[test\\]|fn a|\\n|    |\\}|assert|it\\('|é|\"|\\()*") {
        for extension in ["rs", "js", "py", "cc"] {
            let _ = found(extension, &old, &new);
            let _ = found(extension, &new, &old);
        }
    }
}
