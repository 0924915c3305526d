"""Dominance: no group's total of a number reveals one contributor's number too closely."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER, HIGHER_IF_ANY, LOWER, LOWER_IF_ANY
from ppdm_flow.core.requirement_families import OnSensitive
from ppdm_flow.core.shares import SHARE

_N = "How many of the largest contributors `share` bounds together."
_SHARE = "The largest share of a group's total that the `n` largest contributors may have together."
_P = "How near, in percent of its value, the second largest contributor must not come to the largest (the p% rule)."
_Q = "How near, in percent, everybody knows every contributor beforehand (the pq rule); 100 is the p% rule."
_CONTRIBUTORS = "The least number of contributors to a total, whose number is not 0."


class Dominance(OnSensitive):
    """No group's total of a number is that of a few contributors, by one rule or several.

    With x_1 >= x_2 >= … the absolute values in a group and T their sum: the ``n`` largest have at most ``share`` of T;
    q (T - x_1 - x_2) >= p x_1, for percents ``p`` and ``q``; at least ``contributors`` of them are not 0. A group with
    T = 0 keeps all rules. Source: Hundepool et al., Statistical Disclosure Control, 2012, section 4.2.
    """

    of_all_files: ClassVar[bool] = False
    kind: ClassVar[str] = "dominance"
    classes: ClassVar[str] = "ppdm_flow.requirements.dominance.algorithm:models"
    n: Annotated[int, Field(ge=1, le=1000, description=_N, examples=["2"]), HIGHER] = 1
    share: Annotated[
        Annotated[float, Field(gt=0.0)] | None, Field(description=_SHARE, examples=["0.75"]), LOWER_IF_ANY, SHARE
    ] = None
    p: Annotated[Annotated[float, Field(gt=0.0)] | None, Field(description=_P, examples=["10"]), HIGHER_IF_ANY] = None
    q: Annotated[float, Field(gt=0.0, le=100.0, description=_Q, examples=["80"]), LOWER] = 100.0
    contributors: Annotated[
        Annotated[int, Field(ge=2)] | None, Field(description=_CONTRIBUTORS, examples=["3"]), HIGHER_IF_ANY
    ] = None

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"has a total of {self.attribute} that nobody dominates"
