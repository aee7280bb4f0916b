//! Idioms by which tests are skipped, each recognised as such; and what only looks like one.

use super::found;

/// A text with a test, and what takes whose place in it so that the test does not run.
type Idioms = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const RUST: &str =
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1), 2);\n    }\n}\n";
const PYTHON: &str = "import pytest\n\nclass TestA:\n    def test_adds(self):\n        assert add(1) == 2\n";
const UNITTEST: &str = "import unittest\n\nclass ATest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1), 2)\n";
const SCRIPT: &str = "describe('a', () => {\n  it('adds', () => {\n    expect(add(1)).toBe(2);\n  });\n\n  it('subtracts', () => {\n    expect(sub(1)).toBe(0);\n  });\n});\n";
const GO: &str =
    "package a\n\nfunc TestAdds(t *testing.T) {\n\tif add(1) != 2 {\n\t\tt.Error(\"no\")\n\t}\n}\n";
const GINKGO: &str = "package a\n\nvar _ = Describe(\"a\", func() {\n\tIt(\"adds\", func() {\n\t\tExpect(add(1)).To(Equal(2))\n\t})\n\n\tIt(\"subtracts\", func() {\n\t\tExpect(sub(1)).To(Equal(0))\n\t})\n})\n";
const JAVA: &str =
    "class ATest {\n    @Test\n    void adds() {\n        assertEquals(2, add(1));\n    }\n}\n";
const KOTEST: &str = "class ATest : FunSpec({\n    test(\"adds\") {\n        add(1) shouldBe 2\n    }\n})\n";
const SHARP: &str = "public class A\n{\n    [Test]\n    public void Adds()\n    {\n        Assert.AreEqual(2, Add(1));\n    }\n}\n";
const RUBY: &str = "describe A do\n  it 'adds' do\n    expect(add(1)).to eq(2)\n  end\n\n  it 'subtracts' do\n    expect(sub(1)).to eq(0)\n  end\nend\n";
const MINITEST: &str =
    "class ATest < Minitest::Test\n  def test_adds\n    assert_equal 2, add(1)\n  end\nend\n";
const PHP: &str = "<?php\nclass ATest extends TestCase\n{\n    public function testAdds(): void\n    {\n        $this->assertSame(2, add(1));\n    }\n}\n";
const PEST: &str = "<?php\nit('adds', function () {\n    expect(add(1))->toBe(2);\n});\n\nit('subtracts', function () {\n    expect(sub(1))->toBe(0);\n});\n";
const CPP: &str = "TEST(A, Adds) {\n  EXPECT_EQ(add(1), 2);\n}\n";
const CATCH: &str = "TEST_CASE(\"adds\", \"[a]\") {\n  REQUIRE(add(1) == 2);\n}\n";
const SWIFT: &str = "import XCTest\n\nclass ATests: XCTestCase {\n    func testAdds() throws {\n        XCTAssertEqual(add(1), 2)\n    }\n}\n";

