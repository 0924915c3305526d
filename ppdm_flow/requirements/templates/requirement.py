"""Inference templates <IC -> pi, h>: what must not be inferred from which attributes, and with which confidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import GROUPS, HIGHER_IF_ANY, LOWER, Absent, Flag, Texts
from ppdm_flow.core.requirement import Columns, NameOf
from ppdm_flow.core.requirement_families import OnValues, ValuesByAttribute, reaching, reaching_values
from ppdm_flow.core.roles import ValuesAbsent

_CHANNEL = "The attributes that an inference starts from (IC)."
_SENSITIVE = "The values that must not be inferred (pi). Several are several templates, never their union."
_CONFIDENCE = "The highest share of such a value in any group (h)."
_NEGATED = (
    "Whether it is the absence of each value that must not be inferred: then at most `confidence` of any group may be"
    " without it, missing cells included."
)
_LEAST = (
    "The least number of rows in any group over the channel, beside the confidence: an inference must never rest on"
    " fewer people."
)


class Template(OnValues):
    """<IC -> pi, h>: no group over ``channel`` lets one infer a sensitive value with more than ``confidence``.

    ``negated``: to infer that someone has *not* the value. ``min_support``: besides, no group has fewer rows. Small
    groups are never excused from the confidence: an inference about few people is the more dangerous one. Several
    values are several templates with one channel and threshold, never their union (Wang, Fung, Yu, ICDM 2005,
    section 3).
    """

    kind: ClassVar[str] = "templates"
    bounds_confidence: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    channel: Annotated[Texts, Field(description=_CHANNEL, examples=[["job", "country"]]), GROUPS]
    sensitive: Annotated[
        ValuesByAttribute, Field(min_length=1, description=_SENSITIVE, examples=[{"bankruptcy": ["Discharged"]}])
    ]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0, description=_CONFIDENCE, examples=["0.75"]), LOWER]
    negated: Annotated[Flag, Field(description=_NEGATED, examples=["true"])] = False
    min_support: Annotated[
        Annotated[int, Field(ge=2)] | None, Field(description=_LEAST, examples=["5"]), HIGHER_IF_ANY
    ] = None
    values_absent: Absent = ValuesAbsent.ERROR

    @property
    def grouping(self) -> tuple[str, ...]:
        """The channel."""
        return self.channel

    @property
    def smallest_group(self) -> int:
        """The least number of rows in a group; 1 where it asks for none."""
        return self.min_support or 1

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return self.smallest_group > 1

    def on_columns(self, columns: Columns) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        for each in super().on_columns(columns):
            yield each.changed(channel=columns.every(self.channel, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where no sensitive attribute reaches the step.

        The channel is narrowed to what is left of it: whoever knew the dropped attributes cannot use them here, but a
        coarser grouping can still reveal the sensitive value.
        """
        sensitive = reaching_values(self.sensitive, name_of)
        return self.changed(channel=reaching(self.channel, name_of), sensitive=sensitive) if sensitive else None
