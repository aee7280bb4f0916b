//! Does `test-weakening` tell what a green commit takes from the tests, and leave honest changes of tests alone? Synthetic
//! commits in eight languages: `cargo run --release --example detection -- --weakening 1000`.

use std::sync::Arc;

use andon_core::detect;
use andon_weakening::{ChangedText, TestReader, compared};

use crate::random::Random;

/// A language: its ending, a test, what skips it, and one test over a table.
struct Language {
    ending: &'static str,
    /// Before and after the tests of a file.
    file: (&'static str, &'static str),
    /// A test: NAME, CALL, GIVEN and WANTED are placeholders. Its assertions are the lines that hold WANTED.
    test: &'static str,
    /// What replaces it when it is skipped: the first text becomes the second.
    skip: (&'static str, &'static str),
    /// The same test over a table of ROWS.
    table: &'static str,
}

const LANGUAGES: [Language; 8] = [
    Language {
        ending: "rs",
        file: ("#[cfg(test)]\nmod tests {\n    use super::*;\n\n", "}\n"),
        test: "    #[test]\n    fn NAME() {\n        let it = CALL(GIVEN);\n        assert_eq!(it, WANTED);\n        assert!(it.is(WANTED));\n    }\n\n",
        skip: ("    #[test]\n    fn NAME", "    #[test]\n    #[ignore]\n    fn NAME"),
        table: "    #[test]\n    fn NAME() {\n        for (given, wanted) in [ROWS] {\n            let it = CALL(given);\n            assert_eq!(it, wanted);\n            assert!(it.is(wanted));\n        }\n    }\n\n",
    },
    Language {
        ending: "py",
        file: ("import pytest\n\n", ""),
        test: "def test_NAME():\n    it = CALL(GIVEN)\n    assert it == WANTED\n    assert it.has(WANTED)\n\n",
        skip: ("def test_NAME", "@pytest.mark.skip(reason=\"later\")\ndef test_NAME"),
        table: "@pytest.mark.parametrize('given,wanted', [ROWS])\ndef test_NAME(given, wanted):\n    it = CALL(given)\n    assert it == wanted\n    assert it.has(wanted)\n\n",
    },
    Language {
        ending: "ts",
        file: ("describe('unit', () => {\n", "});\n"),
        test: "  it('NAME', () => {\n    const it = CALL(GIVEN);\n    expect(it).toBe(WANTED);\n    expect(it.all).toContain(WANTED);\n  });\n\n",
        skip: ("  it('NAME'", "  it.skip('NAME'"),
        table: "  it.each([ROWS])('NAME %s', (given, wanted) => {\n    const it = CALL(given);\n    expect(it).toBe(wanted);\n    expect(it.all).toContain(wanted);\n  });\n\n",
    },
    Language {
        ending: "go",
        file: ("package unit\n\n", ""),
        test: "func Test_NAME(t *testing.T) {\n\tit := CALL(GIVEN)\n\tif it != WANTED {\n\t\tt.Errorf(\"%v\", it)\n\t}\n\trequire.True(t, it.Has(WANTED))\n}\n\n",
        skip: ("func Test_NAME(t *testing.T) {\n", "func Test_NAME(t *testing.T) {\n\tt.Skip(\"later\")\n"),
        table: "func Test_NAME(t *testing.T) {\n\tfor _, row := range []struct{ given, wanted int }{ROWS} {\n\t\tit := CALL(row.given)\n\t\tif it != row.wanted {\n\t\t\tt.Errorf(\"%v\", it)\n\t\t}\n\t\trequire.True(t, it.Has(row.wanted))\n\t}\n}\n\n",
    },
    Language {
        ending: "java",
        file: ("class UnitTest {\n", "}\n"),
        test: "  @Test\n  void NAME() {\n    var it = CALL(GIVEN);\n    assertEquals(WANTED, it);\n    assertTrue(it.has(WANTED));\n  }\n\n",
        skip: ("  @Test\n  void NAME", "  @Disabled\n  @Test\n  void NAME"),
        table: "  @ParameterizedTest\n  @CsvSource({ROWS})\n  void NAME(int given, int wanted) {\n    var it = CALL(given);\n    assertEquals(wanted, it);\n    assertTrue(it.has(wanted));\n  }\n\n",
    },
    Language {
        ending: "cs",
        file: ("public class UnitTests\n{\n", "}\n"),
        test: "    [Fact]\n    public void NAME()\n    {\n        var it = CALL(GIVEN);\n        Assert.Equal(WANTED, it);\n        Assert.True(it.Has(WANTED));\n    }\n\n",
        skip: ("    [Fact]\n    public void NAME", "    [Fact(Skip = \"later\")]\n    public void NAME"),
        table: "    [Theory]\n    [InlineData(ROWS)]\n    public void NAME(int given, int wanted)\n    {\n        var it = CALL(given);\n        Assert.Equal(wanted, it);\n        Assert.True(it.Has(wanted));\n    }\n\n",
    },
    Language {
        ending: "rb",
        file: ("RSpec.describe Unit do\n", "end\n"),
        test: "  it \"NAME\" do\n    it = CALL(GIVEN)\n    expect(it).to eq(WANTED)\n    expect(it.all).to include(WANTED)\n  end\n\n",
        skip: ("  it \"NAME\"", "  xit \"NAME\""),
        table: "  [ROWS].each do |given, wanted|\n    it \"NAME of #{given}\" do\n      it = CALL(given)\n      expect(it).to eq(wanted)\n      expect(it.all).to include(wanted)\n    end\n  end\n\n",
    },
    Language {
        ending: "php",
        file: ("<?php\nclass UnitTest extends TestCase\n{\n", "}\n"),
        test: "    public function testNAME()\n    {\n        $it = CALL(GIVEN);\n        $this->assertSame(WANTED, $it);\n        $this->assertContains(WANTED, $it->all());\n    }\n\n",
        skip: (
            "    public function testNAME()\n    {\n",
            "    public function testNAME()\n    {\n        $this->markTestSkipped('later');\n",
        ),
        table: "    /** @dataProvider rows */\n    public function testNAME($given, $wanted)\n    {\n        $it = CALL($given);\n        $this->assertSame($wanted, $it);\n        $this->assertContains($wanted, $it->all());\n    }\n\n    public function rows() { return [ROWS]; }\n\n",
    },
];

