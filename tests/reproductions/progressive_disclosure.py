"""Wang, Fung and Yu, "Template-based privacy preservation in classification problems": Table 3 and Figure 3.

    python tests/reproductions/progressive_disclosure.py [--data ../shared/data] [--only crx] [--repeats 10]
                                                         [--top 4 --h 70] [--beam 0] [--json FILE] [--plot FILE.svg]

TopN are the N attributes that C4.5 would put at the root one after another: of those with at least the mean
information gain on the training part, the one with the highest gain ratio. Sensitive are the less frequent half of the
values of each, every value a template of its own; the channel is all other attributes. Suppression comes before
splitting. Errors are means over repeated splits of the paper's size, with 95 % intervals (`classification_error`);
``split`` is the error on the paper's own split. A cell is infeasible where even the most suppressed table breaks a
template (Lemma 3.3): it is scored on that table and left out of all means. ``topN.se`` is the mean over the thresholds
that the paper takes it over, ``re_se`` the error without the TopN attributes less that.

Values are disclosed by `search: beam` of the greatest width that there is, which keeps at least as much information as
the paper's greedy search; what the greedy one gives is in the rows ``….greedy``. With ``--beam 0`` all rows are its.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from grid import Cell, Experiment, heads
from panels import Panel, svg
from uci import Dataset, adult, crx

from ppdm_flow.core.results import Figure

ROOT = Path(__file__).resolve().parents[2]
LEVELS = (10, 30, 50, 70, 90)
SCORED = {"crx": (50, 70, 90), "adult": LEVELS}
FOLDER = {"crx": "crx", "adult": "adult_uci"}
COUNTS = {"crx": (40, 27, 15, 8, 6), "adult": (1333, 786, 365, 324, 318)}
PAPER = {
    "crx.be": 0.154,
    "crx.se.least": 0.154,
    "crx.se.most": 0.165,
    "crx.se_be.most": 0.011,
    "crx.top4.h70.se": 0.154,
    "crx.top1.re_se": 0.101,
    "crx.top4.re_se": 0.313,
    "adult.be": 0.176,
    "adult.se_be.most": 0.008,
    "adult.top4.re_se": 0.06,
} | {f"{name}.top4.inferences.{h}": n for name, every in COUNTS.items() for h, n in zip(LEVELS, every, strict=True)}


@dataclass(frozen=True)
class Row:
    id: str
    paper: float | None
    measured: float
    low: float
    high: float
    note: str = ""

    @classmethod
    def of(cls, name: str, value: float, low: float | None = None, high: float | None = None, note: str = "") -> Row:
        ends = (value if low is None else low, value if high is None else high)
        return cls(name, PAPER.get(name), float(value), float(ends[0]), float(ends[1]), note)


def ends(figure: Figure) -> tuple[float, float, float]:
    low, high = figure.interval or (figure.value, figure.value)
    return figure.value, low, high


def reproduce(data: Dataset, tops: Sequence[int], levels: Sequence[int], repeats: int, width: int) -> Iterator[Row]:
    order = heads(data)
    print(f"\n{data.name}: {data.train:,} + {len(data.frame) - data.train:,} records; heads: {', '.join(order)}")
    means: list[Row] = []
    for n in tops:
        experiment = Experiment(data, order[:n], width)
        mine = [experiment.cell(h, repeats) for h in levels]
        if n == tops[0]:
            yield Row.of(f"{data.name}.be", *ends(mine[0].errors["be"]))
            yield Row.of(f"{data.name}.be.split", experiment.on_paper_split(experiment.table))
        for cell in mine:
            yield from of_cell(data.name, cell)
        means += (found := list(of_top(data.name, mine, experiment)))
        yield from found
    yield from of_all(data.name, means)


def of_cell(name: str, cell: Cell) -> Iterator[Row]:
    start, note = f"{name}.top{cell.top}.h{cell.h}", "" if cell.feasible else "infeasible"
    yield Row.of(f"{start}.se", *ends(cell.errors["se"]), note)
    yield Row.of(f"{start}.se_be", *ends(cell.errors["se_be"]), note)
    if cell.greedy:
        yield Row.of(f"{start}.se.greedy", *ends(cell.greedy["se"]))
        yield Row.of(f"{start}.se_be.greedy", *ends(cell.greedy["se_be"]))
    yield Row.of(f"{start}.se.split", cell.split, note=note)
    yield Row.of(f"{start}.seconds", cell.seconds, note=note)
    yield Row.of(f"{name}.top{cell.top}.inferences.{cell.h}", cell.before)
    yield Row.of(f"{name}.top{cell.top}.inferences_after.{cell.h}", cell.after, note=note)


def of_top(name: str, cells: Sequence[Cell], experiment: Experiment) -> Iterator[Row]:
    """Means over the paper's thresholds; the ends are means of ends, which is wide: the cells share their splits."""
    start = f"{name}.top{cells[0].top}"
    value, low, high = ends(cells[0].errors["re"])
    yield Row.of(f"{start}.re", value, low, high)
    yield Row.of(f"{start}.re.split", experiment.on_paper_split(experiment.table, experiment.top))
    chosen = [c for c in cells if c.feasible and c.h in SCORED[name]]
    if chosen:
        se = np.mean([ends(c.errors["se"]) for c in chosen], axis=0)
        yield Row.of(f"{start}.se", *se)
        yield Row.of(f"{start}.se_be", *np.mean([ends(c.errors["se_be"]) for c in chosen], axis=0))
        yield Row.of(f"{start}.re_se", value - se[0], low - se[2], high - se[1])


