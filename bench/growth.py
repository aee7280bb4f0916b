#!/usr/bin/env python3
"""How Andon's hooks grow with the records of a repository, as a picture.

    bench/growth.py --andon target/dist/andon [--records 10,100,1000,10000,100000] [--rounds 11] [--out bench/growth.svg]

Measures as hooks.py does (its repositories, its rounds) at 100 files, prints the medians as a table, and draws time
against records, both on a logarithmic scale. Standard library only.
"""

import argparse
import math
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import hooks  # noqa: E402

CASES = {
    "git --version": "git --version",
    "program pre-commit": "pre-commit",
    "program prepare-commit-msg": "prepare-commit-msg",
    "program post-commit": "post-commit",
}
COLOURS = ["#888888", "#1f77b4", "#2ca02c", "#d62728"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 170, 20, 50


def measure(options):
    """Medians by records, then by case."""
    bench = hooks.Bench(options)
    hooks.MANAGERS = {name: text for name, text in hooks.MANAGERS.items() if name in ("none", "andon")}
    found = {}
    try:
        for records in options.records:
            fixture = hooks.Fixture(bench, 100, max(records, hooks.WINDOW))
            found[records] = hooks.measure(bench, fixture, options.rounds, 2)
            os.chdir(bench.work)
            shutil.rmtree(fixture.top)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return found


def table(found):
    lines = ["| records | " + " | ".join(CASES.values()) + " |", "|--:|" + "--:|" * len(CASES)]
    for records, medians in found.items():
        lines.append(f"| {records:,} | " + " | ".join(f"{medians[case]:.2f} ms" for case in CASES) + " |")
    return "\n".join(lines)


def picture(found):
    """An SVG of one line a case."""
    records = sorted(found)
    values = [medians[case] for medians in found.values() for case in CASES]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    first, last = math.log10(records[0]), math.log10(records[-1])

    def x(count):
        return LEFT + (math.log10(count) - first) / ((last - first) or 1) * (WIDTH - LEFT - RIGHT)

    def y(value):
        share = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for count in records:
        parts.append(f'<line x1="{x(count):.1f}" y1="{TOP}" x2="{x(count):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e5e5e5"/>'
                     f'<text x="{x(count):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{count:,}</text>')
    tick = low
    while tick <= high * 1.01:
        for step in (1, 2, 5):
            value = tick * step
            if value <= high * 1.01:
                parts.append(f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}" stroke="#e5e5e5"/>'
                             f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        tick *= 10
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">recorded commits</text>'
                 f'<text x="14" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">median, ms</text>')
    for number, (case, name) in enumerate(CASES.items()):
        line = " ".join(f"{x(count):.1f},{y(found[count][case]):.1f}" for count in records)
        colour = COLOURS[number]
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = TOP + 16 + 20 * number
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{at - 4}" x2="{WIDTH - RIGHT + 32}" y2="{at - 4}" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{WIDTH - RIGHT + 38}" y="{at}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", required=True)
    parser.add_argument("--records", default="10,100,1000,10000,100000",
                        type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--rounds", default=11, type=int)
    parser.add_argument("--out", default=Path(__file__).with_name("growth.svg"), type=Path)
    parser.add_argument("--work")
    options = parser.parse_args()
    found = measure(options)
    print(table(found))
    options.out.write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
