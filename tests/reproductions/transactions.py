"""Evfimievski, Srikant, Agrawal and Gehrke, "Privacy preserving mining of association rules": its tables and plots.

    python tests/reproductions/transactions.py [--data ../shared/data] [--only soccer] [--runs 3] [--scale 0.1]
                                               [--json FILE] [--plot FILE.svg]

The paper's soccer and mailorder data are not at hand: generated ones of the same size stand in, with about as many
frequent itemsets. Breach level 50 %, minimum support 0.2 %, itemsets of 1 to 3 items. Insertion probabilities are
rounded up to a multiple of 1/256. Maximal supports are the true ones. Three readings of how they are used:

- ``soccer.…``: maxima among the transactions of each size, for the itemset that has them all at once (the paper's).
- ``soccer.promise.…``: the same maxima, for the worst itemset that they allow: what `itemset_breach` promises.
- ``soccer.overall.…``: maxima among all transactions of any size. Readers who know a size learn more than the level.

``worst_breach`` is measured: the share of transactions with z among those of which the randomized ones hold A, largest
over A of at least half the minimum support and z in A, for who does not know sizes (the paper's figures), and
``.by_size`` for who does, over sizes that 1 % of the transactions have; ``.exact`` is what operator and true supports
say, ``absent`` Pr[z in t, given that A is not in t']. Each figure is a mean over runs, with the lowest and the highest.

Public data are mined at the lowest discoverable support of what was chosen for them (``min_support``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, floor, log10
from pathlib import Path

import numpy as np
from basket_data import FILES, QUEST, transactions
from panels import Panel, svg
from randomized import LENGTHS, Truth, chosen, compared, measured, predicted, randomized, recovered

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.choosing import Challenge
from ppdm_flow.mining.transactions.curves import Curve, Setting, over_levels, over_numbers, over_sizes
from ppdm_flow.mining.transactions.operators import TransactionOperator

ROOT = Path(__file__).resolve().parents[2]
LEAST = 0.002
LEVEL = 0.5
LIMIT = 0.56
BUCKETS = ("low", "half", "near", "frequent")
"""Supports below a half of the minimum, below three quarters of it, below it, and from there."""
READINGS = {"": (True, Challenge.PAPER), "promise.": (True, Challenge.WORST), "overall.": (False, Challenge.PAPER)}
TABLE = {
    "soccer": ((266, 217, 48), (254, 195, 43), (12, 22, 5), (31, 45, 26)),
    "mailorder": ((65, 228, 22), (65, 212, 18), (0, 16, 4), (0, 28, 5)),
}
NAMES = ("true_itemsets", "true_positives", "false_drops", "false_positives")
COMPLETE = {"soccer": (0.95, 0.90, 0.90), "mailorder": (1.0, 0.93, 0.82)}
SPREAD = {
    "soccer": ((0, 2, 10, 254, 0, 7, 24, 254), (0, 5, 17, 195, 7, 10, 28, 195), (0, 1, 4, 43, 5, 13, 8, 43)),
    "mailorder": ((0, 0, 0, 65, 0, 0, 0, 65), (0, 1, 15, 212, 0, 0, 28, 212), (0, 1, 3, 18, 1, 2, 2, 18)),
}
BREACH = {"soccer.worst_breach": 0.532, "mailorder.worst_breach": 0.554}
LEVELS = {"fifa": 0.8}
"""Where a half cannot be kept: two in three visits of nine pages are to the same ones."""
MOST = {"retail": 0.25}
"""Items that more of the baskets have are left out: no operator can keep a half for what half of the baskets have."""
CROWDED = (0.2, 0.05, 0.02)
"""Maximal supports of the plots, which the talk does not tell."""


def table() -> dict[str, float]:
    """Return the paper's figures by id."""
    known = dict(BREACH)
    for name, columns in TABLE.items():
        for label, column in zip(NAMES, columns, strict=True):
            known |= {f"{name}.{k}.{label}": value for k, value in zip(LENGTHS, column, strict=True)}
    for name, by_length in SPREAD.items():
        labels = [f"{side}.{bucket}" for side in ("predicted", "actual") for bucket in BUCKETS]
        for k, values in zip(LENGTHS, by_length, strict=True):
            known |= {f"{name}.{k}.{label}": value for label, value in zip(labels, values, strict=True)}
    return known


