"""What every model of the policy language is made of. Every scalar arrives as text and is typed by its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_ABOUT = "The releases that it is about; all of them unless it names some."


class Model(BaseModel):
    """Base of every model: unknown keys are errors, no NaN, and no input is ever quoted in a message."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        populate_by_name=True,
        defer_build=True,  # most models stand within another, and need no validator of their own
    )
    adds_only: ClassVar[bool] = False
    """Whether another map in one can only ask for more."""


class Clause(Model):
    """One entry under ``privacy:``; it is about all releases unless it names some."""

    releases: Annotated[
        Annotated[tuple[str, ...], Field(min_length=1)] | None,
        Field(description=_ABOUT, examples=[["public"]]),
    ] = None


def _truth(value: object) -> bool:
    """Accept only ``true`` and ``false``: pydantic alone would read ``no``, ``off`` and ``0`` as well."""
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise ValueError("must be `true` or `false`")


def one_or_more(value: object) -> object:
    """Take a single map for a list of one."""
    return [value] if isinstance(value, Mapping) else value


def text_or_texts(value: object) -> object:
    """Take a single text for a list of one."""
    return [value] if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Stricter:
    """Marks a figure of which one side is stricter, by the sign of a bound that forbids the other side.

    ``weaker_where_absent``: the lack of the figure is weaker than any value of it.
    """

    sign: Literal[">=", "<="]
    weaker_where_absent: bool = False


@dataclass(frozen=True, slots=True)
class OneOrNamed:
    """Marks a map of models by name in whose place one model may stand, which then has the name ``""``."""

    model: type[Model]

    def __call__(self, value: object) -> object:
        """Take a single entry for a map of one."""
        if not isinstance(value, Mapping):
            return value
        known = {info.alias or name for name, info in self.model.model_fields.items()}
        named = value and all(isinstance(each, Mapping) and name not in known for name, each in value.items())
        return value if named else {"": value}


@dataclass(frozen=True, slots=True)
class StrongestFirst:
    """Marks words of which the earlier ones are stronger."""

    words: tuple[str, ...]


HIGHER = Stricter(">=")
LOWER = Stricter("<=")
HIGHER_IF_ANY = Stricter(">=", weaker_where_absent=True)
"""The higher one is stricter, and none at all is weaker than any."""

Flag = Annotated[bool, BeforeValidator(_truth)]
NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME)]
"""A name for a step, a release, a template, …: it becomes part of metric names and paths."""
EntryName = Annotated[str, Field(pattern=f"^$|{NAME}")]
"""A name for one of several entries; ``""`` where there is but one."""
ParamName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
ParamValue = Annotated[tuple[str, ...], BeforeValidator(text_or_texts)]
"""What a param takes: a text, or a list of them; its declaration says which."""
Probability = Annotated[float, Field(gt=0.0, lt=1.0)]
Texts = Annotated[tuple[str, ...], Field(min_length=1)]
"""A list that, where it is given, holds something."""
Tree = dict[str, object]
"""Plugin parameters: a raw sub-tree until the plan binds it to the plugin's own model."""