def of_all(name: str, means: Sequence[Row]) -> Iterator[Row]:
    """The extremes of the means over all TopN."""
    se = [m for m in means if m.id.endswith(".se")]
    rise = [m for m in means if m.id.endswith(".se_be")]
    if se and rise:
        most = max(rise, key=lambda m: m.measured)
        yield Row.of(f"{name}.se_be.most", most.measured, most.low, most.high)
        yield Row.of(f"{name}.se.least", min(m.measured for m in se))
        yield Row.of(f"{name}.se.most", max(m.measured for m in se))


def shown(row: Row) -> str:
    counted = "inferences" in row.id
    form = "{:.0f}" if counted else "{:.3f}" if "seconds" in row.id else "{:.4f}"
    paper = "" if row.paper is None else form.format(row.paper)
    spread = f"{row.low:.4f} to {row.high:.4f}" if row.low < row.high else ""
    return f"{row.id:<34} {paper:>8} {form.format(row.measured):>9}  {spread:<18} {row.note}".rstrip()


def words(rows: Sequence[Row]) -> Iterator[str]:
    """The shape of Figure 3, held against the figures."""
    row = {r.id: r for r in rows}
    for name in FOLDER:
        limit = PAPER[f"{name}.se_be.most"]
        rises = [r for r in rows if r.id.startswith(f"{name}.top") and r.id.endswith(".se_be") and not r.note]
        means = [r for r in rises if r.id.count(".") == 2]
        if means:
            holds = "holds" if all(r.low <= limit for r in means) else "DOES NOT HOLD"
            yield f"{name}: SE - BE, mean over h, is above {limit:.1%} for no TopN beyond its interval: {holds}"
        if rises:
            yield f"{name}: single feasible cells above {limit:.1%} beyond their interval: {listed(rises, limit)}"
        greedy = [r for r in rows if r.id.startswith(f"{name}.top") and r.id.endswith(".se_be.greedy")]
        if greedy:
            yield f"{name}: the same of the paper's greedy search: {listed(greedy, limit)}"
        if f"{name}.top4.re_se" in row:
            gap = row[f"{name}.top4.re_se"]
            holds = "holds" if gap.low > 0 else "DOES NOT HOLD"
            yield f"{name}: RE is above SE at Top4 by {gap.measured:.1%} (paper: {gap.paper:.1%}): {holds}"


def listed(rows: Sequence[Row], limit: float) -> str:
    """The cells whose interval lies above the limit."""
    beyond = [(".".join(r.id.split(".")[:3]).removesuffix(".se_be"), r) for r in rows if r.low > limit]
    return ", ".join(f"{name} ({r.measured:.1%}, {r.low:.1%} to {r.high:.1%})" for name, r in beyond) or "none"


def plot(rows: Sequence[Row]) -> str:
    """Figure 3: errors by threshold for each TopN, feasible cells only; and by N, means over thresholds."""
    row = {r.id: r for r in rows}
    panels = []
    for name in FOLDER:
        tops = [n for n in range(1, 5) if f"{name}.top{n}.re" in row]
        for n in tops:
            start = f"{name}.top{n}"
            se = [(h, row[i].measured) for h in LEVELS if (i := f"{start}.h{h}.se") in row and not row[i].note]
            if se:
                across = [h for h, _ in se]
                level = {"BE": row[f"{name}.be"].measured, "RE": row[f"{start}.re"].measured}
                lines = {"SE": se} | {k: [(h, v) for h in across] for k, v in level.items()}
                given = {"SE": [(h, row[f"{start}.h{h}.se"].paper) for h in across if row[f"{start}.h{h}.se"].paper]}
                given["BE"] = [(across[0], row[f"{name}.be"].paper)]
                panels.append(Panel(f"{name}, Top{n}", "h, %", "error", lines, given))
    return svg(panels)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    options.add_argument("--only", choices=tuple(FOLDER))
    options.add_argument("--repeats", type=int, default=10)
    options.add_argument("--top", type=int, nargs="+", choices=range(1, 5), default=(1, 2, 3, 4))
    options.add_argument("--h", type=int, nargs="+", choices=LEVELS, default=LEVELS)
    options.add_argument(
        "--beam", type=int, default=64, metavar="WIDTH", help="width of `search: beam`; 0: the paper's greedy search"
    )
    options.add_argument("--json", type=Path)
    options.add_argument("--plot", type=Path)
    chosen = options.parse_args()
    rows: list[Row] = []
    for name, read in {"crx": crx, "adult": adult}.items():
        if chosen.only not in (None, name):
            continue
        if not (chosen.data / FOLDER[name]).is_dir():
            sys.exit(f"{chosen.data / FOLDER[name]} is missing")
        found = []
        for row in reproduce(read(chosen.data), chosen.top, chosen.h, chosen.repeats, chosen.beam):
            if not found:
                print(f"{'id':<34} {'paper':>8} {'measured':>9}  {'95 % interval':<18}")
            print(shown(row), flush=True)
            found.append(row)
        rows += found
    print("\n" + "\n".join(words(rows)))
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if chosen.plot:
        chosen.plot.write_text(plot(rows))


if __name__ == "__main__":
    main()
