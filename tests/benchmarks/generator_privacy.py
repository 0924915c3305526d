"""How near generated tables come to the original, and what they give away: side by side, by setting.

    python tests/benchmarks/generator_privacy.py [--data ../shared/data] [--only adult] [--repeats 5] [--json FILE]

The step `krimp_generator` and the audits of the product, as a policy runs them. Each repeat shuffles the rows, so that
another third is held out, and makes as many rows as the original has. Figures are means over the repeats with their
standard error. ``*`` and ``!``: the figure differs from that of the first setting, today's defaults, by more than the
95 % and the 99 % interval of the mean difference within repeats (Student's t; of twenty marks at 95 %, one is chance).
``resampled`` are rows learned from, drawn with replacement: the noise floor of closeness and the worst of privacy.
``independent`` are columns drawn one by one: the other end.

Closeness: ``dissim`` and ``same`` are krimp_dissimilarity's figures, with a code table found anew, which varies, and
with the original's patterns; ``tvd1`` to ``tvd3`` the mean total variation distance of 1-, 2- and 3-way
marginals from the whole original; ``error`` what synthetic_training says a classifier errs more; ``seconds`` of the
processor to learn and to make rows. Privacy: ``copies`` are generated rows that are rows of the original; ``in`` and
``out`` are rows alone in the original that occur in the release, as a share of those learned from and of those held
out, which chance finds, and ``excess`` is their difference; ``nas`` and ``blend`` are the scores of `anonymity_score`
and of `blend` at a support of 5; ``auc`` membership_inference, ``closer`` closest_record, ``single`` singling_out
(of few guesses, so it varies), ``value`` attribute_disclosure of the class.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from generator_tables import TABLES, Cells, Given, distance
from measuring import ROOT, machine
from scipy import special

sys.path.insert(0, str(ROOT))

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.anonymity import anonymity_score, blend, of_tables
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

HELD_OUT = 1 / 3
FEW = 5
"""The support below which a row is rare."""

PAPER: dict[str, Any] = {"min_support": {"count": 1}, "candidates": "all"}
"""What the authors chose for most of their tables."""
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "paper, unpruned": {**PAPER, "pruning": False},
    "paper, laplace 1": {**PAPER, "laplace": 1.0},
    "support 1": {"min_support": {"count": 1}},
    "support 20": {"min_support": {"count": 20}},
    "support 0.1 %": {"min_support": {"ratio": 0.001}},
    "support 1 %": {"min_support": {"ratio": 0.01}},
    "all": {"candidates": "all"},
    "unpruned": {"pruning": False},
    "laplace 1": {"laplace": 1.0},
    "slim": {"algorithm": "slim"},
    "slim, support 20": {"algorithm": "slim", "min_support": {"count": 20}},
    "calibrated": {"calibrate": True},
    "strict": {"blend": "strict"},
    "strict, not calibrated": {"blend": "strict", "calibrate": False},
}
AUDITS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "krimp_dissimilarity": ({"repeats": 0}, {"dissim": "dissimilarity", "same": "same_patterns"}),
    "synthetic_training": ({}, {"error": "error_increase"}),
    "membership_inference": ({}, {"auc": "auc"}),
    "closest_record": ({}, {"closer": "closer_to_training"}),
    "singling_out": ({}, {"single": "risk"}),
    "attribute_disclosure": ({}, {"value": "risk"}),
}
"""The audits with their parameters, and which of their figures stands under which name."""
CLOSENESS = ("dissim", "same", "tvd1", "tvd2", "tvd3", "error", "seconds")
PRIVACY = ("copies", "in", "out", "excess", "nas", "blend", "auc", "closer", "single", "value")

Figures = dict[str, float]


def facts_of(given: Given) -> dict[str, AttributeFacts]:
    """The class is the target; everything is known to an attacker."""
    return {
        name: AttributeFacts(name, Role.TARGET if name == given.target else Role.QUASI_IDENTIFIER, source=name)
        for name in given.table.names
    }


def view_of(table: Table, facts: Mapping[str, AttributeFacts]) -> InMemoryView:
    return InMemoryView.of(table, {name: known.role for name, known in facts.items()})


def shuffled(given: Given, repeat: int) -> Table:
    order = np.random.default_rng([2007, repeat]).permutation(len(given.table))
    return Table(given.table.take(order).columns, np.arange(len(order), dtype=np.int64))


def fitted(original: Table, facts: Mapping[str, AttributeFacts], params: Mapping[str, Any]) -> Any:
    spec = load("anonymizers", "krimp_generator")
    algorithm = spec.load()(spec.params.model_validate({"holdout": HELD_OUT, **params}))
    return algorithm.fit(view_of(original, facts), StepContext("generate", facts, ()))


def generated(transform: Any, repeat: int) -> Table:
    draws = Draws(RunKey.from_seed(f"generator {repeat}").step("generate"), transform.draws_per_row)
    return transform.generate(np.arange(transform.row_count, dtype=np.int64), draws)


def made(name: str, original: Table, facts: Mapping[str, AttributeFacts], repeat: int) -> Table:
    """Return the rows of one setting, or of one of the yardsticks."""
    rng, size = np.random.default_rng([7, repeat]), len(original)
    learned = np.flatnonzero(~Holdout(HELD_OUT).held_out(original.rows))
    if name == "resampled":
        return Table(original.take(rng.choice(learned, size)).columns, original.rows)
    if name == "independent":
        return Table({n: original[n].take(rng.choice(learned, size)) for n in original.names}, original.rows)
    return generated(fitted(original, facts, SETTINGS[name]).transform, repeat)


def audited(original: Table, release: Table, facts: Mapping[str, AttributeFacts]) -> Figures:
    """Return what the product's audits say."""
    ctx = AuditContext("generated", facts, facts, holdout=Holdout(HELD_OUT))
    views = view_of(original, facts), view_of(release, facts)
    found: Figures = {}
    for name, (params, figures) in AUDITS.items():
        spec = load("audits", name)
        asked = params | ({"sensitive": [target(facts)]} if name == "attribute_disclosure" else {})
        told = spec.load()(spec.params.model_validate(asked)).measure(*views, ctx).figures
        found |= {
            ours: float("nan" if told[theirs].value is None else told[theirs].value) for ours, theirs in figures.items()
        }
    return found


