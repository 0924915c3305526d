"""Random policies that count people: what the engine decides against what brute force over the rows makes of it.

Prints what came of them, and each kind of disagreement with the numbers that reproduce it. One case is shown whole with
``--show NUMBER``. Ends with 1 where anything disagrees.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.judging import Compared
from adversary.persons.judging import compare, expected
from adversary.persons.policies import case
from adversary.showing import shown
from campaigns.adversary import tally


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="NUMBER")
    chosen = parser.parse_args()
    if chosen.show is not None:
        print(shown(case(chosen.show), expected))
        return 0
    begun, found = time.perf_counter(), []
    for done, number in enumerate(range(chosen.start, chosen.start + chosen.count), 1):
        try:
            found.append(compare(case(number)))
        except Exception as fault:  # noqa: BLE001  # the campaign goes on, and counts it
            found.append(Compared(number, "failed", (f"failed with {type(fault).__name__}: {str(fault)[:80]}",)))
        if done % 500 == 0:
            wrong = sum(bool(c.faults) for c in found)
            print(f"{done} done, {wrong} disagree, {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    print(tally(found))
    return int(any(c.faults for c in found))


if __name__ == "__main__":
    sys.exit(main())
