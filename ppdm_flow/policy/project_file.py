"""Finds the project file upwards from a policy, as locks are found, and reads it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import open_definition
from ppdm_flow.core.model import Flag, Model
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.inheritance.references import NotFoundError, find
from ppdm_flow.policy.language.schemas import Writer, descriptions
from ppdm_flow.policy.loaded import Project, RequiredTemplate
from ppdm_flow.policy.lock import is_repository
from ppdm_flow.policy.text.nodes import Map, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import SIZE_LIMIT, decode, forbidden, limited
from ppdm_flow.policy.validate import validate

FILE = "ppdm-flow.yaml"
IDENTITY = "https://ppdm-flow.example/schemas/project.v1.json"
PAGE = "keys/project"
"""The page on the keys of a project file."""
_FORM = "it has `version: 1`, and any of `policies`, `require`, `locked`, `signers`, `runs`, `lint`"
_LOOKED_FOR: ContextVar[bool] = ContextVar("project files are looked for", default=True)


class LintEntry(Model):
    """How policies are checked."""

    strict: Flag = False


class ProjectEntry(Model):
    """What a project file says."""

    version: Literal["1"]
    policies: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    locked: Flag = False
    signers: str | None = None
    runs: str | None = None
    lint: Annotated[LintEntry, Field(default_factory=LintEntry)]


def project_of(policy: Path) -> Project | None:
    """Return what the project files above a policy demand, all of them together; None where there is none.

    They are looked for up to the root of the Git repository, from where the policy is and, if it is a link, from where
    the file is. A folder of that name counts: then it cannot be read, and is not missing.
    """
    if not _LOOKED_FOR.get():
        return None
    files_by_path: dict[Path, Path] = {}
    for place in (policy.absolute(), policy.resolve()):
        for folder in place.parents:
            file = folder / FILE
            if file.exists() or file.is_symlink():
                files_by_path.setdefault(file.resolve(), file)
            if is_repository(folder):
                break
    return _together([read_project(file) for file in files_by_path.values()])


def _together(projects: Sequence[Project]) -> Project | None:
    """Return what several project files demand, the nearest first.

    All of them bind; the nearest says where things are, but for the signers: they are those of the outermost.
    """
    if len(projects) < 2:
        return projects[0] if projects else None
    return replace(
        projects[0],
        texts={name: text for each in projects for name, text in each.texts.items()},
        sha256=hashlib.sha256("\n".join(each.sha256 for each in projects).encode()).hexdigest(),
        faults=tuple(fault for each in projects for fault in each.faults),
        required=tuple(required for each in projects for required in each.required),
        locked=any(each.locked for each in projects),
        strict=any(each.strict for each in projects),
        signers=next((each.signers for each in reversed(projects) if each.signers is not None), None),
    )


@contextmanager
def no_project() -> Iterator[None]:
    """Let policies be read as if no project file were there: for copies, and for who asks for it."""
    token = _LOOKED_FOR.set(False)
    try:
        yield
    finally:
        _LOOKED_FOR.reset(token)


def read_project(file: Path) -> Project:
    """Return a project file with its faults (PPF355 where it cannot be read)."""
    shown = os.path.relpath(file)
    shown = str(file) if shown.startswith(os.pardir) else shown
    start = Span(shown, 1, 1, 1, 1)
    try:
        with open_definition(file) as opened:
            data = limited(opened.read(SIZE_LIMIT + 1), shown)
        text = decode(data, shown)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return Project(file, shown, faults=(Diagnostic("PPF355", f"cannot read the project file: {reason}", start),))
    except UnreadableError as error:
        return Project(file, shown, faults=(error.diagnostic,))
    read = Project(file, shown, {shown: text}, hashlib.sha256(data).hexdigest())
    fault = forbidden(text, shown)
    try:
        root, faults = (None, [fault]) if fault is not None else parse(text, shown)
    except UnreadableError as error:
        return replace(read, faults=(error.diagnostic,))
    if not faults and not isinstance(root, Map):
        faults = [Diagnostic("PPF355", "a project file is a map of keys and values", start, help=_FORM)]
    if faults or not isinstance(root, Map):
        return replace(read, faults=tuple(faults))
    return _judged(read, root)


def _judged(read: Project, root: Map) -> Project:
    flat = flatten(root)
    entry, faults = validate(flat, ProjectEntry)
    if entry is None:
        return replace(read, faults=tuple(_of_projects(fault) for fault in faults))
    home = read.file.parent
    required = []
    for number, reference in enumerate(entry.require):
        place = flat.places.value("require", str(number)) or root.span
        try:
            template = find(reference, os.path.dirname(read.shown) or os.curdir)  # noqa: PTH120  (text)
            required.append(RequiredTemplate(reference, template.shown, template.identity, place))
        except NotFoundError as error:
            faults.append(Diagnostic(error.code, error.message, place, hint=error.hint, help=error.help))
    return replace(
        read,
        faults=tuple(faults),
        required=tuple(required),
        policies=tuple(home / each for each in entry.policies),
        locked=entry.locked,
        strict=entry.lint.strict,
        signers=None if entry.signers is None else home / entry.signers,
        runs=None if entry.runs is None else home / entry.runs,
    )


def _of_projects(fault: Diagnostic) -> Diagnostic:
    """Say of a fault what a project file is, where it is said of a policy."""
    if fault.code == "PPF207":
        return replace(fault, message="there is no such version of project files")
    return replace(fault, help=fault.help or _FORM)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a project file."""
    what = "What an organization demands of all release policies below a folder."
    return Writer(descriptions(PAGE)).document(ProjectEntry, IDENTITY, "ppdm-flow project file", what)
