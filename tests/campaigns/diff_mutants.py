"""Policies with random changes of steps, gates, params and releases: none that lets more out passes `diff`.

Whether one does is decided by running it and the old policy on small tables. Prints what came of them, and the numbers
of mutants that let more out while `diff --forbid-weaker` would end with 0; then it ends with 1. ``--show NUMBER`` shows
one of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml
from mutants.bases import bases
from mutants.changes import mutant
from mutants.judging import Judged, judge, remembering


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="NUMBER")
    chosen = parser.parse_args()
    runs, begun, found = remembering(), time.perf_counter(), []
    if chosen.show is not None:
        print(shown(chosen.show))
        print(judge(chosen.show, runs))
        return 0
    for number in range(chosen.start, chosen.start + chosen.count):
        found.append(judge(number, runs))
        if found[-1].fault or len(found) % 50 == 0:
            fault = f"; FAULT in {number}: {found[-1].more}, by {found[-1].kinds}" if found[-1].fault else ""
            print(f"{len(found)} done, {time.perf_counter() - begun:.0f} s{fault}", file=sys.stderr)
    print(tally(found))
    return int(any(j.fault for j in found))


def shown(number: int) -> str:
    """Return a mutant as text."""
    every = bases()
    base = every[number % len(every)]
    changed = mutant(Random(f"mutant {number}"), base.policy)
    return f"# {base.name}: {', '.join(changed.kinds)}\n{yaml.safe_dump(changed.policy, sort_keys=False)}"


def tally(found: list[Judged]) -> str:
    """Return what came of the mutants."""
    valid = [j for j in found if j.valid]
    lines = [f"{len(found)} mutants, {len(valid)} of them valid policies"]
    for title, some in (
        ("let more out, and are forbidden", [j for j in valid if j.more and j.forbidden]),
        ("LET MORE OUT, AND PASS", [j for j in valid if j.fault]),
        ("let out no more, and pass", [j for j in valid if not j.more and not j.forbidden]),
        ("let out no more that was found, and are forbidden", [j for j in valid if not j.more and j.forbidden]),
    ):
        relations = ", ".join(f"{n} {r}" for r, n in Counter(j.relation for j in some).most_common())
        lines.append(f"{len(some):7d} {title} ({relations or 'none'})")
    lines += [f"        {j.number} ({j.base}; {', '.join(j.kinds)}): {j.more}" for j in valid if j.fault]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
