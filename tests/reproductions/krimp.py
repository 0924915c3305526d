"""Vreeken, van Leeuwen and Siebes, "Preserving privacy through data generation", ICDM 2007: Table 1, Figures 2 to 4.

    python tests/reproductions/krimp.py [--quick] [--data ../shared/data] [--only iris] [--runs 30] [--workers 2]
                                        [--order uniform] [--no-figures] [--no-causes] [--json FILE]
                                        [--plot FILE.svg] [--plot-causes FILE.svg]

Each run generates as many rows as the original has, with a Laplace correction of 0.001, from the code table of all
frequent itemsets (mushroom: of closed ones, since all are too many). ``measured`` is the mean of the runs, ``interval``
the 95 per cent interval of that mean: a printed figure is met where the interval holds a value that is rounded to it;
else it is said by what factor the mean is off, and what is known of why. ``dissimilarity``, ``internal`` (against half
as many rows of the original, drawn with replacement) and ``uncorrelated`` (Figure 2: against what singletons alone
generate) compare code tables, in the direction whose mean is larger; ``equal_itemsets``, ``support_difference``,
``new_support`` are in per cent, as in the paper; ``nas`` is the normalised anonymity score, ``rare_in_original`` the
per cent of generated rows of support < minsup that occur in the original with support < minsup; Figure 3 is the share
of equal itemsets whose support moved by at most so much. ``bits`` and ``non_singletons`` are those of the authors' C++
program, with pruning, and are met exactly or not at all. ``DATASET50`` is another minsup. ``shuffled`` are
runs in which items have other numbers, which break ties, and columns another order.

`generation.py` says which readings of the paper are taken, `new_itemsets.py` how new itemsets are counted, `causes.py`
how the dissimilarity is split. ``--order uniform`` defines domains in random order, as the product does.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from causes import floor, panels, table
from generation import (
    EDGES,
    IN_COLUMNS,
    UNIFORM,
    Figures,
    Setting,
    compressed,
    generated,
    internal,
    patterns,
    scores,
    uncorrelated,
)
from judged import FEW, HEAD, Row, deviations
from means import Mean, Values, means_of
from panels import Panel, svg
from printed import LEAST, PRINTED, TABLES
from yardsticks import bootstrap, reordered, shuffled, twins, uncorrected

ROOT = Path(__file__).resolve().parents[2]
LAPLACE = 0.001
FEW_ROWS, MANY = 1000, 200
"""Rows below which tables are cheap enough to be made so many times."""
FURTHER = {"chess": (50, 200), "iris": (5, 20), "led7": (20, 100), "mushroom": (90, 500), "nursery": (20, 100)}
FURTHER |= {"pageblocks": (20, 100), "pendigits": (60, 500), "pima": (5, 20)}
"""More minimum supports for Figure 4, scored only."""
PARTS = {"generated": generated, "patterns": patterns, "internal": internal, "uncorrelated": uncorrelated}
PARTS |= {"scores": scores}
CAUSES = {"reordered": reordered, "bootstrap": bootstrap, "twins": twins, "uncorrected": uncorrected}
PARTS |= {**CAUSES, "shuffled": shuffled}


@dataclass(frozen=True)
class Effort:
    """How many runs: of Table 1, of the yardsticks for its causes, of Figure 2 and of Figure 4; 0 for none."""

    runs: int
    causes: int
    uncorrelated: int
    scores: int

    def of(self, name: str) -> Effort:
        """Return what a dataset gets: of the one that takes most time, fewer yardsticks, and of few runs half."""
        if name != "pendigits":
            return self
        runs = self.runs if self.runs >= TABLES else max(2, self.runs // 2)
        return replace(self, runs=runs, causes=-(-self.causes // 2), uncorrelated=-(-self.uncorrelated // 2))


def settled(word: str, data: Path, order: str) -> tuple[str, Setting]:
    """Return the id and the setting that ``iris`` or ``chess50`` means."""
    name = next(n for n in LEAST if word.startswith(n))
    least = word.removeprefix(name)
    return word, Setting(data, name, int(least) if least else LEAST[name], LAPLACE, order=order)


def work(part: str, setting: Setting, run: int) -> Figures:
    """One task of a worker process."""
    return compressed(setting) if part == "compressed" else PARTS[part](setting, run)


def tasks(setting: Setting, effort: Effort) -> list[tuple[str, Setting, int]]:
    parts = {"compressed": 1, "generated": effort.runs, "internal": effort.runs}
    parts |= {} if setting.closed else {"patterns": effort.runs}
    parts |= {"uncorrelated": effort.uncorrelated, **dict.fromkeys(CAUSES, effort.causes)}
    if effort.causes > FEW:
        parts["shuffled"] = MANY if setting.rows < FEW_ROWS else effort.causes
    return [(part, setting, run) for part, count in parts.items() for run in range(count)]


def measured(setting: Setting, effort: Effort, pool: ProcessPoolExecutor) -> Values:
    """Return what the runs on one dataset at one minimum support come to, by figure."""
    started = time.perf_counter()
    values: dict[str, list[float]] = {}
    for figures in pool.map(work, *zip(*tasks(setting, effort), strict=True), chunksize=1):
        for key, value in figures.items():
            values.setdefault(key, []).append(value)
    return {**values, "seconds": [time.perf_counter() - started]}


def further(setting: Setting, effort: Effort, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Yield what is scored at more minimum supports than that of Table 1."""
    count, name = effort.scores, setting.name
    for least in FURTHER[name] if count and setting.least == LEAST[name] else ():
        other = replace(setting, least=least)
        figures = list(pool.map(work, ["scores"] * count, [other] * count, range(count)))
        for key in figures[0]:
            yield Row.of(f"figure4.{name}.{least}.{key}", Mean.of([f[key] for f in figures]))


