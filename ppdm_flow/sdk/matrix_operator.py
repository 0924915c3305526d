"""A randomization channel given by its whole transition matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MATRIX = "matrix"
"""The form of an entry in ``operator.json`` that is a :class:`MatrixOperator`."""

LARGEST = 1000
"""The most values that a matrix may have: it has the square of that many entries."""

_SUMS = 1e-9
"""How far the sum of a row may lie from 1: a writer may round each entry."""


@dataclass(frozen=True, slots=True, eq=False)
class MatrixOperator:
    """A randomization channel on one attribute, by a matrix of any form (PRAM).

    ``domain`` (m texts; None is the missing value), ``transition`` R of shape (m, m), its rows sum to 1:
    R[i, j] = Pr[released j | original i] (Gouweleeuw, Kooiman, Willenborg and de Wolf 1998, section 2). Rows are drawn
    independently. ``step`` is the step that applies it. ``per_person``: where rows of one person with equal values draw
    alike, the most different values of a person that it was made for; None where each row draws for itself.
    """

    attribute: str
    domain: tuple[str | None, ...]
    transition: npt.NDArray[np.float64]
    step: str = ""
    per_person: int | None = None

    @property
    def size(self) -> int:
        """M."""
        return len(self.domain)

    @property
    def staying(self) -> npt.NDArray[np.float64]:
        """Return Pr[released i | original i], shape (m,)."""
        return np.diagonal(self.transition)

    def matrix(self) -> npt.NDArray[np.float64]:
        """Return P of shape (m, m), P[j, i] = Pr[released j | original i]; columns sum to 1."""
        return self.transition.T

    def document(self) -> dict[str, Any]:
        """Return the JSON form of ``operator.json``: one list a value of the domain, over the released values."""
        return {
            "attribute": self.attribute,
            "form": MATRIX,
            "domain": list(self.domain),
            "transition": [[float(p) for p in row] for row in self.transition],
            **alike_document(self.per_person),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> MatrixOperator:
        """Read the JSON form. Raises KeyError, TypeError or ValueError where it is none."""
        if document["form"] != MATRIX:
            raise ValueError("an operator of an unknown form")
        domain = tuple(document["domain"])
        if any(not (v is None or isinstance(v, str)) for v in domain) or len(set(domain)) < len(domain):
            raise ValueError("an operator whose domain is not of distinct texts")
        if not 0 < len(domain) <= LARGEST:
            raise ValueError("an operator without values, or with too many")
        transition = np.asarray(document["transition"], dtype=np.float64)
        if transition.shape != (len(domain), len(domain)):
            raise ValueError("an operator whose matrix is not square over its domain")
        if not np.all((transition >= 0) & (transition <= 1)):
            raise ValueError("a probability outside [0, 1]")
        if np.abs(transition.sum(axis=1) - 1.0).max() > _SUMS:
            raise ValueError("a row of probabilities whose sum is not 1")
        return cls(str(document["attribute"]), domain, transition, per_person=alike_of(document))


PER_PERSON = "values_per_person"
"""The key of ``per_person`` in the JSON form: it is there only where rows of one person draw alike."""


def alike_document(per_person: int | None) -> dict[str, int]:
    """Return what the JSON form of an operator says of people."""
    return {} if per_person is None else {PER_PERSON: per_person}


def alike_of(document: Mapping[str, Any]) -> int | None:
    """Read it. Raises ValueError where it is no number of values."""
    most = document.get(PER_PERSON)
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise ValueError("an operator for people with no number of values")
    return most
