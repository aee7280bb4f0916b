//! Tests that are there and ask less: what is never reached, caught and forgotten, or true whatever happens.

use super::found;

/// Replacements of an assertion, before and after: the first make the test weaker, the second do not.
type Cases = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Each text has one place, `%`, for its assertion, which is the first of the second list.
const CASES: &[Cases] = &[
    (
        "rs",
        "#[test]\nfn a() {\n    let it = f(7);\n    assert!(it.ok());\n    %\n}\n",
        &[
            "assert!(true);",
            "assert_eq!(it, it);",
            "assert!(it == 3 || true);",
            "assert!(it.is_some());",
            "// assert_eq!(it, 3);",
            "let _ = it;",
            "if false {\n        assert_eq!(it, 3);\n    }",
            "return;\n    assert_eq!(it, 3);",
            "let _ = std::panic::catch_unwind(|| {\n        assert_eq!(it, 3);\n    });",
        ],
        &[
            "assert_eq!(it, 3);",
            "assert_eq!(it, 4, \"another\");",
            "assert_eq!(\n        it,\n        3,\n    );",
            "assert!(matches!(it, Some(3)));",
            "assert_eq!(it, 3);\n    assert!(true);",
            "insta::assert_snapshot!(it, @\"3\");",
        ],
    ),
    (
        "py",
        "import pytest\n\ndef test_a():\n    it = f(7)\n    assert it.ok()\n    %\n",
        &[
            "assert True",
            "assert it == it",
            "assert it == 3 or True",
            "assert it is not None",
            "assert it",
            "# assert it == 3",
            "if False:\n        assert it == 3",
            "return\n    assert it == 3",
            "try:\n        assert it == 3\n    except Exception:\n        pass",
            "with suppress(AssertionError):\n        assert it == 3",
        ],
        &[
            "assert it == 3",
            "assert (\n        it\n        == 4\n    )",
            "assert it in (3, 4)",
            "with pytest.raises(ValueError):\n        it(3)",
            "try:\n        assert it == 3\n    except OSError:\n        pass",
        ],
    ),
    (
        "ts",
        "it('a', () => {\n  const it = f(7);\n  expect(it.ok()).toBe(true);\n  %\n});\n",
        &[
            "expect(true).toBe(true);",
            "expect(it).toBe(it);",
            "expect(it).toBeTruthy();",
            "expect(it).toBeDefined();",
            "expect(it === 3 || true).toBe(true);",
            "if (false) {\n    expect(it).toBe(3);\n  }",
            "try {\n    expect(it).toBe(3);\n  } catch (e) {\n  }",
            "return;\n  expect(it).toBe(3);",
        ],
        &[
            "expect(it).toBe(3);",
            "expect(it).toEqual({ a: 3 });",
            "expect(\n    it,\n  ).toBe(3);",
            "expect(it)\n    .toBe(3);",
            "expect(it).not.toContain(3);",
        ],
    ),
    (
        "go",
        "package a\n\nfunc TestA(t *testing.T) {\n\tit := F(7)\n\trequire.True(t, it.OK())\n\t%\n}\n",
        &[
            "assert.True(t, true)",
            "assert.Equal(t, it, it)",
            "assert.NotNil(t, it)",
            "if it == nil {\n\t\tt.Error(it)\n\t}",
            "if it != 3 && false {\n\t\tt.Error(it)\n\t}",
            "if true {\n\t\treturn\n\t}\n\tassert.Equal(t, 3, it)",
        ],
        &[
            "assert.Equal(t, 3, it)",
            "if it != 3 {\n\t\tt.Fatal(it)\n\t}",
            "require.Contains(t, it, 3)",
            "assert.Len(t, it, 3)",
        ],
    ),
    (
        "java",
        "class T {\n    @Test\n    void a() {\n        var it = f(7);\n        assertTrue(it.ok());\n        %\n    }\n}\n",
        &[
            "assertTrue(true);",
            "assertEquals(it, it);",
            "assertNotNull(it);",
            "if (false) {\n            assertEquals(3, it);\n        }",
            "try {\n            assertEquals(3, it);\n        } catch (Throwable ignored) {\n        }",
        ],
        &[
            "assertEquals(3, it);",
            "assertThat(it).isEqualTo(3);",
            "assertThrows(X.class, () -> it.run(3));",
            "try {\n            assertEquals(3, it);\n        } catch (IOException e) {\n        }",
        ],
    ),
    (
        "cs",
        "class T\n{\n    [Fact]\n    public void A()\n    {\n        var it = F(7);\n        Assert.True(it.Ok());\n        %\n    }\n}\n",
        &["Assert.True(true);", "Assert.Equal(it, it);", "Assert.NotNull(it);", "it.Should().NotBeNull();"],
        &["Assert.Equal(3, it);", "it.Should().Be(3);", "it.ShouldBe(3);"],
    ),
    (
        "rb",
        "describe A do\n  it 'a' do\n    it = f(7)\n    expect(it.ok).to be true\n    %\n  end\nend\n",
        &[
            "expect(true).to be true",
            "expect(it).to be_truthy",
            "next\n    expect(it).to eq(3)",
            "begin\n      expect(it).to eq(3)\n    rescue Exception\n    end",
        ],
        &["expect(it).to eq(3)", "expect(it).to include(3)", "expect { it.run(3) }.to raise_error(X)"],
    ),
    (
        "php",
        "<?php\nclass T extends TestCase\n{\n    public function testA(): void\n    {\n        $it = f(7);\n        $this->assertTrue($it->ok());\n        %\n    }\n}\n",
        &[
            "$this->assertTrue(true);",
            "$this->assertSame($it, $it);",
            "$this->assertNotNull($it);",
            "try {\n            $this->assertSame(3, $it);\n        } catch (\\Throwable) {\n        }",
        ],
        &["$this->assertSame(3, $it);", "self::assertEquals(3, $it);", "$this->assertCount(3, $it);"],
    ),
    (
        "cpp",
        "TEST(T, A) {\n  auto it = f(7);\n  EXPECT_TRUE(it.ok());\n  %\n}\n",
        &["EXPECT_TRUE(true);", "EXPECT_EQ(it, it);", "EXPECT_TRUE(it);"],
        &["EXPECT_EQ(it, 3);", "EXPECT_GT(it, 3);", "ASSERT_THAT(it, Eq(3));"],
    ),
    (
        "kt",
        "class T : StringSpec({\n    \"a\" {\n        val it = f(7)\n        it.ok().shouldBeTrue()\n        %\n    }\n})\n",
        &[
            "true shouldBe true",
            "it shouldBe it",
            "it.shouldNotBeNull()",
            "runCatching {\n            it shouldBe 3\n        }",
        ],
        &["it shouldBe 3", "it shouldContain 3"],
    ),
];

