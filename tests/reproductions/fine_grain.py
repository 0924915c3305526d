"""Chaytor and Wang, "Fine grain perturbation for privacy preserving data publishing": example, Figures 2 and 5.

    python tests/reproductions/fine_grain.py [--data ../shared/data] [--only zipf] [--runs 10] [--json FILE]
                                             [--plot FILE.svg]

Bounds are upward ones as in the paper, unless a row says ``both``. Record utility is the expected share of rows that
keep their value; aggregate utility is 1 - the mean difference per value between the original frequencies and those of
iterative Bayesian reconstruction (Definition 2), distribution utility 1 - their total variation distance: means of the
runs, with the lowest and the highest of them. Each run perturbs the whole table with the product's own step.
``least_error`` is the operator of `objective: aggregate`, which the paper leaves open.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from panels import Panel, svg

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import PerturbTransform
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import aggregate_retention, bounds_of
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import (
    optimal_retention,
    record_utility,
    uniform_retention,
)
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import general_optimum
from ppdm_flow.audits.perturbation_utility.algorithm import aggregate_utility, distribution_utility
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Directions
from ppdm_flow.mining.reconstruction.estimate import reconstruct_counts
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

ROOT = Path(__file__).resolve().parents[2]
RECORDS = 95_946
VALUES = 40
ZIPF = {20: (0.5221, 0.3660), 30: (0.6228, 0.4811), 40: (0.6960, 0.5709), 50: (0.7516, 0.6429)}
CADR = (5, 10, 15, 20)
EXAMPLE = {"SARS": (1 / 10, 1 / 7), "HIV": (1 / 10, 1 / 4), "H1N1": (1 / 9, 19 / 35), "cancer": (1 / 8, 18 / 25)}
OPERATORS = ("fine_grain", "uniform", "least_error")


@dataclass(frozen=True)
class Row:
    id: str
    paper: float | None
    measured: float
    low: float
    high: float

    @classmethod
    def exact(cls, name: str, paper: float | None, measured: float) -> Row:
        return cls(name, paper, float(measured), float(measured), float(measured))


def example() -> Iterator[Row]:
    """The eight patients: operators, record utility, and the worst posteriors either way."""
    values = tuple(BoundOfValue(v, *b) for v, b in EXAMPLE.items())
    frequency = np.full(4, 0.25)
    wanted = Sensitivity.of_bounds("disease", values, Directions.UPWARD)
    slack = bounds_of(wanted, tuple(EXAMPLE), frequency).slack
    for (name, gamma), paper in zip(zip(EXAMPLE, slack + 1, strict=True), (1.5, 3, 9.5, 18), strict=True):
        yield Row.exact(f"example.gamma.{name}", paper, gamma)
    uniform = uniform_retention(slack, Directions.UPWARD)
    best = optimal_retention(frequency, slack, Directions.UPWARD)
    both = optimal_retention(frequency, slack, Directions.BOTH)
    yield Row.exact("example.uniform.retention", 1 / 9, uniform[0])
    yield Row.exact("example.uniform", 1 / 3, record_utility(frequency, uniform))
    yield Row.exact("example.record_utility", 0.4375, record_utility(frequency, best))
    for name, paper, p in zip(EXAMPLE, (0, 1 / 3, 1 / 3, 1 / 3), best, strict=True):
        yield Row.exact(f"example.retention.{name}", paper, p)
    upward, downward = posteriors(best)
    for name, paper, measured in zip(EXAMPLE, (1 / 7, 0.25, 0.272727, 0.3), upward, strict=True):
        yield Row.exact(f"example.upward.{name}", paper, measured)
    yield Row.exact("example.downward.SARS", 1 / 13, downward[0])
    breaches = sum(d < r1 - 1e-12 for d, (r1, _) in zip(downward, EXAMPLE.values(), strict=True))
    yield Row.exact("example.downward_breaches", 1, breaches)
    yield Row.exact("example.both", 0.34375, record_utility(frequency, both))
    for name, paper, p in zip(EXAMPLE, (0, 1 / 6, 1 / 6, 1 / 6), both, strict=True):
        yield Row.exact(f"example.both.retention.{name}", paper, p)
    upward, downward = posteriors(both)
    limits = list(EXAMPLE.values())
    breaches = sum(u > r2 + 1e-12 or d < r1 - 1e-12 for u, d, (r1, r2) in zip(upward, downward, limits, strict=True))
    yield Row.exact("example.both.breaches", 0, breaches)
    for directions in Directions:
        found = general_optimum(frequency, slack, directions)
        if found is not None:
            yield Row.exact(f"example.general.{directions}", None, found.utility)
    for title, p in (("uniform", uniform), ("optimal", best), ("optimal, both directions", both)):
        matrix(title, p)


def matrix(title: str, retention: np.ndarray) -> None:
    """Figure 2: an operator's columns are the original values."""
    print(f"\nFigure 2, the {title} operator: Pr[released | original]")
    print(f"{'':<8}" + "".join(f"{name:>9}" for name in EXAMPLE))
    for name, row in zip(EXAMPLE, Operator("disease", tuple(EXAMPLE), retention).matrix(), strict=True):
        print(f"{name:<8}" + "".join(f"{entry:>9.4f}" for entry in row))


