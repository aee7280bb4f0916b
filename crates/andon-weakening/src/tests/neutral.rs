//! Changes of tests that take nothing from them, and changes that only look so.

use super::{found, weakened};

const NEUTRAL: &[(&str, &str, &str)] = &[
    // A table that keeps one old name, over several lines.
    (
        "py",
        "def test_parse():\n    assert parse('1') == 1\n\n\ndef test_parse_two():\n    assert parse('2') == 2\n",
        "@pytest.mark.parametrize(\n    'text, want',\n    [\n        ('1', 1),\n        ('2', 2),\n    ],\n)\ndef test_parse(text, want):\n    assert parse(text) == want\n",
    ),
    (
        "rs",
        "#[test]\nfn a() {\n    assert_eq!(parse(\"11\"), 11);\n}\n\n#[test]\nfn b() {\n    assert_eq!(parse(\"22\"), 22);\n}\n",
        "#[test]\nfn a() {\n    for (text, want) in [(\"11\", 11), (\"22\", 22)] {\n        assert_eq!(parse(text), want);\n    }\n}\n",
    ),
    (
        "go",
        "package a\n\nvar _ = Describe(\"x\", func() {\n\tIt(\"a\", func() {\n\t\tExpect(F(1)).To(Equal(2))\n\t})\n\tIt(\"b\", func() {\n\t\tExpect(F(2)).To(Equal(3))\n\t})\n})\n",
        "package a\n\nvar _ = Describe(\"x\", func() {\n\tDescribeTable(\"f\", func(n, w int) {\n\t\tExpect(F(n)).To(Equal(w))\n\t},\n\t\tEntry(\"a\", 1, 2),\n\t\tEntry(\"b\", 2, 3),\n\t)\n})\n",
    ),
    (
        "ts",
        "it('adds one', () => {\n  expect(add(1)).toBe(11);\n});\nit('adds two', () => {\n  expect(add(2)).toBe(22);\n});\n",
        "for (const [n, want] of [\n  [1, 11],\n  [2, 22],\n]) {\n  it(`adds ${n}`, () => {\n    expect(add(n)).toBe(want);\n  });\n}\n",
    ),
    // Several assertions as one table or one equality, a test split in two, existing helpers.
    (
        "cs",
        "public class A\n{\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(2, Add(1));\n        Assert.Equal(3, Add(2));\n    }\n}\n",
        "public class A\n{\n    [Theory]\n    [InlineData(1, 2)]\n    [InlineData(2, 3)]\n    public void Adds(int n, int w)\n    {\n        Assert.Equal(w, Add(n));\n    }\n}\n",
    ),
    (
        "py",
        "def test_user():\n    u = load(1)\n    assert u.name == 'a'\n    assert u.age == 3\n",
        "def test_user():\n    u = load(1)\n    assert u == User(name='a', age=3)\n",
    ),
    (
        "rs",
        "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n    assert!(add(MAX, 1).is_err());\n}\n",
        "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn refuses() {\n    assert!(add(MAX, 1).is_err());\n}\n",
    ),
    (
        "rs",
        "fn good(out: Out) {\n    assert!(out.ok);\n}\n\n#[test]\nfn subs() {\n    let out = sub(1, 2);\n    assert!(out.ok);\n}\n",
        "fn good(out: Out) {\n    assert!(out.ok);\n}\n\n#[test]\nfn subs() {\n    good(sub(1, 2));\n}\n",
    ),
    (
        "rs",
        "#[test]\nfn adds() {\n    let out = add(1, 2);\n    assert!(out.is_ok());\n    assert_eq!(out.unwrap(), 3);\n}\n",
        "#[test]\nfn adds() {\n    let out = add(1, 2).unwrap();\n    assert_eq!(out, 3);\n}\n",
    ),
    (
        "java",
        "class A {\n    @Test\n    void adds() {\n        assertNotNull(x());\n        assertEquals(3, x().size());\n    }\n}\n",
        "class A {\n    @Test\n    void adds() {\n        assertThat(x())\n            .isNotNull()\n            .hasSize(3);\n    }\n}\n",
    ),
    // A number that the test and its name tell together.
    (
        "rs",
        "#[test]\nfn version_is_7() {\n    assert_eq!(VERSION, 7);\n}\n",
        "#[test]\nfn version_is_8() {\n    assert_eq!(VERSION, 8);\n}\n",
    ),
    // The assertion and its test renamed together; a layout.
    (
        "py",
        "def test_parse_cfg():\n    c = parse_cfg('a=1')\n    assert c.get('a') == '1'\n",
        "def test_read_config():\n    config = read_config('a=1')\n    assert config.get('a') == '1'\n",
    ),
    (
        "ts",
        "it('adds two numbers', async () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
        "it(\n  'adds two numbers',\n  async () => {\n    expect(add(1, 2)).toBe(3);\n  },\n  20_000,\n);\n",
    ),
    // Words that only look like tests and assertions.
    (
        "py",
        "class Db:\n    def test_connection(self):\n        return self.ping()\n\n\ndef testnet_address(key):\n    assert key\n",
        "class Db:\n    pass\n",
    ),
    ("rb", "def go\n  test = 1\n  example = 2\n  test + example\nend\n", "def go\n  3\nend\n"),
    (
        "go",
        "package a\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n\nfunc TestServer() *Server {\n\treturn nil\n}\n",
        "package a\n",
    ),
    (
        "go",
        "package a\n\nfunc TestA(t *testing.T) {\n\tos.Setenv(\"A\", \"b\")\n\tassert.Equal(t, 1, A())\n}\n",
        "package a\n\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 1, A())\n}\n",
    ),
    (
        "java",
        "class T {\n    @Test\n    void a() {\n        int expected = 1;\n        assertEquals(expected, a());\n    }\n}\n",
        "class T {\n    @Test\n    void a() {\n        assertEquals(1, a());\n    }\n}\n",
    ),
    ("rs", "#[test]\n#[ignore]\nfn a() {\n    assert!(x());\n}\n", "// none\n"),
];

