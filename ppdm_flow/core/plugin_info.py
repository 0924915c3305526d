"""What a plugin says of itself before any of its code runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Kind(StrEnum):
    """How a plugin works on a table."""

    ROW_WISE = "row_wise"
    ORDER = "order"
    TABLE = "table"
    GENERATOR = "generator"
    AUDIT = "audit"
    SOURCE = "source"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class FigureInfo:
    """What a figure of a plugin says: in a sentence without a full stop, its ``formula``, and which side is ``better``.

    ``reference`` is needed only where it is not the plugin's own. ``audience`` is ``public`` only where whoever has the
    release, and the documents beside it, can work the figure out: nothing of the original is in it.
    """

    what: str
    formula: str = ""
    better: Literal["lower", "higher", ""] = ""
    reference: str = ""
    audience: Literal["internal", "public"] = "internal"


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin's card.

    ``serves`` names the requirement kinds that an anonymizer works towards, or that an audit measures.
    ``classes``, of an anonymizer that makes classes of rows: it serves every kind that can be enforced class by class;
    only where it is ``people`` also those that count a population.
    ``standalone``: such an audit may also be named under ``audits:``, to measure without a bound.
    ``guarantees`` are the claims, in words; an audit measures them again. ``randomized`` says whether it draws.
    ``figures`` are those that it measures, by that part of their names which is not a name of an
    attribute, a value or a number (``level`` for ``recode.age.level``, ``frequent`` for ``found.frequent.2``).
    ``example`` is a piece of a policy that uses it, in YAML. ``sets`` says what it does with sets of items: ``""``
    nothing, ``column`` reads, writes or changes such columns beside others, ``only`` is for files of nothing else.
    ``endings``, of a source or sink: how names of its files end, in lower case and with the dot (``.csv.gz``).
    ``implied`` are the parameters that an ending says (tabs, of ``.tsv``), where the policy says nothing else.
    """

    name: str
    kind: Kind
    summary: str
    version: str = "1"
    reference: str = ""
    guarantees: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    classes: Literal["", "rows", "people"] = ""
    standalone: bool = False
    randomized: bool = False
    cost: str = ""
    example: str = ""
    sets: str = ""
    figures: Mapping[str, FigureInfo] = field(default_factory=dict)
    endings: tuple[str, ...] = ()
    implied: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def figure_of(self, metric: str) -> str | None:
        """Return which of ``figures`` a metric is, by the last part of its name that is one; None where it is none."""
        return next((part for part in reversed(metric.split(".")) if part in self.figures), None)
