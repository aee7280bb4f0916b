import datetime
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import pytest
@S@

class Thing:
    pass


def deep(level):
    return int("no number") if level == 0 else deep(level - 1)


def test_passes():
    assert 1 + 1 == 2


def test_value_of_a_sum():
    print("started", datetime.datetime.now())
    assert 1 + 2 == @V@


def test_value_in_a_message():
    raise ValueError("the sum is not @V@")


def test_kind_of_error():
    raise @K@("the same words")


def test_renamed@N@():
    raise RuntimeError("the same words")
@S@

def test_deep_error():
    deep(4)


def test_address_of_an_object():
    raise TypeError(f"cannot use {Thing()!r}")


def test_compare_objects():
    assert Thing() == Thing()


def test_temporary_directory(tmp_path):
    with open(tmp_path / "settings.json") as file:
        file.read()


def test_temporary_file():
    with tempfile.TemporaryDirectory() as directory:
        open(os.path.join(directory, "out.txt"))


def test_named_temporary_file():
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        raise OSError(f"cannot lock {file.name}")


def test_project_file():
    open(os.path.join(os.path.dirname(__file__), "missing.txt"))


def test_time_now():
    raise RuntimeError(f"late: {datetime.datetime.now().isoformat()}")


def test_time_as_number():
    raise RuntimeError(f"late: {time.time_ns()}")


def test_elapsed():
    start = time.perf_counter()
    time.sleep(0.002)
    raise TimeoutError(f"took {(time.perf_counter() - start) * 1000:.3f} ms")
@S@

def test_unordered_set():
    left = {"ann", "bob", "cid", "dan"}
    raise KeyError(f"left over: {left}")


def test_compare_sets():
    assert {"ann", "bob", "cid"} == {"ann", "dan", "eve"}


def test_port_in_use():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        raise ConnectionError(f"http://localhost:{port}/ is in use, {one.getsockname()}")


def test_connection_refused():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = one.getsockname()
    raise ConnectionError("cannot connect to %s:%d" % address)


def test_uuid():
    raise LookupError(f"no session {uuid.uuid4()}")


def test_token():
    raise LookupError(f"no token {random.SystemRandom().randbytes(24).hex()}")


def test_seed():
    raise RuntimeError(f"failed with seed {random.SystemRandom().randrange(10**5)}")


def test_subprocess():
    subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)"], check=True)


def test_process_id():
    raise ChildProcessError(f"worker died (pid {os.getpid()})")


def test_thread():
    raise RuntimeError(f"{threading.current_thread()!r} is stuck")


@pytest.mark.parametrize("number", [1, @V@, "a-b"])
def test_with_parameters(number):
    assert number is None


@pytest.mark.parametrize("thing", [Thing(), {1, 2}])
def test_with_objects(thing):
    raise AttributeError("no such thing")


def test_lines_of_text():
    assert "one\ntwo\nvalue\n" == "one\ntwo\nother\n"


def test_dictionary():
    assert {"a": 1, "b": @V@} == {"a": 1, "b": 0}, "value"


@pytest.fixture
def broken():
    raise RuntimeError("the fixture is broken")


def test_with_fixture(broken):
    pass


class TestNested:
    class TestDeeper:
        def test_value_in_a_nested_suite(self):
            assert [1, 2, 3] == [1, 2, @V@]


def test_chain():
    try:
        deep(1)
    except ValueError as error:
        raise RuntimeError("the outer one") from error