#[test]
fn a_healthy_change_of_tests_is_silent() {
    for (extension, old, new) in NEUTRAL {
        assert_eq!(found(extension, old, new), "", "{extension}\n{old}\n{new}");
    }
}

const TOLD: &[(&str, &str, &str, &str)] = &[
    // Signatures of several lines, and texts at the first column.
    (
        "py",
        "def test_a(\n    db: Db,\n) -> None:\n    text = \"\"\"\nname: a\n\"\"\"\n    assert load(text).name == 'a'\n    assert db.ok\n",
        "def test_a(\n    db: Db,\n) -> None:\n    text = \"\"\"\nname: a\n\"\"\"\n    assert load(text).name == 'a'\n",
        "a test_a",
    ),
    (
        "rs",
        "#[rstest]\nfn a(\n    db: Db,\n) -> Result<()> {\n    let text = r#\"\nname\n\"#;\n    assert_eq!(f(text)?, 1);\n    assert!(db.ok());\n    Ok(())\n}\n",
        "#[rstest]\nfn a(\n    db: Db,\n) -> Result<()> {\n    let text = r#\"\nname\n\"#;\n    assert_eq!(f(text)?, 1);\n    Ok(())\n}\n",
        "a a",
    ),
    (
        "java",
        "class A {\n    @Test\n    void a(\n        int y\n    ) throws Exception {\n        assertEquals(1, f());\n        assertEquals(2, g(y));\n    }\n}\n",
        "class A {\n    @Test\n    void a(\n        int y\n    ) throws Exception {\n        assertEquals(1, f());\n    }\n}\n",
        "a a",
    ),
    (
        "ts",
        "test('a', {\n  tag: '@fast',\n}, async ({ page }) => {\n  await expect(page).toHaveTitle('a');\n  await expect(page).toHaveURL('/b');\n});\n",
        "test('a', {\n  tag: '@fast',\n}, async ({ page }) => {\n  await expect(page).toHaveTitle('a');\n});\n",
        "a a",
    ),
    // One line each, and languages that were not read.
    (
        "rs",
        "#[test] fn a() { assert_eq!(a(), 1); assert_eq!(b(), 2); }\n#[actix_web::test] async fn b() { assert!(b()); }\n",
        "#[test] fn a() { assert_eq!(a(), 1); }\n",
        "- b; a a",
    ),
    ("java", "class T {\n    @Test void a() { assertEquals(1, a()); }\n}\n", "class T {\n}\n", "- a"),
    (
        "php",
        "<?php\n/**\n * @test\n */\npublic function it_adds(): void\n{\n    $this->assertSame(2, f());\n}\n",
        "",
        "- it_adds",
    ),
    ("ts", "it(\n  'a',\n  () => {\n    expect(f()).toBe(1);\n  },\n);\n", "\n", "- a"),
    (
        "cs",
        "class A\n{\n    [Test]\n    async Task B()\n    {\n        Assert.True(await F());\n    }\n}\n",
        "class A\n{\n}\n",
        "- B",
    ),
    ("exs", "test \"a\" do\n  assert a() == 1\nend\n", "\n", "- a"),
    ("dart", "void main() {\n  test('a', () {\n    expect(a(), 1);\n  });\n}\n", "void main() {\n}\n", "- a"),
    ("swift", "import Testing\n\n@Test func a() {\n    #expect(f() == 1)\n}\n", "import Testing\n", "- a"),
    // Another test that shares what all begin with, and a table that is about something else.
    (
        "py",
        "def test_refund():\n    app = make_app()\n    client = app.client()\n    out = client.post('/refund', 3)\n    assert out.status == 200\n    assert out.json['refunded'] == 3\n",
        "def test_home():\n    app = make_app()\n    client = app.client()\n    out = client.get('/')\n    assert out.status == 200\n    assert out.json['title'] == 'x'\n",
        "- test_refund",
    ),
];

#[test]
fn what_is_lost_is_told_in_any_layout() {
    for (extension, old, new, expected) in TOLD {
        assert_eq!(found(extension, old, new), *expected, "{extension}\n{old}\n{new}");
    }
}

/// A line of production code that asserts something is no excuse for a test that does not any more.
#[test]
fn what_asserts_elsewhere_excuses_nothing() {
    let whole = "#[test]\nfn adds() {\n    assert_eq!(add(1), 2);\n    assert_eq!(add(2), 3);\n}\n";
    let less = whole.replace("    assert_eq!(add(2), 3);\n", "");
    let code = "pub fn add(n: i32) -> i32 {\n    n + 1\n}\n";
    let asserting = code.replace("    n", "    debug_assert!(n > 0);\n    assert!(n < 9);\n    n");
    let files = [("it.rs", "rs", whole, less.as_str()), ("code.rs", "rs", code, &asserting)];
    assert_eq!(weakened(&files).map(|it| it.loosened), Some(vec!["adds".to_owned()]));
    let calling =
        whole.replace("    assert_eq!(add(1), 2);\n    assert_eq!(add(2), 3);\n", "    all_add();\n");
    let helper = "pub fn all_add() {\n    assert_eq!(add(1), 2);\n    assert_eq!(add(2), 3);\n}\n";
    let files = [("it.rs", "rs", whole, calling.as_str()), ("code.rs", "rs", "", helper)];
    assert_eq!(weakened(&files), None);
}