PAPER = table()


@dataclass(frozen=True)
class Row:
    id: str
    paper: float | None
    measured: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, values: Sequence[float]) -> Row:
        return cls(name, PAPER.get(name), float(np.mean(values)), float(min(values)), float(max(values)))


def trial(truth: Truth, operator: TransactionOperator, least: float, run: int) -> dict[str, float]:
    """Randomize, mine, compare; figures by what comes after the name of data and reading."""
    out = randomized(truth.data, operator, run)
    found = recovered(out, operator, least)
    figures: dict[str, float] = {}
    for k in LENGTHS:
        here = compared(truth, found, k, least)
        values = (here.frequent, here.true_positives, here.false_drops, here.false_positives)
        figures |= {f"{k}.{label}": value for label, value in zip(NAMES, values, strict=True)}
        figures |= {f"{k}.predicted.{b}": n for b, n in zip(BUCKETS, here.predicted, strict=True)}
        figures |= {f"{k}.actual.{b}": n for b, n in zip(BUCKETS, here.actual, strict=True)}
    breaches = dict(measured(truth, out, least / 2))
    figures |= {f"worst_breach.{k}": b.overall for k, b in breaches.items() if b.overall}
    figures["worst_breach"] = max(b.overall for b in breaches.values())
    figures["worst_breach.by_size"] = max(b.by_size for b in breaches.values())
    figures["absent"] = max(b.absent for b in breaches.values())
    return figures


def experiment(name: str, data: Path, scale: float, runs: int) -> Iterator[Row]:
    """Yield the rows of one data set."""
    started = time.perf_counter()
    given = transactions(name, data, scale, MOST.get(name, 1.0))
    print(f"\n{given}")
    truth = Truth.of(given, LEAST / 4 if name in QUEST else LEAST)
    for reading, (by_size, challenge) in READINGS.items():
        start, level = f"{name}.{reading}", LEVELS.get(name, LEVEL)
        try:
            choice, operator = chosen(truth, level, by_size=by_size, challenge=challenge)
        except PluginError as error:
            print(f"{start}: {error}")
            continue
        print(f"{start} breach level {level:.0%}; size: K, rho: {described(operator)}")
        least = LEAST if name in QUEST else upwards(max(choice.discoverable.values()))
        yield Row.of(f"{start}min_support", [least])
        for k, support in choice.discoverable.items():
            yield Row.of(f"{start}{k}.discoverable", [support])
        exact = [breach for _, breach in predicted(truth, operator, least / 2)]
        yield Row.of(f"{start}worst_breach.exact", [max(b.overall for b in exact)])
        yield Row.of(f"{start}worst_breach.by_size.exact", [max(b.by_size for b in exact)])
        found = [trial(truth, operator, least, run) for run in range(1 if reading else runs)]
        for key in found[0]:
            yield Row.of(start + key, [figures[key] for figures in found])
    yield Row.of(f"{name}.seconds", [time.perf_counter() - started])


def described(operator: TransactionOperator) -> str:
    return "; ".join(f"{m}: {operator.cutoffs[m]}, {operator.rho(m):.3f}" for m in operator.sizes)


def upwards(value: float) -> float:
    """Round up to two digits."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return ceil(value / unit) * unit


@cache
def plots() -> dict[str, Curve]:
    """The talk's three: |t| = 5, N = 5 million, level 50 %, each of them varied."""
    setting = Setting(CROWDED)
    return {
        "number": over_numbers(setting, np.array([0.1, 0.5, 1, 2, 3, 5, 7, 10]) * 1e6),
        "size": over_sizes(setting, range(1, 11)),
        "level": over_levels(setting, np.arange(0.25, 0.96, 0.1).round(2)),
    }


def lowest(curves: dict[str, Curve]) -> Iterator[Row]:
    print(f"\nLowest discoverable supports: |t| = 5, N = 5 million, level 50 %, maximal supports {CROWDED} by size")
    for name, curve in curves.items():
        for k, supports in curve.lowest.items():
            for along, support in zip(curve.along, supports, strict=True):
                if np.isfinite(support):
                    yield Row.of(f"lds.{name}.{along:g}.{k}", [float(support)])


