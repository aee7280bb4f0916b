#!/usr/bin/env python3
"""What it costs to read test reports: throughput and peak memory of Andon's reader and of two peers.

    bench/reports/run.py [--runs N] [--sizes 10,100,1000] [--dir DIR]

Writes JUnit reports of these sizes in MB (and other formats of the middle one), reads each N times with each
reader in turn, and prints medians, ratios and what hostile reports come to. Nothing is kept but DIR, if named.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MB = 1_000_000


def case(number):
    """A test case: one of 50 fails, one of 10 has printed something."""
    head = f'    <testcase classname="com.example.shop.cart.CartServiceTest" name="adds[{number}]" time="0.0{number % 97:02d}"'
    if number % 50 == 7:
        frames = "".join(f"\tat com.example.shop.cart.Frame{n}.call(Frame{n}.java:{n + 10})\n" for n in range(12))
        return (
            f'{head}>\n      <failure message="expected:&lt;{number}&gt; but was:&lt;0&gt;" type="java.lang.AssertionError">'
            f"<![CDATA[java.lang.AssertionError: expected:<{number}> but was:<0>\n{frames}]]></failure>\n    </testcase>\n"
        )
    if number % 10 == 3:
        out = f"2026-11-20 10:00:00.{number % 1000:03d} INFO  [main] cart {number} &lt;loaded&gt;\n" * 6
        return f"{head}>\n      <system-out>{out}</system-out>\n    </testcase>\n"
    return f"{head}/>\n"


def suites(size, write):
    number = 0
    while size > 0:
        body = "".join(case(n) for n in range(number, number + 100))
        failed = sum(n % 50 == 7 for n in range(number, number + 100))
        text = f'  <testsuite name="com.example.Suite{number}" tests="100" failures="{failed}" errors="0" time="1.5">\n{body}  </testsuite>\n'
        number += 100
        size -= write(text)


def junit(path, size):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="all">\n')
        suites(size, file.write)
        file.write("</testsuites>\n")


def jest(path, size):
    with open(path, "w", encoding="utf-8", newline="") as file:
        total = size // 330
        failed = len(range(7, total, 50))
        file.write(f'{{"numFailedTests":{failed},"numTotalTests":{total},"success":false,"testResults":[')
        number, first = 0, True
        while number < total:
            results = []
            for n in range(number, min(number + 100, total)):
                fails = n % 50 == 7
                said = '["Error: expect(received).toBe(expected)\\n\\nExpected: 1\\nReceived: 2\\n    at Object.<anonymous> (/p/a.test.js:5:13)"]' if fails else "[]"
                status = "failed" if fails else "passed"
                results.append(
                    f'{{"ancestorTitles":["cart","adding"],"duration":3,"failureDetails":[],"failureMessages":{said},'
                    f'"fullName":"cart adding item {n}","invocations":1,"location":null,"numPassingAsserts":1,'
                    f'"retryReasons":[],"status":"{status}","title":"item {n} of many that are in the cart"}}'
                )
            file.write(("" if first else ",") + '{"assertionResults":[' + ",".join(results) + f'],"message":"","name":"/p/src/s{number}.test.js","status":"passed","summary":""}}')
            number, first = number + 100, False
        file.write('],"wasInterrupted":false}')


def go(path, size):
    with open(path, "w", encoding="utf-8", newline="") as file:
        number = 0
        while size > 0:
            name = f'"Package":"example.com/p{number // 1000}","Test":"TestCart{number}"'
            text = f'{{"Time":"2026-11-20T10:00:00Z","Action":"run",{name}}}\n{{"Action":"output",{name},"Output":"=== RUN TestCart{number}\\n"}}\n{{"Action":"pass",{name},"Elapsed":0.01}}\n'
            number += 1
            if number % 1000 == 0:
                text += f'{{"Action":"pass","Package":"example.com/p{number // 1000 - 1}","Elapsed":1}}\n'
            size -= file.write(text)


def tap(path, size):
    with open(path, "w", encoding="utf-8", newline="") as file:
        number = 0
        while size > 0:
            number += 1
            fails = number % 50 == 7
            text = f"{'not ' if fails else ''}ok {number} - cart adding item {number} of many\n"
            if fails:
                text += "  ---\n  message: expected 1, got 2\n  ...\n"
            size -= file.write(text)
        file.write(f"1..{number}\n")


def nested(path, depth):
    with open(path, "w", encoding="utf-8") as file:
        file.write("<testsuite name='s'>" * depth + "<testcase name='a'/>" + "</testsuite>" * depth)


def one_line(path, size):
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(size // MB):
            file.write("x" * MB)


def bomb(path):
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE t [<!ENTITY e0 "boom">{entities}]><testsuite><testcase name="&e11;"><failure>&e11;</failure></testcase></testsuite>')


def measure(command):
    """Seconds of CPU, KiB at the peak and what was found; or how it ended. Others may use the machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("note:")]
        reason = f"signal {-done.returncode}" if done.returncode < 0 else (said or ["error"])[-1]
        return None, f"dies: {reason}"
    words = done.stdout.splitlines()[0].split()
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (seconds, int(words[2])), " ".join(words[3:]) + "".join(done.stdout.splitlines()[1:2])