def target(facts: Mapping[str, AttributeFacts]) -> str:
    return next(name for name, known in facts.items() if known.role is Role.TARGET)


def compared(original: Table, release: Table) -> Figures:
    """Return marginals, scores, and what came up again."""
    names = original.names
    one, other, widths = coded(original, release)
    found = {f"tvd{k}": distance(one, other, widths, k) for k in (1, 2, 3)}
    joint = of_tables(count(original, names), count(release, names))
    found["nas"] = anonymity_score(joint).normalised
    found["blend"] = blend(joint, FEW, FEW).share
    return found | again(one, other, Holdout(HELD_OUT).held_out(original.rows))


def coded(original: Table, release: Table) -> tuple[Cells, Cells, list[int]]:
    """Return both tables in the original's codes, missing values as 0."""
    pairs = [(original[n].compact(), release[n]) for n in original.names]
    first = np.stack([c.codes + 1 for c, _ in pairs], axis=1)
    second = np.stack([r.onto(c.categories).codes + 1 for c, r in pairs], axis=1)
    return first, second, [len(c.categories) + 1 for c, _ in pairs]


def again(one: Cells, other: Cells, held: npt.NDArray[np.bool_]) -> Figures:
    """Return how many rows come up again."""
    _, place = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    mine, theirs = np.split(place.ravel(), [len(one)])
    before = np.bincount(mine, minlength=int(place.max()) + 1)
    after = np.bincount(theirs, minlength=len(before))
    alone, there = before[mine] == 1, after[mine] > 0
    known = {side: share(there[alone & chosen]) for side, chosen in (("in", ~held), ("out", held))}
    return {"copies": float((before[theirs] > 0).mean()), **known, "excess": known["in"] - known["out"]}


def share(found: npt.NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else 0.0


def measured(given: Given, names: list[str], repeats: int) -> dict[str, list[Figures]]:
    """Return the figures of each repeat, by setting, with the processor's seconds of learning and making rows."""
    facts = facts_of(given)
    found: dict[str, list[Figures]] = {name: [] for name in names}
    for name in names:  # kernels are compiled before anything is timed
        made(name, shuffled(given, 0).take(np.arange(min(300, len(given.table)))), facts, 0)
    for repeat in range(repeats):
        original = shuffled(given, repeat)
        for name in names:
            started = time.process_time()
            release = made(name, original, facts, repeat)
            seconds = time.process_time() - started
            found[name].append({**compared(original, release), **audited(original, release, facts), "seconds": seconds})
    return found


def show(title: str, found: Mapping[str, list[Figures]], figures: tuple[str, ...], base: list[Figures]) -> None:
    print(f"\n{title:<24}" + "".join(f"{name:>15}" for name in figures), flush=True)
    for name, runs in found.items():
        print(f"{name:<24}" + "".join(f"{cell(runs, base, figure):>15}" for figure in figures), flush=True)


def cell(runs: list[Figures], base: list[Figures], figure: str) -> str:
    """Return the mean, its standard error, and a mark where it differs from that of ``base``."""
    values = np.array([run[figure] for run in runs])
    apart = values - np.array([run[figure] for run in base])
    error = standard_error(apart)
    far = abs(float(apart.mean())) / error if error > 0 else 0.0
    least, more = special.stdtrit(max(1, len(values) - 1), [0.975, 0.995])
    mark = "!" if far > more else "*" if far > least else " "
    return f"{written(values.mean())} ±{written(standard_error(values))}{mark}"


def written(value: float) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.4f}")


def standard_error(values: npt.NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=TABLES, nargs="+", default=["adult", "nursery", "pima"])
    words.add_argument("--settings", choices=SETTINGS, nargs="+", default=list(SETTINGS))
    words.add_argument("--repeats", type=int, default=5)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    print(machine())
    every: dict[str, dict[str, list[Figures]]] = {}
    for table in chosen.only:
        given = TABLES[table](chosen.data)
        found = measured(given, [*chosen.settings, "resampled", "independent"], chosen.repeats)
        base = next(iter(found.values()))
        print(f"\n{table}: {len(given.table):,} rows, {len(given.table.names)} columns, {chosen.repeats} repeats")
        for title, figures in (("closeness", CLOSENESS), ("privacy", PRIVACY)):
            show(title, found, figures, base)
        every[table] = found
    if chosen.json:
        chosen.json.write_text(json.dumps(every, indent=1) + "\n")


if __name__ == "__main__":
    main()
