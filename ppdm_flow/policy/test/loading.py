"""Reading a test file: text, shape, and what its tests say against themselves; whatever is wrong is in the outcome."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic, in_order
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.files.files import Files, Library
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.language.shape import shape_of
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.test.models import CaseFile
from ppdm_flow.policy.test.rules import judge
from ppdm_flow.policy.test.shorthand import ShorthandExpander
from ppdm_flow.policy.test.tables import cells
from ppdm_flow.policy.text.nodes import UnreadableError
from ppdm_flow.policy.validate import validate


@dataclass(frozen=True, slots=True)
class LoadedTests:
    """A test file as it was read. ``cases`` is None where its shape has errors."""

    file: str
    cases: CaseFile | None
    places: ResolvedPlaces
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def policy(self) -> Path:
        """The policy's file. Only where there are ``cases``."""
        return self.beside(self.cases.policy if self.cases else "")

    def beside(self, name: str) -> Path:
        """Return the file of that name, relative to this one."""
        return Path(os.path.normpath(Path(self.file).parent / name))


def load(path: Path, library: Library | None = None) -> LoadedTests:
    """Read the tests in the file at ``path``, or in the text that ``library`` has of it. Never raises for a bad file.

    Raises
    ------
    UsageError
        Where the file itself cannot be read (PPF100).
    """
    file, files = str(path), Files(path, library)
    start = Span(file, 1, 1, 1, 1)
    try:
        root, diagnostics = files.tree(path, file)
    except UsageError as error:
        reason = error.diagnostics[0].message.rpartition(": ")[2]
        raise UsageError(Diagnostic("PPF100", f"cannot read the test file {path}: {reason}")) from None
    except UnreadableError as error:
        fault = _told(error.diagnostic)
        return LoadedTests(file, None, ResolvedPlaces({}, {(): start}), files.sources, (fault,))
    writing = ShorthandExpander()
    flat = flatten(writing.out(root, shape_of(CaseFile)))
    cases, faults = validate(flat, CaseFile)
    every = [*diagnostics, *writing.diagnostics, *faults, *cells(flat)]
    if cases is not None:
        every += judge(cases, flat.places)
    return LoadedTests(file, cases if not writing.diagnostics else None, flat.places, files.sources, in_order(every))


def _told(fault: Diagnostic) -> Diagnostic:
    """Say what a test file is, where the reader says it of a policy."""
    if fault.code not in ("PPF116", "PPF117"):
        return fault
    message = "the file is empty" if fault.code == "PPF116" else "a test file is a map of keys and values"
    return Diagnostic(fault.code, message, fault.span, hint="write `policy: FILE` and `tests:`")
