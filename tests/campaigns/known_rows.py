"""Several known rows of a person: on random small tables every set of known rows is tried, and found by three routes.

    python tests/campaigns/known_rows.py [--count 1000] [--start 0] [--rows 20]

Prints how many tables were tried and the figures that differ. Ends with 1 where any does.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.known_rows import small
from adversary.known_rows_judging import Database, disagreements


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--rows", type=int, default=20, help="the most rows of a person")
    chosen = parser.parse_args()
    begun, wrong, tried, database = time.perf_counter(), 0, 0, Database()
    for seed in range(chosen.start, chosen.start + chosen.count):
        table = small(seed, chosen.rows)
        faults = disagreements(table, database)
        tried += len(table.rows)
        wrong += bool(faults)
        for fault in faults:
            print(f"{seed}: {fault}", flush=True)
        if (seed + 1 - chosen.start) % 100 == 0:
            print(f"{seed + 1 - chosen.start} tables, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"{chosen.count} tables of {tried:,} rows, known 1, 2, 3 and all: {wrong} with a figure that differs")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