def posteriors(retention: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The highest posterior from a prior of at most r1 and the lowest from at least r2, over all released values."""
    p = Operator("disease", tuple(EXAMPLE), retention).matrix()
    upward, downward = [], []
    for i, (r1, r2) in enumerate(EXAMPLE.values()):
        others = np.delete(p, i, axis=1)
        upward.append((r1 * p[:, i] / (r1 * p[:, i] + (1 - r1) * others.min(axis=1))).max())
        downward.append((r2 * p[:, i] / (r2 * p[:, i] + (1 - r2) * others.max(axis=1))).min())
    return np.array(upward), np.array(downward)


def zipf(runs: int) -> Iterator[Row]:
    share = 1 / np.arange(1, VALUES + 1)
    share /= share.sum()
    for theta, paper in ZIPF.items():
        yield from measured("zipf", theta, share, rounded(share * RECORDS), runs, paper)


def faers(runs: int, data: Path) -> Iterator[Row]:
    """The 40 most frequent reactions of one quarter; the paper's CADR (Canada, 40 reactions) is not at hand."""
    with (data / "faers/faers_2022q3_reaction_counts.csv").open() as file:
        counts = sorted((int(line["cases"]) for line in csv.DictReader(file)), reverse=True)[:VALUES]
    n = np.array(counts)
    for theta in CADR:
        yield from measured("faers", theta, n / n.sum(), n, runs, (None, None))


def measured(
    name: str, theta: int, share: np.ndarray, counts: np.ndarray, runs: int, paper: tuple[float | None, float | None]
) -> Iterator[Row]:
    domain = tuple(f"v{i:02d}" for i in range(VALUES))
    wanted = Sensitivity.of_bounds("d", (), Directions.UPWARD, tolerance=float(theta))
    slack = bounds_of(wanted, domain, share).slack
    retention = {
        "fine_grain": optimal_retention(share, slack, Directions.UPWARD),
        "uniform": uniform_retention(slack, Directions.UPWARD),
        "least_error": aggregate_retention(share, slack, Directions.UPWARD).retention,
    }
    known = dict(zip(OPERATORS, (*paper, None), strict=True))
    for kind in OPERATORS:
        yield Row.exact(f"{name}.{theta}.{kind}", known[kind], record_utility(share, retention[kind]))
    both = optimal_retention(share, slack, Directions.BOTH)
    yield Row.exact(f"{name}.{theta}.both.fine_grain", None, record_utility(share, both))
    yield Row.exact(
        f"{name}.{theta}.both.uniform", None, record_utility(share, uniform_retention(slack, Directions.BOTH))
    )
    for kind in OPERATORS:
        shares = [reconstructed(Operator("d", domain, retention[kind], "perturb"), counts, run) for run in range(runs)]
        for part, utility in (("aggregate", aggregate_utility), ("distribution", distribution_utility)):
            found = [utility(mine, counts / counts.sum()) for mine in shares]
            yield Row(f"{name}.{theta}.{part}.{kind}", None, float(np.mean(found)), min(found), max(found))


def reconstructed(operator: Operator, counts: np.ndarray, run: int) -> np.ndarray:
    """Perturb a table with these counts, and return the shares that iterative Bayesian reconstruction finds."""
    codes = np.repeat(np.arange(VALUES, dtype=np.int32), counts)
    table = Table({"d": Column(codes, pa.array(operator.domain, pa.string()))}, np.arange(len(codes)))
    transform = PerturbTransform("perturb", (operator,))
    draws = Draws(RunKey.from_seed(f"fine grain {run}").step("perturb"), transform.draws_per_row)
    released = np.bincount(transform.apply(table, draws)["d"].codes, minlength=VALUES)
    return reconstruct_counts(RetentionChannel.of(operator.retention), released, "em").estimate / len(codes)


def rounded(shares: np.ndarray) -> np.ndarray:
    """Whole counts with the same sum, by largest remainders."""
    counts = np.floor(shares).astype(int)
    rest = round(float(shares.sum())) - int(counts.sum())
    counts[np.argsort(counts - shares, kind="stable")[:rest]] += 1
    return counts


def shown(row: Row) -> str:
    paper = "" if row.paper is None else f"{row.paper:.4f}"
    spread = f"{row.low:.4f} to {row.high:.4f}" if row.low < row.high else ""
    verdict = "" if row.paper is None else ("ok" if abs(row.paper - row.measured) < 5e-5 else "OFF")
    return f"{row.id:<34} {paper:>9} {row.measured:>9.4f}  {spread:<18} {verdict}"


def words(rows: list[Row]) -> Iterator[str]:
    """What the paper says in words, held against the figures."""
    value = {row.id: row.measured for row in rows}
    for name, thetas in (("zipf", ZIPF), ("faers", CADR)):
        for theta in thetas:
            start = f"{name}.{theta}"
            if f"{start}.uniform" not in value:
                continue
            gain = value[f"{start}.fine_grain"] / value[f"{start}.uniform"] - 1
            fine, uniform = value[f"{start}.aggregate.fine_grain"], value[f"{start}.aggregate.uniform"]
            least = min(row.low for row in rows if row.id.startswith((f"{start}.aggregate.f", f"{start}.aggregate.u")))
            yield (
                f"{start}: record utility {gain:+.1%} over uniform; aggregate utility {fine - uniform:+.4f}, at least"
                f" {least:.4f}"
            )


def plot(rows: list[Row]) -> str:
    """Figure 5: record and aggregate utility by theta, on both data sets."""
    panels = []
    for name, thetas, title in (("faers", CADR, "FAERS (in place of CADR)"), ("zipf", list(ZIPF), "Zipf")):
        for part, label in (("", "record utility"), (".aggregate", "aggregate utility")):
            value = {row.id: row for row in rows}
            have = [t for t in thetas if f"{name}.{t}{part}.uniform" in value]
            if not have:
                continue
            every = {k: [(t, value[f"{name}.{t}{part}.{k}"]) for t in have] for k in OPERATORS}
            lines = {k: [(t, row.measured) for t, row in points] for k, points in every.items()}
            dots = {k: [(t, row.paper) for t, row in points if row.paper is not None] for k, points in every.items()}
            panels.append(Panel(f"{title}: {label}", "theta", label, lines, dots))
    return svg(panels)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    options.add_argument("--only", choices=("example", "zipf", "faers"))
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--json", type=Path)
    options.add_argument("--plot", type=Path)
    chosen = options.parse_args()
    parts = {
        "example": example,
        "zipf": lambda: zipf(chosen.runs),
        "faers": lambda: faers(chosen.runs, chosen.data),
    }
    missing = not (chosen.data / "faers").is_dir()
    if missing and chosen.only == "faers":
        sys.exit(f"{chosen.data / 'faers'} is missing")
    if missing and chosen.only is None:
        print(f"faers is left out: {chosen.data / 'faers'} is missing", file=sys.stderr)
    rows = []
    for name, part in parts.items():
        if chosen.only in (None, name) and not (name == "faers" and missing):
            if name == "faers":
                print("\nFAERS, 40 most frequent reactions of 2022Q3, stands in for CADR: no figures of the paper.")
            found = list(part())
            print(f"\n{'id':<34} {'paper':>9} {'measured':>9}  {'runs':<18}")
            print("\n".join(map(shown, found)), flush=True)
            rows += found
    print("\n" + "\n".join(words(rows)))
    print(
        "The paper says: on CADR 10 to 20 % more record utility, and 0.990 to 1.000 aggregate utility for both; on Zipf"
        " more record utility, and less aggregate utility than uniform."
    )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if chosen.plot:
        chosen.plot.write_text(plot(rows))


if __name__ == "__main__":
    main()