const IDIOMS: &[Idioms] = &[
    (
        "rs",
        RUST,
        &[
            ("    #[test]", "    #[cfg_attr(all(), ignore)]\n    #[test]"),
            ("    #[test]", "    #[cfg(FALSE)]\n    #[test]"),
            ("    #[test]", "    #[cfg(feature = \"never\")]\n    #[test]"),
            ("#[cfg(test)]", "#[cfg(all(test, any()))]"),
            ("#[cfg(test)]", "#![cfg(any())]\n#[cfg(test)]"),
        ],
    ),
    (
        "py",
        PYTHON,
        &[
            ("class TestA", "pytestmark = [pytest.mark.skip(reason=\"x\")]\n\nclass TestA"),
            ("class TestA", "pytest.skip(\"x\", allow_module_level=True)\n\nclass TestA"),
            ("class TestA", "class OldA"),
            ("    def test", "    __test__ = False\n\n    def test"),
            ("    def test", "    @mark.skip\n    def test"),
            (
                "    def test",
                "    @pytest.mark.skipif(\n        True,\n        reason=\"x\",\n    )\n    def test",
            ),
            (
                "    def test",
                "    @pytest.mark.parametrize(\"n\", [pytest.param(1, marks=pytest.mark.skip)])\n    def test",
            ),
            ("        assert", "        pytest.xfail(\"x\")\n        assert"),
            ("        assert", "        pytest.importorskip(\"x\")\n        assert"),
        ],
    ),
    (
        "py",
        UNITTEST,
        &[
            ("    def test", "    @expectedFailure\n    def test"),
            ("    def test", "    def setUp(self):\n        self.skipTest(\"x\")\n\n    def test"),
            ("        self", "        raise unittest.SkipTest(\"x\")\n        self"),
            ("(unittest.TestCase)", ""),
        ],
    ),
    (
        "ts",
        SCRIPT,
        &[
            ("it('adds', ()", "it('adds', { skip: true }, ()"),
            ("it('adds', ()", "it('adds', { todo: 'later' }, ()"),
            ("it('adds'", "it.failing('adds'"),
            ("it('adds'", "it.skipIf(true)('adds'"),
            ("it('adds'", "it.only('adds'"),
            ("it('adds'", "fit('adds'"),
            ("describe('a'", "describe.todo('a'"),
            ("describe('a'", "describe.skipIf(true)('a'"),
            ("describe('a', ()", "describe('a', { skip: true }, ()"),
            ("    expect(add", "    this.skip();\n    expect(add"),
            ("    expect(add", "    ctx.skip();\n    expect(add"),
        ],
    ),
    (
        "go",
        GO,
        &[
            ("\tif", "\tt.Skipf(\"%d\", 1)\n\tif"),
            ("\tif", "\tt.SkipNow()\n\tif"),
            ("\tif", "\tif testing.Short() {\n\t\tt.Skip(\"slow\")\n\t}\n\tif"),
            ("package a", "//go:build ignore\n\npackage a"),
        ],
    ),
    (
        "go",
        GINKGO,
        &[
            ("\t\tExpect(add", "\t\tSkip(\"x\")\n\t\tExpect(add"),
            ("\"adds\", func", "\"adds\", Pending, func"),
            ("It(\"adds\"", "XIt(\"adds\""),
            ("It(\"adds\"", "FIt(\"adds\""),
            ("= Describe(", "= PDescribe("),
        ],
    ),
    (
        "java",
        JAVA,
        &[
            ("    @Test", "    @EnabledIfSystemProperty(named = \"never\", matches = \"x\")\n    @Test"),
            ("    @Test", "    @org.junit.jupiter.api.Disabled\n    @Test"),
            ("    @Test", "    @Disabled @Test"),
            ("        assert", "        assumeTrue(false);\n        assert"),
            ("        assert", "        Assumptions.abort(\"x\");\n        assert"),
            ("class ATest", "abstract class ATest"),
        ],
    ),
    (
        "kt",
        KOTEST,
        &[
            ("test(\"adds\")", "test(\"!adds\")"),
            ("test(\"adds\")", "test(\"adds\").config(enabled = false)"),
            ("test(\"adds\")", "xtest(\"adds\")"),
        ],
    ),
    (
        "cs",
        SHARP,
        &[
            ("[Test]", "[Test, Ignore(\"x\")]"),
            ("[Test]", "[Test]\n    [Explicit]"),
            ("[Test]", "[Fact(\n        Skip = \"x\")]"),
            ("        Assert", "        Assert.Inconclusive();\n        Assert"),
        ],
    ),
    (
        "rb",
        RUBY,
        &[
            ("  it 'adds' do", "  before { skip 'x' }\n\n  it 'adds' do"),
            ("it 'adds' do", "it 'adds', skip: true do"),
            ("it 'adds' do", "it 'adds', :skip do"),
            ("it 'adds' do", "it 'adds', focus: true do"),
            ("it 'adds' do", "fit 'adds' do"),
            ("describe A", "xdescribe A"),
        ],
    ),
    ("rb", MINITEST, &[("  def test", "  def setup\n    skip\n  end\n\n  def test")]),
    (
        "php",
        PHP,
        &[
            (
                "    public",
                "    protected function setUp(): void\n    {\n        $this->markTestSkipped();\n    }\n\n    public",
            ),
            ("    public", "    /** @requires extension never */\n    public"),
            ("class ATest", "abstract class ATest"),
        ],
    ),
    ("php", PEST, &[("});", "})->skip('x');"), ("});", "})->todo();"), ("});", "})->only();")]),
    ("cpp", CPP, &[("  EXPECT", "  GTEST_SKIP() << 1;\n  EXPECT")]),
    (
        "cpp",
        CATCH,
        &[
            ("[a]", "[.][a]"),
            ("[a]", "[a][!mayfail]"),
            ("\"[a]\"", "\"[a]\" * doctest::skip()"),
            ("  REQUIRE", "  SKIP();\n  REQUIRE"),
        ],
    ),
    (
        "swift",
        SWIFT,
        &[
            ("        XCT", "        throw XCTSkip(\"x\")\n        XCT"),
            ("        XCT", "        try XCTSkipIf(true)\n        XCT"),
        ],
    ),
];

