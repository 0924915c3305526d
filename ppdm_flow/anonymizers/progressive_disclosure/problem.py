"""The input of the search: combinations of cells with their weights, in codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure.tree import Tree

Codes = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute whose values are disclosed one after another, node by node of ``tree``.

    ``codes`` of shape (combinations,): a value's number, or -1 where the cell stays suppressed whatever happens.
    """

    name: str
    codes: Codes
    tree: Tree


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """<IC -> pi, h> for one sensitive value. ``hits`` marks the combinations that count: those with the value.

    Of a negated template, <IC -> not pi, h>, they are those without it.
    """

    id: str
    hits: Bools
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """What has to hold in the groups over one channel. ``attributes`` are the places of its suppressible attributes.

    ``base`` numbers the combinations by their cells in the channel's other attributes, which stay as they are.
    No group may have fewer than ``least`` rows, because of the requirements ``floors``.
    """

    attributes: tuple[int, ...]
    base: Codes
    templates: tuple[Template, ...]
    least: int = 1
    floors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """``weights`` are row counts above zero; ``classes`` (combinations,) numbers the class, or None."""

    attributes: tuple[Attribute, ...]
    channels: tuple[Channel, ...]
    weights: Weights
    classes: Codes | None

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.weights.sum())
