"""A release as its recipient has it: a run's directory, the folder of one release, or the data file in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.texts import DICTIONARY, OPERATOR, is_text
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.opening.opening import open_released
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.formats import implied, inferred
from ppdm_flow.sdk.anonymizer import ValueOperator, value_operator
from ppdm_flow.sdk.set_operator import SETS, SetOperator
from ppdm_flow.sdk.storage import Source

_DOCUMENTS = (".json", ".md", ".html", ".txt.asc")


@dataclass(frozen=True, slots=True)
class ReceivedRelease:
    """A released file and the operators that came with it; ``options`` are those of its format's reader."""

    file: Path
    operators: tuple[ValueOperator, ...]
    format: str = ""
    options: Mapping[str, Any] | None = None

    def open(self) -> Source:
        """Return the reader of the file. Raises DataError where no format fits."""
        name = telling_name(self.file)
        kind = inferred("sources", name) or self.format
        options = {**((self.options or {}) if kind == self.format else {}), **implied("sources", kind, name)}
        node = ReleaseNode(self.file.name, "", self.file.name, kind, options, "", ())
        return open_released(node, self.file)


def read_release(path: Path, attribute: str | None = None, operator: Path | None = None) -> ReceivedRelease:
    """Find the release that ``path`` names, with its operators.

    Of a run's several releases the one with an operator (for ``attribute``, if given) is taken. ``operator`` is an
    ``operator.json`` from elsewhere. Raises UsageError where ``path`` is no release, or more than one; DataError where
    a file cannot be read.
    """
    if path.name == OPERATOR and path.is_file():
        return read_release(path.parent, attribute, path)
    without = _without(f"no release in `{path}` has an `{OPERATOR}`" + (f" for `{attribute}`" if attribute else ""))
    file, about = released_file(path, lambda folder: _has(folder, attribute), without, given=operator is not None)
    place = file.parent / OPERATOR if operator is None else operator
    if operator is None and not place.is_file():
        raise _without(f"there is no `{OPERATOR}` beside `{file}`")
    options = about.get("options")
    return ReceivedRelease(
        file, tuple(read_operators(place)), str(about.get("format", "")), options if isinstance(options, dict) else None
    )


def released_file(
    path: Path, able: Callable[[Path], bool], without: UsageError, *, given: bool
) -> tuple[Path, Mapping[str, Any]]:
    """Return the data file of the release that ``path`` names, and what its data dictionary says of it.

    Of several releases the one that is ``able``; ``without`` is raised where none is. ``given``: an operator comes from
    elsewhere, so that any release serves.
    """
    if path.is_dir() and _dictionary(path.parent).get("file") != path.name:
        folder = _folder(path, able, without, given=given)
        about = _dictionary(folder)
        file = folder / str(about["file"]) if about else _only_file(folder)
    elif path.exists():
        file, about = path, _dictionary(path.parent)
    else:
        raise _nothing(f"there is no `{path}`")
    if not file.exists():
        raise _nothing(f"`{file.parent}` holds no `{file.name}`")
    return file, about if about and about["file"] == file.name else {}


def _folder(path: Path, able: Callable[[Path], bool], without: UsageError, *, given: bool) -> Path:
    """Return the folder of one release, at or below ``path``."""
    if (path / OPERATOR).is_file() or (path / DICTIONARY).is_file():
        return path
    home = path / "released" if (path / "released").is_dir() else path
    every = sorted(p.parent for p in home.glob(f"*/{DICTIONARY}"))
    every = every or sorted(p.parent for p in home.glob(f"*/{OPERATOR}"))
    if not every:
        if (path / MANIFEST).is_file():
            raise _nothing(f"`{path}` is a run that released nothing")
        if given:
            return path
        raise _nothing(f"`{path}` holds no release")
    chosen = every if given else [f for f in every if able(f)]
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        raise without
    raise _several(chosen)


def _has(folder: Path, attribute: str | None) -> bool:
    file = folder / OPERATOR
    return file.is_file() and (attribute is None or any(o.attribute == attribute for o in read_operators(file)))


def _only_file(folder: Path) -> Path:
    files = [p for p in sorted(folder.iterdir()) if p.is_file() and not p.name.startswith(".")]
    files = [p for p in files if not p.name.lower().endswith(_DOCUMENTS)]
    if len(files) != 1:
        many = "no data file" if not files else f"{len(files)} files that could be the data"
        raise _nothing(f"`{folder}` holds {many}", "give the data file itself")
    return files[0]


def is_own(file: Path) -> bool:
    """Whether a file lies beside the data dictionary of a run that wrote it. Raises DataError where that is none."""
    return bool(_dictionary(file.parent).get("file") == file.name)


def _dictionary(folder: Path) -> Mapping[str, Any]:
    """Return the data dictionary of a release, or nothing where there is none."""
    place = folder / DICTIONARY
    if not place.is_file():
        return {}
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
        name = document["file"]
        plain = isinstance(name, str) and PurePosixPath(name).name == name
    except OSError as error:
        raise data_fault("PPF701", f"cannot read `{place}`: {error.strerror or 'no reason given'}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        plain = False
    if not plain:
        raise data_fault("PPF769", f"`{place}` is not the data dictionary of a release")
    return dict(document)


def _nothing(
    message: str, advice: str = "give a run's directory, its `released/NAME` folder, or the data file"
) -> UsageError:
    return UsageError(Diagnostic("PPF760", message, help=advice))


def _without(message: str) -> UsageError:
    advice = "only a release with a perturbed attribute can be reconstructed; ask its publisher for the operator"
    return UsageError(Diagnostic("PPF736", message, help=advice))


def _several(folders: Sequence[Path]) -> UsageError:
    listing = ", ".join(f"`{f}`" for f in folders)
    return UsageError(
        Diagnostic("PPF760", "the run has several releases that it could be", help=f"give one: {listing}")
    )


# Operators from `operator.json`: what a recipient, or a judge, knows of a perturbation.


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