#[test]
fn idioms_of_skipping_are_known() {
    for (extension, text, idioms) in IDIOMS {
        for (from, to) in *idioms {
            let new = text.replacen(from, to, 1);
            assert_ne!(*text, new, "{from}");
            let told = found(extension, text, &new);
            assert!(told.starts_with("s "), "{extension}: {told:?}\n{new}");
            // To run again is no loss, and neither is it to remove what did not run.
            assert_eq!(found(extension, &new, text), "", "{new}");
        }
    }
}

/// Changes that remove a test from the file without removing its text.
#[test]
fn a_test_that_is_no_code_any_more_is_gone() {
    let cases = [
        ("py", PYTHON, "class TestA", "\"\"\"\nclass TestA", "\"\"\"\n"),
        ("cs", SHARP, "public class", "#if false\npublic class", "#endif\n"),
        ("cpp", CPP, "TEST", "#ifdef NEVER\nTEST", "#endif\n"),
        ("rb", RUBY, "describe", "=begin\ndescribe", "=end\n"),
        ("rb", RUBY, "describe", "__END__\ndescribe", ""),
        ("java", JAVA, "    @Test", "    // @Test", ""),
        ("php", PHP, "testAdds", "xtestAdds", ""),
    ];
    for (extension, text, from, to, after) in cases {
        let new = text.replacen(from, to, 1) + after;
        let told = found(extension, text, &new);
        assert!(told.starts_with("- "), "{extension}: {told:?}\n{new}");
    }
}

#[test]
fn what_skips_on_some_machines_or_skips_something_else_is_no_skip() {
    let cases = [
        ("rs", RUST, "    #[test]", "    #[cfg_attr(miri, ignore)]\n    #[test]"),
        (
            "py",
            PYTHON,
            "    def",
            "    @pytest.mark.skipif(sys.platform == \"win32\", reason=\"x\")\n    def",
        ),
        ("go", GO, "\tif", "\tif runtime.GOOS == \"windows\" {\n\t\tt.Skip(\"x\")\n\t}\n\tif"),
        ("ts", SCRIPT, "    expect(add", "    const page = query.skip(10);\n    expect(add"),
        ("ts", SCRIPT, "it('adds', ()", "it('adds', { skip: false }, ()"),
        ("rs", RUST, "fn adds() {\n", "fn adds() {\n        ignore_case(1);\n"),
        ("java", JAVA, "        assert", "        run(\"@Disabled\"); // @Disabled\n        assert"),
    ];
    for (extension, text, from, to) in cases {
        let new = text.replacen(from, to, 1);
        assert_ne!(text, new);
        assert_eq!(found(extension, text, &new), "", "{new}");
    }
}
