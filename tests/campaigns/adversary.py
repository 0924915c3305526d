"""Random policies on random small tables: what the engine decides against what brute force over the rows makes of it.

Prints what came of them, and each kind of disagreement with the numbers that reproduce it. One case is shown whole with
``--show NUMBER``. Ends with 1 where anything disagrees.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.judging import Compared, compare
from adversary.policies import EVERY, PLACE, case
from adversary.showing import shown

SHOWN = 8


def one(number: int) -> Compared:
    """Compare one case; what fails otherwise than by its input is a disagreement too."""
    try:
        return compare(case(number))
    except Exception as fault:  # noqa: BLE001  # the campaign goes on, and counts it
        return Compared(number, "failed", (f"failed with {type(fault).__name__}: {str(fault)[:80]}",))


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--further", action="store_true", help="only policies with steps that the others do not have")
    parser.add_argument("--show", type=int, metavar="NUMBER")
    chosen = parser.parse_args()
    if chosen.show is not None:
        print(shown(case(chosen.show)))
        return 0
    begun, found = time.perf_counter(), []
    numbers = range(chosen.start, chosen.start + chosen.count)
    if chosen.further:
        first = chosen.start + (PLACE - chosen.start) % EVERY
        numbers = range(first, first + chosen.count * EVERY, EVERY)
    with get_context("spawn").Pool(chosen.workers, maxtasksperchild=2000) as pool:
        for done, compared in enumerate(pool.imap_unordered(one, numbers, chunksize=20), 1):
            found.append(compared)
            if done % 500 == 0:
                wrong = sum(bool(c.faults) for c in found)
                print(f"{done} done, {wrong} disagree, {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    print(tally(found))
    return int(any(c.faults for c in found))


def tally(found: list[Compared]) -> str:
    """Return what came of the cases, and the disagreements."""
    lines = [f"{len(found)} policies"]
    lines += [f"{count:7d} {verdict}" for verdict, count in Counter(c.verdict for c in found).most_common()]
    for title, kinds in (("refused", _numbers(found, refused=True)), ("disagreements", _numbers(found, refused=False))):
        lines.append(f"{title}: {sum(map(len, kinds.values()))}")
        for kind, numbers in sorted(kinds.items(), key=lambda k: -len(k[1])):
            some = " ".join(map(str, sorted(numbers)[:SHOWN]))
            lines.append(f"{len(numbers):7d} {kind}    [{some}{' …' if len(numbers) > SHOWN else ''}]")
    return "\n".join(lines)


def _numbers(found: list[Compared], *, refused: bool) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for compared in found:
        for kind in ((compared.refused,) if compared.refused else ()) if refused else compared.faults:
            kinds.setdefault(kind, []).append(compared.number)
    return kinds


if __name__ == "__main__":
    sys.exit(main())
