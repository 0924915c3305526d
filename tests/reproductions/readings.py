"""What Vreeken, van Leeuwen and Siebes leave open: one record with a field for each question, and the answers.

``pruning`` is post-acceptance pruning, ``compared_pruning`` that of the code tables that are compared.

``laplace`` is what generation adds to the weight of every element, ``compared_laplace`` what a comparison adds to the
usage of every code.

``weight`` of an element, before the correction, is its *usage* (so that its probability is 2 to the power of minus its
code length), its *support*, or its *code length*, -log2 of (usage + correction) over the sum of these, which draws rare
elements more often; no correction is added to the length.

``order`` of definition: *uniform*, the next domain is a uniform one of those that are not defined (the paper's
algorithm 2); *columns*, the first of these, the class last; *backwards*, the last of these; *any*, no domain is chosen,
but any element that fits, by weight.

``least`` is the minimum support of the code table that generates: *own*, that which the paper's table states, or one
for all datasets. ``compared_least`` is that of the compared code tables: *own*, or one, or *table*: that of Table 1, so
1 for chess at 50, else own, or *mixed*: the same, but 20 for pendigits. Where all itemsets would be too many, closed
ones stand in: always on mushroom, on pendigits below 50, which is not compared below 20.

``closed`` and ``compared_closed``: closed candidates on all datasets.

``numbering`` of items breaks ties of the order of candidates and of the cover: *file*, as in the ``.db`` file, which is
by descending support; *rare*, by ascending support; *columns*, by columns and, within, as in the file; *random-N*.

``size`` L that a dissimilarity compares: that of the *data*, or *both*: data and code table, the latter as it is for
its own data, without a correction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

LAPLACES = (1e-6, 1e-3, 0.1, 1.0)
SIZES = ("data", "both")


@dataclass(frozen=True)
class Reading:
    """An answer to every question; as it stands, what the paper's text says and, where it says nothing, what fits."""

    pruning: bool = False
    laplace: float = 1e-3
    weight: str = "usage"
    order: str = "uniform"
    least: str = "own"
    closed: bool = False
    compared_pruning: bool = False
    compared_laplace: float = 1.0
    compared_least: str = "mixed"
    compared_closed: bool = False
    numbering: str = "file"
    size: str = "data"

    def changed(self, other: Reading) -> dict[str, Any]:
        """Return the answers that differ from the other's."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)}

    def named(self, other: Reading) -> str:
        """Say in what it differs from the other, nothing if in nothing."""
        return ", ".join(f"{k}={plain(v)}" for k, v in self.changed(other).items())

    def neighbours(self) -> Iterator[Reading]:
        """Yield the readings with one other answer."""
        for name, answers in ANSWERS.items():
            for answer in answers:
                if answer != getattr(self, name):
                    yield replace(self, **{name: answer})


TODAY = Reading()
ANSWERS: dict[str, tuple[Any, ...]] = {
    "pruning": (False, True),
    "laplace": LAPLACES,
    "weight": ("usage", "support", "code length"),
    "order": ("uniform", "columns", "backwards", "any"),
    "least": ("own", "1", "20", "50"),
    "closed": (False, True),
    "compared_pruning": (False, True),
    "compared_laplace": LAPLACES,
    "compared_least": ("mixed", "table", "own", "1", "20", "50"),
    "compared_closed": (False, True),
    "numbering": ("file", "rare", "columns", "random-1", "random-2", "random-3"),
    "size": SIZES,
}
FREE = ("compared_laplace", "size")
"""Questions whose every answer is read off one measurement."""


def plain(answer: Any) -> str:
    """Write an answer as options and tables do."""
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def numbers(cells: npt.NDArray[np.int32], place: npt.NDArray[np.int32], numbering: str) -> npt.NDArray[np.int32]:
    """Return the number of each item, shape (items,), from a table whose items are numbered as in the file."""
    if numbering == "file":
        order = np.arange(len(place))
    elif numbering == "rare":
        order = np.argsort(np.bincount(cells.ravel(), minlength=len(place)), kind="stable")
    elif numbering == "columns":
        order = np.argsort(place, kind="stable")
    elif numbering.startswith("random-"):
        order = np.random.default_rng(int(numbering.removeprefix("random-"))).permutation(len(place))
    else:
        raise ValueError(f"unknown numbering {numbering!r}")
    number = np.empty(len(place), dtype=np.int32)
    number[order] = np.arange(len(place), dtype=np.int32)
    return number
