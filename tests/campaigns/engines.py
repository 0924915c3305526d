"""Random policies on random small tables by both engines: Spark's, on a farm in this process, decides as the local one.

Policies are those of the campaigns ``adversary`` and ``about_people``: composed steps, several releases, sets, weights,
missing values, generated rows, people with several rows. Verdict, figures, requirements, findings, and released rows in
their order have to be the same, and errors have the same codes. Fragments and parts have about five rows. Prints what
came of the cases, and of each kind of difference the numbers that reproduce it; ends with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary import policies
from adversary.engines import faults
from adversary.persons import policies as of_persons

SHOWN = 8
KINDS = {"rows": policies.case, "people": of_persons.case}


def one(asked: tuple[str, int]) -> tuple[str, int, str, list[str]]:
    """Compare one case; a failure is a difference too."""
    kind, number = asked
    try:
        return kind, number, *faults(KINDS[kind](number))
    except Exception as fault:  # noqa: BLE001  # the campaign goes on, and counts it
        return kind, number, "failed", [f"failed with {type(fault).__name__}: {str(fault)[:80]}"]


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many policies of each kind")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    begun, verdicts, wrong = time.perf_counter(), Counter[str](), dict[str, list[str]]()
    numbers = range(chosen.start, chosen.start + chosen.count)
    cases = [(kind, number) for number in numbers for kind in KINDS]
    with get_context("spawn").Pool(chosen.workers, maxtasksperchild=500) as pool:
        for done, (kind, number, verdict, differences) in enumerate(pool.imap_unordered(one, cases, chunksize=10), 1):
            verdicts[verdict] += 1
            for difference in differences:
                wrong.setdefault(difference, []).append(f"{kind} {number}")
            if done % 200 == 0:
                print(f"{done} done, {sum(map(len, wrong.values()))} differ", file=sys.stderr, flush=True)
    print("\n".join(f"{count:7d} {verdict}" for verdict, count in verdicts.most_common()))
    print(f"differences: {sum(map(len, wrong.values()))} of {len(cases)} policies")
    for difference, where in sorted(wrong.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(where):7d} {difference}    [{', '.join(where[:SHOWN])}{' …' if len(where) > SHOWN else ''}]")
    print(f"{time.perf_counter() - begun:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
