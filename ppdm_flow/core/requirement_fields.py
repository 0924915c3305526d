"""The form of a requirement in documents (``plan.json``), derived from the fields of its model."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from ppdm_flow.core.supports import SupportBound

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


@dataclass(frozen=True, slots=True)
class DocumentField:
    """How a field stands in documents, where that is not as it is kept: its ``type``, and what makes it of a value."""

    type: Any
    made: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class InDocuments:
    """Whether a field that has its default stands in documents; numbers and words do unless this says otherwise."""

    always: bool


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
