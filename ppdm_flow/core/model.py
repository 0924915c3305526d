"""What models of the policy language are made of: their base, types and marks of fields.

Every scalar arrives as text and is typed by its field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar, Literal, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidatorFunctionWrapHandler

from ppdm_flow.core.codes import current_code
from ppdm_flow.core.requirement_fields import DocumentField, InDocuments
from ppdm_flow.core.roles import ValuesAbsent

K = TypeVar("K")
V = TypeVar("V")


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
class StricterSide:
    """Marks a figure of which one side is stricter, by the sign of a bound that forbids the other side.

    ``weaker_where_absent``: the lack of the figure is weaker than any value of it.
    """

    sign: Literal[">=", "<="]
    weaker_where_absent: bool = False


@dataclass(frozen=True, slots=True)
class OneOrNamed:
    """Marks a map of models by name in whose place one model may stand, which then has the name ``""``."""

    model: type[BaseModel]

    def __call__(self, value: object) -> object:
        """Take a single entry for a map of one."""
        if not isinstance(value, Mapping):
            return value
        known = {info.alias or name for name, info in self.model.model_fields.items()}
        named = value and all(isinstance(each, Mapping) and name not in known for name, each in value.items())
        return value if named else {"": value}


@dataclass(frozen=True, slots=True)
class MapOrModel:
    """Marks a map of lists in whose place one model may stand, whose keys hold single values."""

    model: type[BaseModel]

    def __call__(self, value: object, handler: ValidatorFunctionWrapHandler) -> object:
        """Read a map with the model's keys and single values as the model, all else as the map."""
        if isinstance(value, self.model):
            return value
        keys = self.model.model_fields
        single = isinstance(value, Mapping) and any(name in keys and isinstance(v, str) for name, v in value.items())
        return self.model.model_validate(value) if single else handler(value)


@dataclass(frozen=True, slots=True)
class StrongestFirst:
    """Marks words of which the earlier ones are stronger."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MoreIsStricter:
    """Marks a list, or a map of lists, of which more demands more: protected values, sizes of itemsets."""


@dataclass(frozen=True, slots=True)
class FormsGroups:
    """Marks a list of attributes that groups of rows are formed by: by more of them groups are smaller."""


HIGHER = StricterSide(">=")
LOWER = StricterSide("<=")
HIGHER_IF_ANY = StricterSide(">=", weaker_where_absent=True)
"""The higher one is stricter, and none at all is weaker than any."""
LOWER_IF_ANY = StricterSide("<=", weaker_where_absent=True)
"""The lower one is stricter, and none at all is weaker than any."""
MORE = MoreIsStricter()
GROUPS = FormsGroups()

Flag = Annotated[bool, BeforeValidator(_truth)]
NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME)]
"""A name for a step, a release, a template, …: it becomes part of metric names and paths."""
EntryName = Annotated[str, Field(pattern=f"^$|{NAME}")]
"""A name for one of several entries; ``""`` where there is but one."""
ParamName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
ParamValue = Annotated[tuple[str, ...], BeforeValidator(text_or_texts)]
"""What a param takes: a text, or a list of them; its declaration says which."""
Code = Annotated[str, AfterValidator(current_code)]
"""A text that may be the code of a diagnostic: one that was merged into another becomes that one."""
Probability = Annotated[float, Field(gt=0.0, lt=1.0)]
Tree = dict[str, object]
"""Plugin parameters: a raw sub-tree until the plan binds it to the plugin's own model."""


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
    instead: ClassVar[str] = ""
    """A word that may stand in place of the map."""


class FixedMap(dict[K, V]):
    """A map that cannot be changed: what a requirement says is lent to plugins."""

    def _refuse(self, *_args: object, **_named: object) -> NoReturn:
        raise TypeError("what a requirement says cannot be changed; make another one with `changed`")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # it never changes
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FixedMap[K, V]], tuple[dict[K, V]]]:
        return FixedMap, (dict(self),)


Fixed = AfterValidator(FixedMap)
"""Makes a map of a model one that cannot be changed."""


@cache
def unordered(model: type[BaseModel]) -> frozenset[str]:
    """Return the fields of a model that are sets: lists whose order means nothing."""
    marks = (MoreIsStricter, FormsGroups)
    fields = model.model_fields.items()
    return frozenset(name for name, info in fields if any(isinstance(mark, marks) for mark in info.metadata))


Texts = Annotated[tuple[str, ...], Field(min_length=1)]
"""A list that, where it is given, holds something."""
Releases = Annotated[
    Texts,
    Field(description="The releases that it is about; all of them unless it names some.", examples=[["public"]]),
]
GroupedBy = Annotated[
    Texts,
    Field(description="What to group by; all quasi-identifiers where it is left out.", examples=[["job", "country"]]),
    GROUPS,
    InDocuments(always=True),
    DocumentField(list[str], list),
]
"""The attributes that form groups; bound to a policy, those that it has where the clause names none."""
Sets = Annotated[
    str,
    Field(description="The attribute with the sets; the one with `role: items` if left out.", examples=["basket"]),
    InDocuments(always=True),
]
Absent = Annotated[
    ValuesAbsent,
    Field(
        description="`error`: a value that is named here, and that neither the attribute's `domain` nor the data has,"
        " ends the run before anything is released, since it may be misspelt. `allowed`: it may be missing.",
        examples=["allowed"],
    ),
    StrongestFirst(tuple(ValuesAbsent)),
    InDocuments(always=False),
    DocumentField(
        Annotated[str, Field(json_schema_extra={"const": ValuesAbsent.ALLOWED.value})], lambda said: said.value
    ),
]
