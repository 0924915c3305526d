"""Which of a plugin's parameters are paths of files, and which of these hold keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from ppdm_flow.sdk.spec import FileMark, SecretMark


def marked_files(params: BaseModel, *, secret: bool) -> Iterator[str]:
    """Yield the values of parameters that are marked as files (or as keys), in models within models too."""
    for name, field in type(params).model_fields.items():
        value = getattr(params, name)
        marks = {*field.metadata, *_marks(field.annotation)}
        if FileMark() in marks and (SecretMark() in marks) is secret:
            yield from _texts(value)
        yield from (path for model in _models(value) for path in marked_files(model, secret=secret))


def _marks(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from (each for each in get_args(annotation)[1:] if isinstance(each, FileMark | SecretMark))
    for inner in get_args(annotation):
        yield from _marks(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    for each in _items(value):
        yield from _texts(each)


def _models(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
    for each in _items(value):
        yield from _models(each)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
