"""Sentences on people and their rows."""

from __future__ import annotations

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure

KNOWN = "known_rows_"
"""Figures of what somebody finds who knows several rows of a person begin so, below the requirement's id."""


def knowing(whom: PeopleCount) -> str:
    """Return who knows how many rows of a person."""
    if whom.known_rows is None:
        return "A reader who knows all rows of a person"
    return (
        "A reader who knows a row of a person"
        if whom.known_rows == 1
        else (f"A reader who knows up to {whom.known_rows} rows of a person")
    )


def holding_all(people: int) -> str:
    """Return how many people have all rows that are known: ``1 person that has them all``."""
    return f"{counted(people, 'person')} that {'has' if people == 1 else 'have'} them all"


def known_sentence(what: str, figure: Figure, bound: float, whom: PeopleCount, *, at_most: bool) -> str:
    """Return what the known rows of a person tell; ``what`` is the figure and the attribute that it is of."""
    value = "no finite value" if figure.value is None else f"{figure.value:.4g}"
    side = "at most" if at_most else "at least"
    return f"{knowing(whom)} is left with {what} of {value} in the worst case; {side} {bound:g} is required."
