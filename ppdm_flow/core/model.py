"""Parts of the policy language's models: their base, types and marks of fields.

Every scalar arrives as text and is typed by its field.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NoReturn, NotRequired, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from ppdm_flow.core.diagnostics import current_code
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.shares import plain_shares
from ppdm_flow.core.supports import SupportBound

K = TypeVar("K")
V = TypeVar("V")
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


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
    """Base of every model: unknown keys are errors, no NaN, and no input is ever quoted in a message.

    A field that is a share takes a percentage as well.
    """

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

    @model_validator(mode="before")
    @classmethod
    def _read_percentages(cls, value: Any) -> Any:
        return plain_shares(cls, value)


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


# The form of a requirement in documents (`plan.json`), derived from the fields of its model.


@dataclass(frozen=True, slots=True)
class DocumentField:
    """The form of a field in documents, where it differs from the stored one: its ``type``, and a conversion."""

    type: Any
    made: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class InDocuments:
    """Whether a field that has its default stands in documents; numbers and words do unless this says otherwise."""

    always: bool


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

_OTHERS = (DocumentField, InDocuments, AfterValidator, BeforeValidator)


class SupportFields(TypedDict, total=False):
    """Rows, or a share of each table's."""

    count: Annotated[int, Field(ge=1)]
    ratio: Annotated[float, Field(ge=0, le=1)]


def plain(model: BaseModel, without: Iterable[str] = ()) -> dict[str, Any]:
    """Return the fields of a model as plain values, but for those that say nothing and those in ``without``."""
    fields = {name: info for name, info in type(model).model_fields.items() if name not in without}
    shown = {name: getattr(model, name) for name in fields}
    return {n: _plain(v, fields[n]) for n, v in shown.items() if _always(fields[n]) or v != fields[n].default}


def document_type(model: type[BaseModel], without: Iterable[str] = (), **first: Any) -> Any:
    """Return the type of what `plain` makes of a model, with ``first`` before its fields."""
    fields = {name: _typed(info) for name, info in model.model_fields.items() if name not in without}
    typed_dict: Any = TypedDict
    made = typed_dict(f"{model.__name__}Fields", {**first, **fields})
    made.__doc__ = model.__doc__
    return made


def _always(info: FieldInfo) -> bool:
    said = next((mark.always for mark in info.metadata if isinstance(mark, InDocuments)), None)
    empty = info.default is None or info.default is False or info.default == ()
    return said if said is not None else info.is_required() or (info.default_factory is None and not empty)


def _plain(value: Any, info: FieldInfo | None = None) -> Any:
    shown = (
        next((mark for mark in info.metadata if isinstance(mark, DocumentField)), None) if info is not None else None
    )
    if shown is not None:
        return shown.made(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, SupportBound):
        return value.document
    if isinstance(value, BaseModel):
        return plain(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


def _typed(info: FieldInfo) -> Any:
    shown = next((mark.type for mark in info.metadata if isinstance(mark, DocumentField)), None)
    limits = [] if shown is not None else [mark for mark in info.metadata if not isinstance(mark, _OTHERS)]
    text = [Field(description=info.description)] if info.description else []
    made = shown if shown is not None else _type(info.annotation)
    made = Annotated[(made, *limits, *text)] if limits or text else made
    return made if _always(info) else NotRequired[made]


def _type(annotation: Any) -> Any:
    """Return what a value of this type is in JSON."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        limits = [m for mark in inner[1:] for m in (mark.metadata if isinstance(mark, FieldInfo) else [mark])]
        limits = [mark for mark in limits if not isinstance(mark, _OTHERS)]
        return Annotated[(_type(inner[0]), *limits)] if limits else _type(inner[0])
    if origin in (Union, types.UnionType):
        return _type(next(each for each in inner if each is not type(None)))
    if origin is tuple:
        return list[_type(inner[0])]  # type: ignore[misc]  # a type that is made here
    if origin is dict:
        return dict[str, _type(inner[1])]  # type: ignore[misc]  # the same
    if annotation is SupportBound:
        return SupportFields
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Annotated[str, Field(json_schema_extra={"enum": [str(member.value) for member in annotation]})]
    return (
        document_type(annotation) if isinstance(annotation, type) and issubclass(annotation, BaseModel) else annotation
    )


# An analysis that a recipient will run: a frequency table, means by group, or a regression.


AUDIT = "analyses"
"""The audit that runs the analyses of a policy, and how it is named in metrics."""
FORMS = ("table", "mean", "regression")
_KEYS = {
    "table": frozenset({"table", "least_count", "weighted"}),
    "mean": frozenset({"mean", "by", "least_count", "weighted"}),
    "regression": frozenset({"regression", "on", "model", "positive", "weighted"}),
}


class Analysis(Model):
    """One of ``table``, ``mean`` and ``regression``; attributes have their names in the source."""

    table: Texts | None = None
    mean: str | None = None
    by: tuple[str, ...] = ()
    regression: str | None = None
    on: Texts | None = None
    model: Literal["linear", "logistic"] = "linear"
    positive: str | None = None
    least_count: Annotated[int, Field(ge=1)] = 10
    weighted: Flag = True

    @property
    def form(self) -> str:
        """Which of the three it is; of several the first, and ``""`` where it is none."""
        return next((form for form in FORMS if getattr(self, form) is not None), "")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the source that it needs, each once: first what is explained."""
        first = [each for each in (self.mean, self.regression) if each is not None]
        return tuple(dict.fromkeys((*first, *(self.table or ()), *self.by, *(self.on or ()))))

    @property
    def number(self) -> str | None:
        """The attribute that has to hold numbers."""
        return self.mean if self.form == "mean" else self.regression if self.model == "linear" else None


@dataclass(frozen=True, slots=True)
class FormFault:
    """What is wrong with the form of an analysis, at ``path`` below it; ``of_key``: with the key, not its value."""

    path: tuple[str, ...]
    message: str
    hint: str = ""
    of_key: bool = True


def form_faults(analysis: Analysis) -> Iterator[FormFault]:
    """Yield what is wrong with an analysis beyond the types of its keys."""
    given = [form for form in FORMS if getattr(analysis, form) is not None]
    if len(given) != 1:
        what = "none of them" if not given else " and ".join(f"`{form}`" for form in given)
        hint = "write one of `table: [sex, job]`, `mean: income` and `regression: income`"
        yield FormFault((), f"an analysis has one of `table`, `mean` and `regression`, and this has {what}", hint)
        return
    form = given[0]
    for key in sorted(analysis.model_fields_set - _KEYS[form]):
        yield FormFault((key,), f"`{key}` says nothing beside `{form}`", "leave it out")
    if form != "regression":
        return
    if analysis.on is None:
        yield FormFault((), "a regression needs `on`: the attributes that explain the response", "add `on: [age]`")
    elif analysis.regression in analysis.on:
        yield FormFault(("on",), f"`{analysis.regression}` cannot explain itself", of_key=False)
    if analysis.model == "logistic" and analysis.positive is None:
        text = "a logistic regression needs `positive`: the value of the response that counts as 1"
        yield FormFault((), text, 'add `positive: "yes"`')
    if analysis.model == "linear" and analysis.positive is not None:
        yield FormFault(("positive",), "`positive` goes with `model: logistic`", "add `model: logistic`")