def shown(row: Row) -> str:
    counts = row.id.rpartition(".")[2] in (*NAMES, *BUCKETS)
    form = "{:g}" if counts else "{:.1f}" if row.id.endswith("seconds") else "{:.5f}"
    paper = "" if row.paper is None else form.format(row.paper)
    ends = f"{form.format(row.low)} to {form.format(row.high)}" if row.low < row.high else ""
    mean = f"{row.measured:.1f}" if counts and row.low < row.high else form.format(row.measured)
    return f"{row.id:<42} {paper:>9} {mean:>9}  {ends}".rstrip()


def words(rows: Sequence[Row]) -> Iterator[str]:
    """What has to hold, held against the figures."""
    value = {row.id: row.measured for row in rows}
    for name, shares in COMPLETE.items():
        for reading in READINGS:
            start = f"{name}.{reading}"
            if f"{start}worst_breach" not in value:
                continue
            got = [value[f"{start}{k}.true_positives"] / value[f"{start}{k}.true_itemsets"] for k in LENGTHS]
            holds = all(round(g, 2) >= s for g, s in zip(got, shares, strict=True))
            said = ", ".join(f"{g:.1%}" for g in got)
            wanted = ", ".join(f"{s:.0%}" for s in shares)
            yield f"{start} recovered of 1, 2, 3 items: {said} (paper {wanted}): {verdict(holds)}"
            worst = value[f"{start}worst_breach"]
            if reading == "overall.":
                yield f"{start} worst measured breach {worst:.1%}: these maxima are not those of each size"
            else:
                yield f"{start} worst measured breach {worst:.1%}, at most {LIMIT:.0%}: {verdict(worst <= LIMIT)}"
    for name in (*QUEST, *FILES):
        if f"{name}.promise.worst_breach.by_size.exact" in value:
            level = LEVELS.get(name, LEVEL)
            worst = value[f"{name}.promise.worst_breach.by_size.exact"]
            yield f"{name}.promise. nobody who knows sizes exceeds {level:.0%}: {worst:.1%}: {verdict(worst <= level)}"


def verdict(holds: bool) -> str:
    return "holds" if holds else "DOES NOT HOLD"


def drawn(curves: dict[str, Curve]) -> str:
    labels = {"number": "million transactions", "size": "items of a transaction", "level": "breach level"}
    found = []
    for name, curve in curves.items():
        along = curve.along / 1e6 if name == "number" else curve.along
        lines = {
            f"{k} item{'s' if k > 1 else ''}": [
                (float(x), 100 * float(y)) for x, y in zip(along, supports, strict=True) if np.isfinite(y)
            ]
            for k, supports in curve.lowest.items()
        }
        found.append(Panel("Lowest discoverable support, %", labels[name], "", lines, {}))
    return svg(found, across=3)


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    options.add_argument("--only", action="append", choices=(*QUEST, *FILES, "lds"))
    options.add_argument("--runs", type=int, default=3, help="of the paper's reading; the others have one")
    options.add_argument("--scale", type=float, default=1.0, help="share of the generated rows, for a quick look")
    options.add_argument("--json", type=Path)
    options.add_argument("--plot", type=Path)
    return options.parse_args()


def main() -> None:
    options = arguments()
    started, rows = time.perf_counter(), []
    for name in options.only or (*QUEST, *FILES, "lds"):
        if name in FILES and not (options.data / FILES[name]).is_file():
            print(f"{name} is left out: {options.data / FILES[name]} is missing", file=sys.stderr)
            continue
        found = list(lowest(plots()) if name == "lds" else experiment(name, options.data, options.scale, options.runs))
        print(f"{'id':<42} {'paper':>9} {'measured':>9}  runs")
        print("\n".join(map(shown, found)), flush=True)
        rows += found
    print("\n" + "\n".join(words(rows)))
    print(f"{time.perf_counter() - started:.0f} s in all, {os.times().user + os.times().system:.0f} CPU seconds")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if options.plot:
        options.plot.write_text(drawn(plots()))


if __name__ == "__main__":
    main()
