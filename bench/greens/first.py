#!/usr/bin/env python3
"""The first run of a healthy project is green, with the newest three versions of each runner that a registry has.

Each row is installed in a scratch repository and run by `andon test` twice: as a text for `sh`, and as a list with
`test.runner`. Without a registry a row says that it was left out.

    bench/greens/first.py [--andon FILE]
"""
import argparse, json, os, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
JS = "test('adds', () => { expect(1 + 1).toBe(2); });\n"
ROWS = [
    *(("jest", v, "npm", {"a.test.js": JS}, ["node_modules/.bin/jest"]) for v in ("28.1.3", "29.7.0", "30.2.0")),
    *(("vitest", v, "npm", {"a.test.js": "import { test, expect } from 'vitest';\n" + JS}, ["node_modules/.bin/vitest", "run"]) for v in ("1.6.1", "2.1.9", "3.2.4")),
    *(("mocha", v, "npm", {"test/a.js": "it('adds', () => {});\n"}, ["node_modules/.bin/mocha"]) for v in ("9.2.2", "10.8.2", "11.7.4")),
    *(("pytest", v, "pip", {"test_a.py": "def test_adds():\n    print('not ok 1')\n"}, ["venv/bin/pytest"]) for v in ("7.4.4", "8.3.4", "9.0.1")),
]


def installed(place, runner, version, registry):
    if registry == "npm":
        commands = [["npm", "install", "--silent", "--no-fund", "--no-audit", f"{runner}@{version}"]]
    else:
        commands = [[sys.executable, "-m", "venv", "venv"], ["venv/bin/pip", "install", "-q", f"{runner}=={version}"]]
    return all(subprocess.run(command, cwd=place, capture_output=True).returncode == 0 for command in commands)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--andon", default=str(HERE.parent.parent / "target/debug/andon"))
    andon, wrong = os.path.abspath(words.parse_args().andon), 0
    for runner, version, registry, files, argv in ROWS:
        with tempfile.TemporaryDirectory(prefix="first") as folder:
            top = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q", "."], cwd=top, check=True)
            for path, text in {**files, "package.json": '{"private": true}\n', ".gitignore": "node_modules\nvenv\n__pycache__\n.pytest_cache\npackage*.json\n"}.items():
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                (top / path).write_text(text)
            if not installed(top, runner, version, registry):
                print(f"left out: {runner} {version} cannot be installed")
                continue
            preset = "" if runner == "mocha" else f'runner = "{runner}"\n'
            for command, more in ((" ".join(argv), ""), (argv, preset), (" ".join(argv) + (" -s" if runner == "pytest" else ""), "")):
                (top / "andon.toml").write_text(f"[test]\ncommand = {json.dumps(command)}\n{more}")
                ran = subprocess.run([andon, "test", "--format", "json"], cwd=top, capture_output=True, text=True)
                status = json.loads(ran.stdout.splitlines()[-1])["tests"]["status"] if ran.stdout else ran.stderr
                if status != "passed":
                    wrong += 1
                print(f"{'ok' if status == 'passed' else 'WRONG'}: {runner} {version}: {command} {more.strip()}: {status}")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