def table(path, readers, runs):
    size = os.path.getsize(path)
    seen = {name: [] for name, _ in readers}
    notes = {}
    for _ in range(runs):
        for name, command in readers:
            if notes.get(name, "").startswith("dies"):
                continue
            figures, notes[name] = measure([*command, str(path)])
            if figures:
                seen[name].append(figures)
    base = None
    for name, _ in readers:
        if not seen[name]:
            print(f"| {path.name} | {name} | | | | {notes[name][:70]} |")
            continue
        seconds = statistics.median(figure[0] for figure in seen[name])
        peak = statistics.median(figure[1] for figure in seen[name]) / 1024
        base = base or (seconds, peak)
        ratio = "1" if name == "andon" else f"{seconds / base[0]:.2f} x CPU, {peak / base[1]:.0f} x memory"
        print(f"| {path.name} | {name} | {size / MB / seconds:,.0f} MB/s | {seconds:.3f} s | {peak:,.1f} MiB | {ratio} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", default="10,100,1000")
    parser.add_argument("--dir")
    arguments = parser.parse_args()
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    build = ["cargo", "build", "--quiet", "--release", "--locked"]
    subprocess.run([*build, "--example", "read-report"], cwd=ROOT, check=True)
    peers = dict(os.environ, CARGO_TARGET_DIR=str(target / "report-peers"))
    subprocess.run(build, cwd=HERE / "peers", check=True, env=peers)
    andon = ("andon", [str(target / "release/examples/read-report")])
    peer = str(target / "report-peers/release/report-peers")
    others = [(name, [peer, name]) for name in ("junit-parser", "roxmltree")]
    sizes = [int(size) for size in arguments.sizes.split(",")]
    print("| report | reader | MB a second of CPU | CPU | peak memory | against andon |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=arguments.dir) as place:
        place = pathlib.Path(place)
        for size in sizes:
            path = place / f"junit-{size}MB.xml"
            junit(path, size * MB)
            table(path, [andon, *others], arguments.runs)
            path.unlink()
        middle = sizes[len(sizes) // 2]
        for make, name in ((jest, "jest.json"), (go, "go.jsonl"), (tap, "tap.txt")):
            path = place / f"{middle}MB-{name}"
            make(path, middle * MB)
            table(path, [andon], arguments.runs)
            path.unlink()
        hostile = [
            (place / "nested-20000.xml", lambda path: nested(path, 20_000)),
            (place / "entity-bomb.xml", bomb),
            (place / f"one-line-{sizes[-1]}MB.txt", lambda path: one_line(path, sizes[-1] * MB)),
        ]
        print("\n| hostile report | reader | what comes of it |\n|---|---|---|")
        for path, make in hostile:
            make(path)
            for name, command in [andon, *(others if path.suffix == ".xml" else [])]:
                figures, note = measure([*command, str(path)])
                spent = f" ({figures[0]:.3f} s, {figures[1] / 1024:.1f} MiB)" if figures else ""
                print(f"| {path.name} | {name} | {note[:150]}{spent} |")
            path.unlink()


if __name__ == "__main__":
    main()