def judged(row: Row) -> bool:
    """Whether a row is one of the table: the yardsticks have one of their own, Figure 3 a drawing."""
    parts = row.id.split(".")[1:]
    return not {"moved", "unsearched", "first", "second", "low_correction", "shuffled", *CAUSES} & set(parts)


def words(rows: Sequence[Row]) -> Iterator[str]:
    """What the paper says in words, held against the figures."""
    value = {row.id: row.measured for row in rows}
    names = [i.removesuffix(".uncorrelated") for i in value if i.endswith(".uncorrelated")]
    for name in names:
        times = value[f"{name}.uncorrelated"] / max(value[f"{name}.dissimilarity"], 1e-9)
        holds = "holds" if times > 1 else "DOES NOT HOLD"
        yield f"{name}: without correlations the dissimilarity is {times:.1f} times as large (Figure 2): {holds}"
    points = list(anonymity(rows).values())
    if len(points) > 2:
        x, y = np.array(points).T
        ranks = np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1]
        holds = "holds" if ranks < 0 else "DOES NOT HOLD"
        yield f"NAS falls as itemsets per row grow (Figure 4), rank correlation {ranks:.2f} over {len(points)}: {holds}"
    met = [row.met for row in rows if row.met is not None]
    yield f"{sum(met)} of {len(met)} printed figures are met"


def anonymity(rows: Sequence[Row]) -> Mapping[str, tuple[float, float]]:
    """Return (itemsets per row, NAS) by dataset and minsup."""
    value = {row.id: row.measured for row in rows if ".shuffled." not in row.id}
    names = [i.removesuffix(".nas") for i in value if i.endswith(".nas")]
    return {n: (value[f"{n}.itemsets_per_row"], value[f"{n}.nas"]) for n in names}


