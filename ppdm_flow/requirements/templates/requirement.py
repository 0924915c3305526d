"""Inference templates <IC -> pi, h>: what must not be inferred from which attributes, and with which confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, NotRequired, Self

from pydantic import Field, SerializeAsAny, WrapValidator

from ppdm_flow.core.model import (
    GROUPS,
    HIGHER_IF_ANY,
    LOWER,
    Absent,
    Flag,
    MapOrModel,
    Model,
    Texts,
    document_type,
    plain,
)
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.requirement import NameOf, NamePattern
from ppdm_flow.core.requirement_families import OnValues, ValuesByAttribute, reaching, reaching_values
from ppdm_flow.core.roles import AttributeType, Role, ValuesAbsent

_CHANNEL = "The attributes that an inference starts from (IC)."
_SENSITIVE = (
    "The values that must not be inferred (pi). Several are several templates, never their union. With"
    " `{top: 4, target: class, rarest: 0.5}` they are chosen from the data."
)
_TOP = "How many attributes are sensitive: those that C4.5 would put at the root of its tree, one after another."
_TARGET = "The class that they are ranked by."
_RAREST = "The share of the values of each that must not be inferred: the least frequent ones, at least one."
_CHOSEN_BY = (
    "How the values under `sensitive` were chosen from the data. A run writes it into `policy.resolved.yaml`; reports"
    " then give their numbers only."
)
_CONFIDENCE = "The highest share of such a value in any group (h)."
_NEGATED = (
    "Whether it is the absence of each value that must not be inferred: then at most `confidence` of any group may be"
    " without it, missing cells included."
)
_LEAST = (
    "The least number of rows in any group over the channel, beside the confidence: an inference must never rest on"
    " fewer people."
)


_CHOSEN_ROLES = frozenset({Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE})


class SensitiveChoice(Model):
    """Sensitive values that are chosen from the data, as Wang, Fung and Yu do it (ICDM 2005, section 5)."""

    top: Annotated[int, Field(ge=1, description=_TOP, examples=["4"])]
    target: Annotated[str, Field(description=_TARGET, examples=["class"])]
    rarest: Annotated[float, Field(gt=0.0, le=1.0, description=_RAREST, examples=["0.5"])]


class InferenceTemplate(OnValues):
    """<IC -> pi, h>: no group over ``channel`` lets one infer a sensitive value with more than ``confidence``.

    ``negated``: to infer that someone has *not* the value. ``min_support``: besides, no group has fewer rows. Small
    groups are never excused from the confidence: an inference about few people is the more dangerous one. Several
    values are several templates with one channel and threshold, never their union (Wang, Fung, Yu, ICDM 2005,
    section 3).
    """

    kind: ClassVar[str] = "templates"
    bounds_confidence: ClassVar[bool] = True
    of_all_files: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    channel: Annotated[Texts, Field(description=_CHANNEL, examples=[["job", "country"]]), GROUPS]
    sensitive: Annotated[
        ValuesByAttribute,
        Field(min_length=1),
        WrapValidator(MapOrModel(SensitiveChoice)),
        SerializeAsAny(),
        Field(description=_SENSITIVE, examples=[{"bankruptcy": ["Discharged"]}]),
    ]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0, description=_CONFIDENCE, examples=["0.75"]), LOWER]
    negated: Annotated[Flag, Field(description=_NEGATED, examples=["true"])] = False
    min_support: Annotated[
        Annotated[int, Field(ge=2)] | None, Field(description=_LEAST, examples=["5"]), HIGHER_IF_ANY
    ] = None
    values_absent: Absent = ValuesAbsent.ERROR
    chosen_by: Annotated[
        SensitiveChoice | None,
        Field(description=_CHOSEN_BY, examples=[{"top": "4", "target": "class", "rarest": "0.5"}]),
    ] = None

    @property
    def choice(self) -> SensitiveChoice | None:
        """How its values are to be chosen from the data; None where it names them."""
        said: object = self.sensitive
        return said if isinstance(said, SensitiveChoice) else None

    @property
    def awaits_data(self) -> bool:
        """Whether its values are still to be chosen from the data."""
        return self.choice is not None

    @property
    def chosen_from_data(self) -> bool:
        """Whether its values were chosen from the data."""
        return self.chosen_by is not None

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The values that must not be inferred, by attribute; none while they are to be chosen."""
        return {} if self.awaits_data else self.sensitive

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

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        for each in super().on_columns(columns):
            own = self if self.awaits_data else each
            yield own.changed(channel=columns.every(self.channel, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where no sensitive attribute reaches the step.

        The channel is narrowed to what is left of it: an adversary who knew the dropped attributes cannot use them
        here, but a coarser grouping can still reveal the sensitive value.
        """
        channel = reaching(self.channel, name_of)
        if self.awaits_data:
            return self.changed(channel=channel)
        sensitive = reaching_values(self.sensitive, name_of)
        return self.changed(channel=channel, sensitive=sensitive) if sensitive else None

    def said(self) -> dict[str, Any]:
        """Return all that it says, by field."""
        return {**super().said(), **({"sensitive": self.choice} if self.awaits_data else {})}

    def document(self) -> dict[str, Any]:
        """Return what it asks; of values that were chosen from the data only how many there are of each attribute."""
        if not (self.awaits_data or self.chosen_from_data):
            return super().document()
        shown = self.changed(sensitive={}, chosen_by=self.choice or self.chosen_by)
        counts = {attribute: len(values) for attribute, values in self.values.items()}
        return {**plain(shown, without=("releases",)), **({"chosen": counts} if counts else {})}

    @classmethod
    def document_type(cls) -> Any:
        """Return the type of its document, a TypedDict."""
        text = "The number of values of each attribute that were chosen from the data; `sensitive` is empty then."
        counts = NotRequired[Annotated[dict[str, int], Field(description=text)]]
        return document_type(cls, without=("releases",), chosen=counts)


def may_be_chosen(role: Role, kind: AttributeType) -> bool:
    """Whether an attribute may be chosen as sensitive: a text that tells neither who somebody is nor how rows count."""
    return role in _CHOSEN_ROLES and kind is AttributeType.TEXT


def chosen(template: InferenceTemplate) -> str:
    """Return the attributes of which values are protected, with the number of values: no value is named."""
    return listed([f"{counted(len(values), 'value')} of `{name}`" for name, values in template.values.items()])