#[test]
fn a_test_that_asks_less_is_told_whatever_it_counts() {
    for (extension, text, weaker, strong) in CASES {
        let old = text.replace('%', strong[0]);
        for one in *weaker {
            let told = found(extension, &old, &text.replace('%', one));
            assert!(told.starts_with("a "), "{extension}: {told:?} for {one}");
        }
        for one in *strong {
            let new = text.replace('%', one);
            assert_eq!(found(extension, &old, &new), "", "{extension}: {one}");
            // From less to more is no loss.
            for less in *weaker {
                assert_eq!(
                    found(extension, &text.replace('%', less), &new),
                    "",
                    "{extension}: {less} to {one}"
                );
            }
        }
    }
}

#[test]
fn a_tolerance_that_takes_anything_is_told() {
    let test = |line: &str| format!("def test_a():\n    assert f(7).ok()\n    {line}\n");
    let exact = test("assert f(7).ratio == pytest.approx(4.2, abs=1e-9)");
    let cases = [
        ("assert f(7).ratio == pytest.approx(4.2, abs=1e9)", "a test_a"),
        ("assert f(7).ratio == pytest.approx(4.2, abs=1e-8)", ""),
        ("assert f(7).ratio == pytest.approx(5678.9, abs=1e-9)", ""),
    ];
    for (line, expected) in cases {
        assert_eq!(found("py", &exact, &test(line)), expected, "{line}");
    }
}