def plot(rows: Sequence[Row]) -> str:
    """Figures 2, 3 and 4."""
    value = {row.id: row.measured for row in rows if ".shuffled." not in row.id}
    names = [i.removesuffix(".dissimilarity") for i in value if i.endswith(".dissimilarity")]
    lines = {
        key: [(i + 1, value[f"{n}.{key}"]) for i, n in enumerate(names) if f"{n}.{key}" in value]
        for key in ("dissimilarity", "uncorrelated", "internal")
    }
    printed = [PRINTED.get(f"{n}.dissimilarity") for n in names]
    paper = [(i + 1, p.value) for i, p in enumerate(printed) if p is not None]
    every = {k: v for k, v in lines.items() if v}
    places = {float(i + 1): n for i, n in enumerate(names)}
    found = [Panel("Figure 2: dissimilarity (circles: the paper's)", "", "", every, {"dissimilarity": paper}, places)]
    edges = {float(i): f"{e:g}" for i, e in enumerate(EDGES)}
    moved = {n: [(float(i), value[f"{n}.moved.{e:g}"]) for i, e in enumerate(EDGES)] for n in names if moves(n, value)}
    if moved:
        found.append(Panel("Figure 3: share of supports that moved at most", "", "", moved, {}, edges))
    points = anonymity(rows)
    if points:
        dots: dict[str, list[tuple[float, float]]] = {}
        for name in sorted(points):
            dots.setdefault(next(n for n in LEAST if n in name), []).append(points[name])
        found.append(Panel("Figure 4: NAS by itemsets per row", "itemsets per generated row", "NAS", {}, dots))
    return svg(found)


def moves(name: str, value: Mapping[str, float]) -> bool:
    return f"{name}.moved.0" in value


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    options.add_argument("--only", action="append", metavar="DATASET", help=f"{', '.join(LEAST)}; chess50 and the like")
    options.add_argument("--quick", action="store_true", help="few runs, in less than two minutes")
    options.add_argument("--runs", type=int, help="of each dataset (30; 3 with --quick)")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--order", choices=(IN_COLUMNS, UNIFORM), default=IN_COLUMNS, help="of the domains")
    options.add_argument("--no-figures", action="store_true", help="no Figure 2, no Figure 4")
    options.add_argument("--no-causes", action="store_true", help="no split of the dissimilarity, no yardsticks")
    options.add_argument("--json", type=Path)
    options.add_argument("--plot", type=Path, help="Figures 2 to 4")
    options.add_argument("--plot-causes", type=Path, help="where the dissimilarity comes from")
    chosen = options.parse_args()
    if chosen.runs is not None and chosen.runs < 2:
        options.error("an interval of a mean needs two runs")
    if chosen.no_causes and chosen.plot_causes:
        options.error("--plot-causes needs the causes: leave out --no-causes")
    for word in chosen.only or ():
        if not re.fullmatch(rf"({'|'.join(LEAST)})[0-9]*", word):
            options.error(f"there is no dataset `{word}`")
    return chosen


def effort(chosen: argparse.Namespace) -> Effort:
    runs = chosen.runs or (3 if chosen.quick else 30)
    figures = 0 if chosen.no_figures else 2 if chosen.quick else 5
    causes = 0 if chosen.no_causes else 2 if chosen.quick else min(runs, 10)
    return Effort(runs, causes, min(runs, figures), 0 if chosen.quick else min(runs, figures))


def main() -> None:
    chosen = arguments()
    if not (chosen.data / "lucs_krimp_db").is_dir():
        sys.exit(f"{chosen.data / 'lucs_krimp_db'} is missing")
    started, rows, values = time.perf_counter(), [], {}
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    with ProcessPoolExecutor(chosen.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for word in chosen.only or (*LEAST, "chess50"):
            name, setting = settled(word, chosen.data, chosen.order)
            values[name] = measured(setting, effort(chosen).of(name), pool)
            found = [Row.of(f"{name}.{key}", mean) for key, mean in means_of(values[name]).items()]
            found += further(setting, effort(chosen), pool)
            print("\n".join(["", HEAD, *(str(row) for row in found if judged(row))]), flush=True)
            if "bootstrap" in values[name]:
                print(table(name, values[name]), flush=True)
            rows += found
    print("\n" + "\n".join(words(rows)))
    print("\n".join(["", "figures that are off", *deviations(rows, values)]))
    print("\n".join(text for name, each in values.items() if "bootstrap" in each and (text := floor(name, each))))
    print(f"{time.perf_counter() - started:.0f} s in all, {chosen.workers} processes")
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if chosen.plot:
        chosen.plot.write_text(plot(rows))
    if chosen.plot_causes:
        chosen.plot_causes.write_text(svg(panels(values)))


if __name__ == "__main__":
    main()
