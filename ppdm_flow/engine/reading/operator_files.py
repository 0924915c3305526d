"""Operators from ``operator.json``: what a recipient, or a judge, knows of a perturbation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.texts.file_names import OPERATOR
from ppdm_flow.core.texts.visible import is_text
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.anonymizer import ValueOperator, value_operator
from ppdm_flow.sdk.set_operator import SETS, SetOperator

_LARGEST = 256 << 20


def operators_for(release: ReleaseNode, released: Path, given: Path | None) -> Mapping[str, ValueOperator]:
    """Return the operators by released attribute, from ``given`` or from the file beside ``released``.

    Each operator's own attribute is the source's name: that is where the values that went into it are found. Raises
    DataError where a file that was given cannot be read, or is none.
    """
    return _by_source(read_operators, release, released, given)


def set_operators_for(release: ReleaseNode, released: Path, given: Path | None) -> Mapping[str, SetOperator]:
    """Return the operators on sets, like :func:`operators_for`."""
    return _by_source(read_set_operators, release, released, given)


Either = TypeVar("Either", bound=ValueOperator | SetOperator)


def _by_source(
    read: Callable[[Path], list[Either]], release: ReleaseNode, released: Path, given: Path | None
) -> Mapping[str, Either]:
    path = released.parent / OPERATOR if given is None else given
    if given is None and not path.is_file():
        return {}
    sources = {a.name: a.source or a.name for a in release.attributes}
    operators: dict[str, Either] = {}
    for operator in read(path):
        name = operator.attribute
        if name in sources:
            if name in operators:
                raise data_fault("PPF736", f"`{path}` has two operators for `{name}`")
            operators[name] = replace(operator, attribute=sources[name])
    return operators


def read_operators(path: Path) -> list[ValueOperator]:
    """Return the operators of a file on single values. Raises DataError where it cannot be read, or is none."""
    return _read(path, lambda entry: None if _of_sets(entry) else value_operator(entry))


def read_set_operators(path: Path) -> list[SetOperator]:
    """Return the operators of a file on sets. Raises DataError where it cannot be read, or is none."""
    return _read(path, lambda entry: SetOperator.from_document(entry) if _of_sets(entry) else None)


def _of_sets(entry: Mapping[str, Any]) -> bool:
    return entry.get("form") == SETS


def _read(path: Path, made: Callable[[Mapping[str, Any]], Either | None]) -> list[Either]:
    try:
        if path.stat().st_size > _LARGEST:
            raise _broken(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        if not is_text(json.dumps(content, ensure_ascii=False)):
            raise _broken(path)
        return [operator for entry in _entries(content) if (operator := made(entry)) is not None]
    except OSError as error:
        raise data_fault("PPF701", f"cannot read `{path}`: {error.strerror or 'no reason given'}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _broken(path) from None


def _entries(content: Any) -> list[Mapping[str, Any]]:
    """Accept the form of a release, and a single operator."""
    entries = content.get("operators", [content])
    if not isinstance(entries, list):
        raise TypeError("no list of operators")
    return entries


def _broken(path: Path) -> DataError:
    return data_fault("PPF736", f"`{path}` does not describe a perturbation operator")