/// One test of a file.
#[derive(Clone)]
struct Test {
    name: String,
    call: String,
    values: (usize, usize),
    text: String,
}

fn fresh(random: &mut Random, language: &Language) -> Test {
    let name = format!("{}_{}", random.name(), random.between(10, 99));
    let call = random.name();
    let values = (random.between(1, 99), random.between(100, 999));
    let mut test = Test { name, call, values, text: String::new() };
    test.text = written(language.test, &test);
    test
}

fn written(template: &str, test: &Test) -> String {
    let (given, wanted) = test.values;
    let text = template.replace("NAME", &test.name).replace("CALL", &test.call);
    text.replace("GIVEN", &given.to_string()).replace("WANTED", &wanted.to_string())
}

fn file(language: &Language, tests: &[Test]) -> String {
    let all: String = tests.iter().map(|test| test.text.as_str()).collect();
    format!("{}{all}{}", language.file.0, language.file.1)
}

/// What a commit does to the tests.
#[derive(Clone, Copy, PartialEq)]
enum TestEdit {
    Delete,
    DeleteFile,
    Skip,
    Loosen,
    Rename,
    Move,
    Split,
    Parametrize,
    Extend,
    Retune,
    Reorder,
}

const WEAKER: [TestEdit; 4] = [TestEdit::Delete, TestEdit::DeleteFile, TestEdit::Skip, TestEdit::Loosen];
const HEALTHY: [TestEdit; 7] = [
    TestEdit::Rename,
    TestEdit::Move,
    TestEdit::Split,
    TestEdit::Parametrize,
    TestEdit::Extend,
    TestEdit::Retune,
    TestEdit::Reorder,
];

