"""Exact posteriors on tiny tables, by kind of step: how far they exceed what is measured.

Every table of two columns, three values each and so many rows is put through a policy for each kind. Prints a table;
``--json FILE`` writes its rows.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.kinds import KINDS, fitting, largest


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    kinds, found = chosen.kind or list(KINDS), []
    print(f"{'kind of step':36s} {'releases':>8s} {'exact':>7s} {'excess':>8s} {'credulous':>9s} {'share':>7s}")
    with get_context("spawn").Pool(chosen.workers) as pool:
        for kind, exact in zip(kinds, pool.imap(partial(largest, rows=chosen.rows), kinds), strict=True):
            rows = fitting(kind, chosen.rows)
            row = {"id": kind, "rows": rows, "releases": exact.releases, "worst": round(exact.worst, 4)}
            row |= {"excess": round(exact.excess, 4), "credulous": round(exact.credulous, 4)}
            found.append(row | {"exceeding": round(exact.exceeding, 4)})
            figures = f"{exact.worst:7.4f} {exact.excess:8.4f} {exact.credulous:9.4f} {exact.exceeding:7.2%}"
            print(f"{kind:36s} {exact.releases:8d} {figures}", flush=True)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
