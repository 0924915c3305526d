"""Where the dissimilarity of generated data comes from: split by direction and by cause, and yardsticks beside it.

``first`` is the original under the generated table's code table, ``second`` the generated table under the original's;
the larger is the paper's figure. In each, the causes add up to the whole:

- ``search``: what comes on top because the second code table is searched for anew: the whole, less what remains when
  the original's itemsets are kept for both tables and only their usages are counted anew;
- ``sampling``: that remainder for a bootstrap of the original, as many rows drawn from it with replacement;
- ``laplace``: what the correction of 0.001 in generation adds to the remainder of generated tables;
- ``model``: the rest, in which the model differs from the original.

Yardsticks, each a whole dissimilarity: ``reordered`` (the original against itself, its items numbered otherwise, which
breaks ties otherwise and changes nothing else), ``bootstrap``, ``twins`` (two generated tables of one model),
``low_correction`` (generated tables, compared with a correction of 0.001 in place of 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from means import FIRST, SECOND, Larger, Mean, Values, means_of
from panels import Panel
from printed import PRINTED

CAUSES = ("search", "sampling", "laplace", "model")
YARDSTICKS = {
    "reordered": "reordered",
    "bootstrap": "bootstrap",
    "twins": "twins",
    "low_correction": "dissimilarity.low_correction",
}


@dataclass(frozen=True)
class Split:
    """The dissimilarity of one dataset in one direction."""

    name: str
    direction: str
    whole: Mean
    causes: Mapping[str, Mean]

    @property
    def id(self) -> str:
        return f"{self.name}.causes.{self.direction}"


def splits(name: str, values: Values) -> list[Split]:
    """Split the dissimilarity of a dataset; ``values`` are the runs' by what was measured."""
    return [_split(name, suffix, values) for suffix in (FIRST, SECOND)]


def larger(name: str, values: Values) -> Split:
    """Split the larger direction, which is the paper's figure."""
    return max(splits(name, values), key=lambda split: split.whole.value)


def _split(name: str, suffix: str, values: Values) -> Split:
    whole = values[f"dissimilarity{suffix}"]
    kept = values[f"dissimilarity.unsearched{suffix}"]
    uncorrected = values[f"uncorrected.unsearched{suffix}"]
    sampling = Mean.of(values[f"bootstrap.unsearched{suffix}"])
    causes = {
        "search": Mean.of(np.subtract(whole, kept)),
        "sampling": sampling,
        "laplace": Mean.of(np.subtract(kept[: len(uncorrected)], uncorrected)),  # of the same runs
    }
    rest = Mean.of(kept).minus(causes["laplace"]).minus(sampling)
    return Split(name, suffix[1:], Mean.of(whole), {**causes, "model": rest})


def table(name: str, values: Values) -> str:
    """Return the split as lines of text, and the yardsticks below."""
    lines = [f"{name + ', causes':<24} {'whole':>16}" + "".join(f"{c:>18}" for c in CAUSES)]
    lines += [
        f"  {s.direction:<22} {_with_reach(s.whole):>16}" + "".join(f"{_with_reach(s.causes[c]):>18}" for c in CAUSES)
        for s in splits(name, values)
    ]
    means = means_of(values)
    yardsticks = (f"{key} {_with_reach(means[at])}" for key, at in YARDSTICKS.items())
    return "\n".join([*lines, f"  yardsticks: {', '.join(yardsticks)}"])


def _with_reach(mean: Mean | Larger) -> str:
    return f"{mean.value:.4f} ±{mean.reach:.4f}"


def floor(name: str, values: Values) -> str | None:
    """Say where the paper's figure lies below what the original has against a bootstrap of itself; else None.

    Rows drawn from the original itself are what a perfect model makes. That is a floor of what such a model can be
    expected to come to, not of every generator: one that makes fewer kinds of rows may lie below.
    """
    printed, means = PRINTED.get(f"{name}.dissimilarity"), means_of(values)
    found, made = means["bootstrap"], means["dissimilarity"]
    if printed is None or printed.high >= found.low:
        return None
    below = sum(value <= printed.high for value in values["bootstrap"])
    beside = "lie below that, too" if made.high < found.low else "do not lie below that"
    return (
        f"{name}: the paper's {printed.value:g} is less than the original has against a bootstrap of itself, "
        f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]; {below} of {found.runs} bootstraps come to it; "
        f"generated tables, {made.value:.3f}, {beside}"
    )


def panels(every: Mapping[str, Values]) -> list[Panel]:
    """Draw the split of the larger direction, and the yardsticks, by dataset."""
    names = list(every)
    places = {float(i + 1): n for i, n in enumerate(names)}
    whole = {n: larger(n, every[n]) for n in names}
    means = {n: means_of(every[n]) for n in names}
    bars = {c: [(i, whole[n].causes[c].value) for i, n in places.items()] for c in CAUSES}
    paper = [(i, PRINTED[f"{n}.dissimilarity"].value) for i, n in places.items() if f"{n}.dissimilarity" in PRINTED]
    dots = {"dissimilarity": paper}
    beside = {k: [(i, means[n][at].value) for i, n in places.items()] for k, at in YARDSTICKS.items()}
    beside = {"dissimilarity": [(i, whole[n].whole.value) for i, n in places.items()]} | beside
    return [
        Panel("Causes of the dissimilarity (circles: the paper's)", "", "", {}, dots, places, bars),
        Panel("Yardsticks (circles: the paper's)", "", "", beside, dots, places),
    ]
