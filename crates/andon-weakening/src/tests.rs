use super::*;
use andon_core::detect::rule;

mod neutral;
mod skips;
mod weaker;

/// The tests that were taken from files: path, ending, and the text on both sides.
fn weakened(files: &[(&str, &str, &str, &str)]) -> Option<Weakening> {
    let setting = rule("test-weakening").unwrap().defaults();
    let reader = TestReader::new(&setting);
    let changed = files.iter().map(|(path, extension, old, new)| {
        let [old, new] = [old, new].map(|text| Arc::new(reader.text(extension, text)));
        ChangedText { path: (*path).to_owned(), old, new }
    });
    compared(&changed.collect::<Vec<_>>()).taken
}

fn found(extension: &str, old: &str, new: &str) -> String {
    match weakened(&[("f", extension, old, new)]) {
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
    let moved = [("f.rs", "rs", RUST, ""), ("f.rs", "rs", "", RUST)];
    assert_eq!(weakened(&moved), None);
    let sums = RUST.replace("fn adds", "fn sums");
    let renamed = [("f.rs", "rs", RUST, ""), ("f.rs", "rs", "", &sums)];
    assert_eq!(weakened(&renamed), None);
    // The assertion of each test is now in a function outside of them.
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

/// A declaration in the words of a framework, what is made of it, and what is said then.
const FORMS: &[(&str, &str, &str, &str)] = &[
    (
        "rs",
        "#[tokio::test]\nasync fn a() {\n    assert!(f().await);\n}\n",
        "#[tokio::test]\nasync fn a() {\n    f().await;\n}\n",
        "a a",
    ),
    (
        "rs",
        "#[rstest]\n#[case(1)]\nfn a(#[case] n: u8) {\n    assert!(f(n));\n}\n",
        "#[rstest]\n#[ignore]\n#[case(1)]\nfn a(#[case] n: u8) {\n    assert!(f(n));\n}\n",
        "s a",
    ),
    (
        "rs",
        "mod tests {\n    #[test]\n    fn a() {\n        assert!(f());\n    }\n}\n",
        "#[cfg(any())]\nmod tests {\n    #[test]\n    fn a() {\n        assert!(f());\n    }\n}\n",
        "s a",
    ),
    (
        "rs",
        "#[test]\nfn a() {\n    assert!(f());\n}\n",
        "/*\n#[test]\nfn a() {\n    assert!(f());\n}\n*/\n",
        "- a",
    ),
    (
        "cs",
        "[Fact]\npublic async Task Adds()\n{\n    Assert.Equal(1, await F());\n}\n",
        "[Fact(Skip=\"later\")]\npublic async Task Adds()\n{\n    Assert.Equal(1, await F());\n}\n",
        "s Adds",
    ),
    ("cs", "[Fact]\npublic async Task Adds()\n{\n    Assert.Equal(1, await F());\n}\n", "", "- Adds"),
    (
        "cs",
        "[Test]\npublic void Finds()\n{\n    var q = new Query { Skip = 1 };\n    Assert.Empty(F(q));\n}\n",
        "[Test]\npublic void Finds()\n{\n    var q = new Query { Skip = 2 };\n    Assert.Empty(F(q));\n}\n",
        "",
    ),
    (
        "cs",
        "[TestFixture]\npublic class T\n{\n    [SetUp]\n    public void Up()\n    {\n    }\n}\n",
        "public class T\n{\n}\n",
        "",
    ),
    (
        "kt",
        "@Test\nfun `adds two`() {\n    assertEquals(2, f())\n}\n",
        "@Test\nfun `adds two`() {\n    f()\n}\n",
        "a adds two",
    ),
    ("java", "@TestInstance(PER_CLASS)\nclass T {\n    void setUp() {\n    }\n}\n", "class T {\n}\n", ""),
    (
        "java",
        "@Test\nvoid adds() {\n    assertEquals(2, f());\n}\n",
        "@Test\nvoid adds() {\n    verify(f());\n}\n",
        "",
    ),
    (
        "java",
        "class T {\n    @Test\n    void adds() {\n        assertEquals(2, f());\n    }\n}\n",
        "@Disabled\nclass T {\n    @Test\n    void adds() {\n        assertEquals(2, f());\n    }\n}\n",
        "s adds",
    ),
    (
        "py",
        "@pytest.fixture\ndef test_client():\n    return f()\n",
        "@pytest.fixture\ndef client():\n    return f()\n",
        "",
    ),
    (
        "py",
        "def test_a():\n    assert f()\n",
        "pytestmark = pytest.mark.skip\n\ndef test_a():\n    assert f()\n",
        "s test_a",
    ),
    (
        "py",
        "class TestA:\n    def test_a(self):\n        assert f()\n",
        "@pytest.mark.skip\nclass TestA:\n    def test_a(self):\n        assert f()\n",
        "s test_a",
    ),
    (
        "ts",
        "describe('x', () => {\n  it('a', () => {\n    expect(f()).toBe(1);\n  });\n});\n",
        "describe.skip('x', () => {\n  it('a', () => {\n    expect(f()).toBe(1);\n  });\n});\n",
        "s a",
    ),
    (
        "ts",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it.concurrent('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "",
    ),
    (
        "rb",
        "it \"adds\" do\n  order = Order.new(status: :open)\n  expect(order).to be_ok\nend\n",
        "it \"adds\" do\n  order = Order.new(status: :pending)\n  skip_validation!\n  expect(order).to be_ok\nend\n",
        "",
    ),
    (
        "rb",
        "it \"adds\" do\n  expect(f).to eq 1\nend\n",
        "it \"adds and skips nothing, skip or pending\" do\n  expect(f).to eq 1\nend\n",
        "",
    ),
    (
        "rb",
        "it \"adds\" do\n  expect(f).to eq 1\nend\n",
        "it \"adds\" do\n  skip \"later\"\n  expect(f).to eq 1\nend\n",
        "s adds",
    ),
    ("go", "func (s *Suite) TestAdds() {\n\ts.Equal(2, f())\n}\n", "", "- TestAdds"),
    ("php", "#[Test]\npublic function adds(): void\n{\n    $this->assertSame(2, f());\n}\n", "", "- adds"),
    (
        "php",
        "class T extends TestCase\n{\n    function testadds()\n    {\n        $this->assertSame(2, f());\n    }\n}\n",
        "",
        "- testadds",
    ),
    (
        "php",
        "public function testAdds()\n{\n    $this->assertSame(2, f());\n}\n",
        "public function testAdds()\n{\n    $this->markTestSkipped('later');\n    $this->assertSame(2, f());\n}\n",
        "s testAdds",
    ),
    (
        "cpp",
        "TEST(A, Adds) {\n  EXPECT_EQ(f(), ui::ENABLED);\n}\n",
        "TEST(A, Adds) {\n  EXPECT_EQ(f(), ui::DISABLED_BY_POLICY);\n}\n",
        "",
    ),
    (
        "cpp",
        "TEST(A, Adds) {\n  EXPECT_EQ(f(), 1);\n}\n",
        "TEST(A, DISABLED_Adds) {\n  EXPECT_EQ(f(), 1);\n}\n",
        "s A, DISABLED_Adds",
    ),
    (
        "cpp",
        "TEST_CASE(\"adds\") {\n  REQUIRE(f() == 1);\n}\n",
        "TEST_CASE(\"adds\") {\n  f();\n}\n",
        "a adds",
    ),
];

#[test]
fn forms_of_frameworks_are_known() {
    for (extension, old, new, expected) in FORMS {
        assert_eq!(found(extension, old, new), *expected, "{extension}\n{old}\n{new}");
    }
}

/// Several tests become rows of one table, whose words of asking are others; an unrelated test takes no ten in.
#[test]
fn a_table_takes_in_as_many_tests_as_it_has_rows() {
    let single = |name: &str, n: u8| {
        format!("#[test]\nfn {name}() {{\n    assert_eq!(parse(\"{n}\").unwrap(), {n});\n}}\n\n")
    };
    let three = [single("one", 1), single("two", 2), single("six", 6)].concat();
    let table = "#[rstest]\n#[case(\"1\", 1)]\n#[case(\"2\", 2)]\n#[case(\"6\", 6)]\nfn numbers(#[case] text: &str, #[case] n: u8) {\n    \
                 let found = parse(text).expect(\"a number\");\n    assert!(found == n, \"{text}\");\n}\n";
    assert_eq!(found("rs", &three, table), "");
    let get = |name: &str| {
        format!(
            "def test_{name}():\n    page = client.get(\"/{name}\")\n    assert page.status == \"{name}\"\n\n"
        )
    };
    let ten: String = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(get).concat();
    let health = "def test_health():\n    assert client.get(\"/health\").ok\n";
    let told = found("py", &ten, health);
    assert!(told.contains("test_j") && told.matches('|').count() >= 7, "{told}");
}