/// The texts of the files that a commit changes, before and after it.
fn commit(random: &mut Random, language: &Language, deed: TestEdit) -> Vec<[String; 2]> {
    let count = random.between(3, 12);
    let tests: Vec<Test> = (0..count).map(|_| fresh(random, language)).collect();
    let at = random.between(0, count - 1);
    let mut now = tests.clone();
    let mut beside = Vec::new();
    match deed {
        TestEdit::Delete => drop(now.drain(at..(at + random.between(1, 3)).min(count))),
        TestEdit::DeleteFile => now.clear(),
        TestEdit::Skip => {
            let (from, to) = (written(language.skip.0, &now[at]), written(language.skip.1, &now[at]));
            now[at].text = now[at].text.replacen(&from, &to, 1);
        }
        TestEdit::Loosen => {
            let wanted = now[at].values.1.to_string();
            let last = now[at].text.lines().rfind(|line| line.contains(&wanted)).unwrap().to_owned();
            now[at].text = now[at].text.replacen(&format!("{last}\n"), "", 1);
        }
        TestEdit::Rename => {
            now[at].name = format!("{}_renamed", random.name());
            now[at].text = written(language.test, &now[at]);
        }
        TestEdit::Move => beside.push(now.remove(at)),
        TestEdit::Split => beside.extend(now.drain(at..)),
        TestEdit::Parametrize => {
            let call = now[at].call.clone();
            let end = (at + random.between(2, 4)).min(count);
            let mut rows = Vec::new();
            let mut olds: Vec<Test> = tests.clone();
            for test in &mut olds[at..end] {
                test.call.clone_from(&call);
                test.text = written(language.test, test);
                rows.push(format!("({}, {})", test.values.0, test.values.1));
            }
            now.clone_from(&olds);
            let name = format!("{}_table", random.name());
            let table = Test { name, text: String::new(), ..now[at].clone() };
            let text = written(language.table, &table).replace("ROWS", &rows.join(", "));
            now.splice(at..end, [Test { text, ..table }]);
            return vec![[file(language, &olds), file(language, &now)]];
        }
        TestEdit::Extend => now.push(fresh(random, language)),
        TestEdit::Retune => {
            now[at].values = (random.between(1, 99), random.between(100, 999));
            now[at].text = written(language.test, &now[at]);
        }
        TestEdit::Reorder => now.reverse(),
    }
    let after = if deed == TestEdit::DeleteFile { String::new() } else { file(language, &now) };
    let mut texts = vec![[file(language, &tests), after]];
    if !beside.is_empty() {
        texts.push([String::new(), file(language, &beside)]);
    }
    texts
}

/// Prints the figures of `count` commits of either kind in each language; whether all are as they have to be.
pub fn run(count: u64) -> bool {
    let setting = detect::TEST_WEAKENING.defaults();
    let reader = TestReader::new(&setting);
    println!("| language | weakened | told | recall | healthy | told | rate | missed or mistaken |");
    println!("|---|--:|--:|--:|--:|--:|--:|---|");
    let mut reached = true;
    for language in &LANGUAGES {
        let mut random = Random::new(language.ending, 7);
        let mut odd: Vec<String> = Vec::new();
        let mut told = |deeds: &[TestEdit], names: &[&str], wanted: bool| {
            let mut told = 0_u64;
            for at in 0..count {
                let which = usize::try_from(at).unwrap() % deeds.len();
                let changed = commit(&mut random, language, deeds[which]).into_iter().map(|texts| {
                    let [old, new] = texts.map(|text| Arc::new(reader.text(language.ending, &text)));
                    ChangedText { path: String::new(), old, new }
                });
                let found = compared(&changed.collect::<Vec<_>>()).taken.is_some();
                told += u64::from(found);
                if found != wanted && !odd.contains(&names[which].to_owned()) {
                    odd.push(names[which].to_owned());
                }
            }
            told
        };
        let hits = told(&WEAKER, &["delete", "delete file", "skip", "loosen"], true);
        let names = ["rename", "move", "split", "parametrize", "extend", "retune", "reorder"];
        let wrong = told(&HEALTHY, &names, false);
        let (recall, rate) = (hits as f64 / count as f64, wrong as f64 / count as f64);
        reached &= recall >= 0.95 && rate <= 0.005;
        println!(
            "| {} | {count} | {hits} | {recall:.3} | {count} | {wrong} | {rate:.4} | {} |",
            language.ending,
            odd.join(", ")
        );
    }
    reached
}
