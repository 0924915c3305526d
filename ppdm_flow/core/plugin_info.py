"""The card of a plugin, read before any of its code runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Self, TypedDict, Unpack

from ppdm_flow.core.asks import UNKNOWN, AccessRequirements
from ppdm_flow.core.card_pages import RecipientStatement, figures_on, page_of, texts_on


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
    """The meaning of a plugin's figure: a sentence without a full stop, its ``formula``, and which side is ``better``.

    ``reference`` is needed only where it is not the plugin's own. ``audience`` is ``public`` only where a reader of the
    release and of the documents beside it can work the figure out: nothing of the original is in it.
    ``redefined`` names the figure that has what this one's name meant in 0.1: a gate on it is refused, unless the
    plugin's parameter ``definitions`` is set.
    """

    what: str
    formula: str = ""
    better: Literal["lower", "higher", ""] = ""
    reference: str = ""
    audience: Literal["internal", "public"] = "internal"
    redefined: str = ""


Figures = Mapping[str, FigureInfo]


class Facts(TypedDict, total=False):
    """The facts of a card that code decides by: they are in Python, and not on a page."""

    version: str
    serves: tuple[str, ...]
    classes: Literal["", "rows", "people"]
    standalone: bool
    randomized: bool
    sets: str
    endings: tuple[str, ...]
    implied: Mapping[str, Mapping[str, str]]
    typed: bool
    keeps_types: bool
    partitions: bool
    asks: AccessRequirements


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin's card; :meth:`of_page` reads its texts from a page.

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
    ``typed``: a sink takes numbers, dates and timestamps as Arrow's types; others get their texts. Of a source: its
    files describe themselves, so that such a file is read as its own format, even if the policy's file has another.
    ``keeps_types``: a sink that is typed takes columns of other types of Arrow's too, as the source had them.
    ``partitions``, of a sink: the source of the same format reads its files from folders too (``PartSource``), so that
    a release can be partitioned.
    ``asks``, of an anonymizer or an audit: what it asks of rows that a cluster holds; the worst where it does not say.
    ``parameters`` says in Markdown what they mean; without it the docstring of their model does.
    ``recipients``, of an anonymizer, is what it tells those who receive its table: what it did, what remains true.
    ``page`` is where the texts were read, if they were.
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
    figures: Figures = field(default_factory=dict)
    endings: tuple[str, ...] = ()
    implied: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    typed: bool = False
    keeps_types: bool = False
    partitions: bool = False
    asks: AccessRequirements = UNKNOWN
    parameters: str = ""
    recipients: tuple[RecipientStatement, ...] = ()
    page: str = ""

    @classmethod
    def of_page(
        cls, page: str, kind: Kind, *, figures: Callable[[Figures], Figures] = dict, **facts: Unpack[Facts]
    ) -> Self:
        """Return the card on the page ``audits/linkage``, or ``package:linkage.md``: its name is that of the page.

        ``figures`` makes the plugin's figures from those that the page tells.

        Raises
        ------
        MalformedPageError
            Where the page is not written as a card is; OSError or ImportError where there is none.
        """
        card_page = page_of(page)
        return cls(card_page.topic, kind, figures=figures(figures_of(page)), page=page, **texts_on(card_page), **facts)

    def figure_of(self, metric: str) -> str | None:
        """Return which of ``figures`` a metric is, by the last part of its name that is one; None where it is none."""
        return next((part for part in reversed(metric.split(".")) if part in self.figures), None)


def figures_of(page: str) -> dict[str, FigureInfo]:
    """Return the figures of a page, which is a card or is shared by several cards. Raises MalformedPageError."""
    return {name: FigureInfo(**said) for name, said in figures_on(page_of(page)).items()}
