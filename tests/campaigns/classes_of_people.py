"""Steps that make classes of people: random tables and policies, judged by the definitions in plain Python.

    python tests/campaigns/classes_of_people.py [--count 500] [--start 0] [--step mondrian]

Prints, for each step, how many releases there were, how many were refused, and those that break what the step claims.
Ends with 1 where any does.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.people_trials import STEPS, broken, case_of, released, standing_out, told_to, with_cards


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--step", choices=sorted(STEPS))
    chosen = parser.parse_args()
    wrong = 0
    for step in [chosen.step] if chosen.step else sorted(STEPS):
        tally: Counter[str] = Counter()
        for seed in range(chosen.start, chosen.start + chosen.count):
            faults, what = tried(step, seed)
            tally[what] += 1
            wrong += bool(faults)
            for fault in faults:
                print(f"{step} {seed}: {fault}", flush=True)
        print(f"{step}: {tally['released']} released, {tally['empty']} without a row, {tally['refused']} refused")
    print(f"{wrong} releases break what is claimed")
    return int(wrong > 0)


def tried(step: str, seed: int) -> tuple[list[str], str]:
    """Return what is broken, and what came out."""
    rng = random.Random(seed)
    told = told_to(step, rng)
    params = STEPS[step](rng)
    suppresses = step == "suppress"
    told = with_cards(told) if suppresses and rng.random() < 0.3 else told
    case = case_of(step, params, told)
    rows = released(case, told)
    if rows is None:
        return [], "refused"
    return broken(case, told, rows) + (standing_out(told, rows) if suppresses else []), "released" if rows else "empty"


if __name__ == "__main__":
    sys.exit(main())
