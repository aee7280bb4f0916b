import datetime
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
@S@

class Thing:
    pass


def deep(level):
    return int("no number") if level == 0 else deep(level - 1)


class TestFailures(unittest.TestCase):
    maxDiff = None

    def test_passes(self):
        self.assertEqual(1, 1)

    def test_value_of_a_sum(self):
        self.assertEqual(1 + 2, @V@)

    def test_value_in_a_message(self):
        self.fail("the sum is not @V@")
@S@
    def test_kind_of_error(self):
        raise @K@("the same words")

    def test_renamed@N@(self):
        raise RuntimeError("the same words")

    def test_deep_error(self):
        deep(3)

    def test_address(self):
        self.assertEqual(Thing(), 1)

    def test_temporary_file(self):
        with tempfile.TemporaryDirectory() as directory:
            open(os.path.join(directory, "out.txt"))

    def test_project_file(self):
        open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "missing.txt"))

    def test_time(self):
        self.fail(f"late: {datetime.datetime.now()}")

    def test_elapsed(self):
        self.fail(f"took {time.process_time():.6f}s")
@S@
    def test_compare_sets(self):
        self.assertEqual({"ann", "bob", "cid"}, {"ann", "dan", "eve"})

    def test_unordered_set(self):
        self.fail(f"left over: { {'ann', 'bob', 'cid', 'dan'} }")

    def test_port(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.fail(f"127.0.0.1:{one.getsockname()[1]} is in use")

    def test_uuid(self):
        raise LookupError(f"no session {uuid.uuid4()}")

    def test_subprocess(self):
        subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)"], check=True)

    def test_lines_of_text(self):
        self.assertEqual("one\ntwo\nvalue\n", "one\ntwo\nother\n")

    def test_value_in_a_dictionary(self):
        self.assertEqual({"a": 1, "b": @V@}, {"a": 1, "b": 0})

    def test_with_parameters(self):
        for number in (1, @V@):
            with self.subTest(number=number):
                self.assertIsNone(number)

    def test_chain(self):
        try:
            deep(1)
        except ValueError as error:
            raise RuntimeError("the outer one") from error


class TestBrokenFixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("the fixture is broken")

    def test_never_runs(self):
        pass


if __name__ == "__main__":
    unittest.main()
