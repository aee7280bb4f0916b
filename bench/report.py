#!/usr/bin/env python3
"""What the page of `andon report` costs: to make it, and to draw it in a browser.

    bench/report.py --andon target/dist/andon --commits 10000

One repository with a record for each commit. The page is made in rounds; then Chromium opens it, and an empty page, in
turns. "Drawn" is the second animation frame after the page has loaded, from the start of the navigation; "first" is the
first frame with anything on it. The browser is driven through a pipe (`--remote-debugging-pipe`), without a network.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import hermetic
import watch

DRAWN = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  done(JSON.stringify({drawn: performance.now(), first: paint ? paint.startTime : null,
                       elements: document.getElementsByTagName('*').length}));
})))"""


class Browser:
    """A headless Chromium, spoken to in messages that end in NUL."""

    def __init__(self, program, home):
        to_us, from_browser = os.pipe()
        for_browser, from_us = os.pipe()
        argv = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                f"--user-data-dir={home}", "--window-size=1600,1000", "--remote-debugging-pipe"]

        def descriptors():
            os.dup2(for_browser, 103), os.dup2(from_browser, 104)
            os.dup2(103, 3), os.dup2(104, 4)

        self.child = subprocess.Popen(argv, preexec_fn=descriptors, close_fds=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(for_browser), os.close(from_browser)
        self.write, self.read = os.fdopen(from_us, "wb", buffering=0), os.fdopen(to_us, "rb")
        self.ids, self.buffer = itertools.count(1), b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def message(self):
        while b"\0" not in self.buffer:
            part = self.read.read1(1 << 16)
            if not part:
                raise SystemExit("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        number = next(self.ids)
        question = {"id": number, "method": method, "params": params}
        if hasattr(self, "session"):
            question["sessionId"] = self.session
        self.write.write(json.dumps(question).encode() + b"\0")
        while (answer := self.message()).get("id") != number:
            pass
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def drawn(self, page):
        """Milliseconds until a page was drawn, until anything of it was, and how many elements it has."""
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while self.message().get("method") != "Page.loadEventFired":
            pass
        result = self.ask("Runtime.evaluate", expression=DRAWN, awaitPromise=True, returnByValue=True)
        return json.loads(result["result"]["value"])

    def end(self):
        self.child.kill()
        self.child.wait()


def made(options, env, top, page):
    """Seconds, seconds of CPU and MiB of `andon report`."""
    start = time.perf_counter()
    child = subprocess.Popen([options.andon, "report", "-o", page], cwd=top / "main", env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"andon report ends with {child.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--andon", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    options = parser.parse_args()
    options.records, options.worktrees = options.commits + watch.OWN, 1
    top = pathlib.Path(tempfile.mkdtemp(prefix="andon-report-"))
    try:
        env = hermetic.environment(top / "home")
        watch.build(options, env, top)
        page, empty = top / "page.html", top / "empty.html"
        empty.write_text("<!doctype html><title>empty</title><p>x", encoding="utf-8")
        seconds, cpu, memory = zip(*(made(options, env, top, page) for _ in range(options.rounds)))
        print(f"{options.commits:,} commits: made in {statistics.median(seconds):.2f} s ({statistics.median(cpu):.2f} s of CPU, "
              f"{max(memory):.0f} MiB), {page.stat().st_size / 1e6:.2f} MB")
        if not options.chromium:
            print("no Chromium here: nothing is drawn")
            return
        browser = Browser(options.chromium, top / "profile")
        rounds = [(browser.drawn(page), browser.drawn(empty)) for _ in range(options.rounds + 2)][2:]
        browser.end()
        for name, found in zip(("the page", "an empty page"), zip(*rounds)):
            drawn = [each["drawn"] for each in found]
            first = [each["first"] for each in found if each["first"] is not None]
            begins = f"first after {statistics.median(first):.0f} ms, " if first else ""
            print(f"{name}: {found[0]['elements']:,} elements, {begins}"
                  f"drawn after {statistics.median(drawn):.0f} ms (slowest {max(drawn):.0f})")
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
