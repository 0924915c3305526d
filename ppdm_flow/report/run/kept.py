"""How much information each release keeps, in all and by attribute: the first figure of its usefulness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.amounts import NOT_COMPARED, amount
from ppdm_flow.report.run.fields import FigureDocument, ReportDocument

TOTAL = "mean_kept"
"""The last part of the figure's name, and of that of one attribute."""
_OF_ATTRIBUTE = "kept"
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class KeptAttribute:
    """What a release keeps of one attribute: ``share`` in [0, 1], None where it is not compared."""

    name: str
    share: float | None
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class InformationKept:
    """What a release keeps; ``release`` is empty where there is one. ``attributes`` are those that keep least first."""

    release: str
    share: float | None
    text: str
    note: str
    attributes: tuple[KeptAttribute, ...]

    @property
    def heading(self) -> str:
        """Name it, with its release."""
        return f"information kept of {self.release}" if self.release else "information kept"

    @property
    def least(self) -> str:
        """Return what is kept of the attributes that keep least, in words."""
        compared = [f"{each.name} {each.text}" for each in self.attributes if each.share is not None]
        more = f", and {len(compared) - _MOST_SHOWN:,} more" if len(compared) > _MOST_SHOWN else ""
        return ", ".join(compared[:_MOST_SHOWN]) + more


def is_total(name: str) -> bool:
    """Whether a figure is the information that a release keeps in all."""
    return name.endswith(f".{TOTAL}")


def information_kept(document: ReportDocument) -> tuple[InformationKept, ...]:
    """Return what each release keeps on which it was measured, once each."""
    found: dict[str, InformationKept] = {}
    for name, figure in document["metrics"].items():
        if is_total(name):
            owner = name.rpartition(".")[0]
            release = owner.rpartition("/")[0]
            found.setdefault(release, _kept(release, owner, figure, document["metrics"]))
    return tuple(found.values())


def _kept(release: str, owner: str, figure: FigureDocument, metrics: dict[str, FigureDocument]) -> InformationKept:
    attributes = sorted(_attributes(owner, metrics), key=lambda each: (each.share is None, each.share or 0.0))
    return InformationKept(release, figure["value"], _text(figure), _note(figure), tuple(attributes))


def _attributes(owner: str, metrics: dict[str, FigureDocument]) -> Iterator[KeptAttribute]:
    begin, end = f"{owner}.", f".{_OF_ATTRIBUTE}"
    for name, figure in metrics.items():
        if name.startswith(begin) and name.endswith(end) and len(name) > len(begin) + len(end):
            attribute = name[len(begin) : -len(end)]
            yield KeptAttribute(attribute, figure["value"], _text(figure), _note(figure))


def _text(figure: FigureDocument) -> str:
    return NOT_COMPARED if figure["value"] is None else amount(figure["value"], figure["unit"])


def _note(figure: FigureDocument) -> str:
    note = figure.get("note", "")
    return note.removeprefix(f"{NOT_COMPARED}: ") if figure["value"] is None else note
