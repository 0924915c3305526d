"""LKC-privacy: an adversary who knows few attributes finds many rows, and infers little."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import HIGHER, LOWER, Absent, FixedMap, GroupedBy, Probability
from ppdm_flow.core.requirement import NameOf
from ppdm_flow.core.requirement_families import OnClasses, OnValues, ValuesByAttribute, reaching_values
from ppdm_flow.core.roles import ValuesAbsent

_L = "How many attributes of a person somebody may know."
_K = "The least number of rows that fit what is known."
_C = "The largest share of those rows that has one of the `sensitive` values."
_VALUES = "The values that nobody should infer, by attribute."
_KNOWN = "What may be known; all quasi-identifiers where it is left out."


class LKC(OnValues, OnClasses):
    """An adversary who knows up to ``l`` attributes of a person finds at least ``k`` rows and infers at most ``c``.

    Of the rows that fit, a share of at most c has one of an attribute's ``sensitive`` values; c is None without any.
    Source: Mohammed, Fung, Hung, Lee, KDD 2009.
    """

    kind: ClassVar[str] = "lkc"
    counts_values: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    of_all_files: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.lkc.algorithm:models"
    l: Annotated[int, Field(ge=1, description=_L, examples=["2"]), HIGHER]  # noqa: E741  # the model's own letter
    k: Annotated[int, Field(ge=2, description=_K, examples=["5"]), HIGHER]
    c: Annotated[Probability | None, Field(description=_C, examples=["0.5"]), LOWER] = None
    sensitive: ValuesByAttribute = Field(default_factory=FixedMap, description=_VALUES, examples=[{"disease": ["HIV"]}])
    attributes: Annotated[GroupedBy, Field(description=_KNOWN, examples=[["job", "country", "age"]])] = ()
    values_absent: Absent = ValuesAbsent.ERROR

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    @property
    def groups_are_classes(self) -> bool:
        """Whether all attributes may be known at once; then smaller groups are unions of classes."""
        return self.l >= len(self.attributes)

    def is_absent_from(self, _sources: frozenset[str]) -> bool:
        """Whether nothing is revealed: groups have to be large all the same."""
        return False

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names."""
        other = super().renamed(name_of)
        return other and other.changed(sensitive=reaching_values(self.sensitive, name_of))
