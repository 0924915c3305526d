"""Who knows several rows of a person: time and memory by rows of the table and by how many are known.

    python tests/benchmarks/known_rows.py [--rows 10000,100000,1000000] [--json FILE]

Each figure is one warm process. ``crowd`` is the smallest crowd, with 0.3 people a row and 1,000 classes; ``many`` has
33 rows a person; in ``one`` a person more has 100,000 rows in 100,000 classes; ``groups`` are the shares of 20 values
within all groups; ``chance`` is the largest chance of each of 20 values. The baseline is the smallest table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measuring import Row, Sheet, timed

from ppdm_flow.mining.people.known import choices, largest_chances
from ppdm_flow.mining.people.known_rows import CombinationLimitError, profiles, smallest_crowd
from ppdm_flow.mining.people.known_rows_groups import group_counts, told_by_people
from ppdm_flow.mining.recoding.grouping import ClassCells

SEED, CLASSES, VALUES, HEAVY = 7, 1_000, 20, 100_000
KNOWN = {"1": 1, "2": 2, "3": 3, "all": None}
SHARES = {"crowd": 0.3, "many": 0.03, "one": 0.3, "groups": 0.3, "chance": 0.3}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", default="10000,100000,1000000")
    words.add_argument("--json", type=Path)
    words.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    chosen = words.parse_args()
    if chosen.once:
        print(once(chosen.once[0], int(chosen.once[1]), KNOWN[chosen.once[2]]))
        return
    sheet = Sheet()
    sheet.head()
    for row in rows([int(n) for n in chosen.rows.split(",")]):
        sheet.add(row)
    sheet.write(chosen.json)


def rows(sizes: list[int]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        for what in SHARES:
            for known in KNOWN:
                once(what, 100, KNOWN[known])
                base = 0.0
                for size in sizes:
                    command = (sys.executable, Path(__file__).resolve(), "--once", what, str(size), known)
                    spent = timed(*command, cwd=Path(name))
                    base = base or spent.seconds
                    ratio = spent.seconds / base
                    label = f"{what}.known_{known}"
                    yield Row(label, size, spent.seconds, spent.peak_mb, "the smallest table", ratio, spent.cpu)


def once(what: str, size: int, known: int | None) -> str:
    rng = np.random.default_rng(SEED)
    person, group = rng.integers(0, max(1, int(size * SHARES[what])), size), rng.integers(0, CLASSES, size)
    if what == "one":
        person = np.concatenate([person, np.full(HEAVY, person.max() + 1)])
        group = np.concatenate([group, np.arange(HEAVY)])
    linked = np.ones(len(person), dtype=bool)
    value = rng.integers(0, VALUES, len(person))
    try:
        if what == "groups":
            held = profiles(person, group, linked)
            told = told_by_people(held.holdings, person, np.arange(len(person)), value, None, VALUES)
            return str(max(float(counts.share_of_people().max()) for counts in group_counts(held, told, known)))
        if what == "chance":
            return str(largest_chances(choices(person, group), cells(group, value), known, VALUES).max())
        found = smallest_crowd(person, group, linked, known)
    except CombinationLimitError as fault:
        return fault.text
    return f"{found.smallest} of {found.combinations:,} combinations"


def cells(group: np.ndarray, value: np.ndarray) -> ClassCells:
    counts = np.bincount(group * VALUES + value, minlength=(int(group.max()) + 1) * VALUES).reshape(-1, VALUES)
    classes, values = np.nonzero(counts)
    begins = np.searchsorted(classes, np.arange(len(counts) + 1)).astype(np.int64)
    return ClassCells(begins, values.astype(np.int32), counts[classes, values])


if __name__ == "__main__":
    main()
