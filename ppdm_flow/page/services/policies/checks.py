"""What is wrong with policies, as their authors see it: files are named from the folder on, not from the disk on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import date
from pathlib import Path

from ppdm_flow.api.drafts.check import DraftCheck, check_draft
from ppdm_flow.core.clock import utc_today
from ppdm_flow.core.diagnostics import Diagnostic, Related, Severity
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.records import dataclass
from ppdm_flow.page.services.policies.files import TABLES, YAML, files_below
from ppdm_flow.page.services.policies.policies import Policies, PolicyText
from ppdm_flow.page.services.policies.reach import reaches
from ppdm_flow.policy.edit.tree import tree_of

_Signature = tuple[date, tuple[tuple[str, int, int], ...]]


@dataclass(frozen=True, slots=True)
class State:
    """How many errors and open warnings a file has."""

    errors: int
    warnings: int


@dataclass(slots=True)
class Checks:
    """Checks texts of one folder, and keeps what was found in its files as long as none of them changes.

    ``private`` is the server's own folder, whose files no policy may name.
    """

    policies: Policies
    private: Path
    today: Callable[[], date] = utc_today
    _kept: tuple[_Signature, Mapping[str, State]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, name: str, text: str) -> DraftCheck:
        """Check a text as if it stood in the file of this name; diagnostics name files from the folder."""
        checked = check_draft(self.policies.folder / name, text, self.today)
        named = {each: from_folder(each, self.policies.folder) for each in checked.diagnostics}
        waived = {named[each]: waiver for each, waiver in checked.waived.items() if each in named}
        return replace(checked, diagnostics=tuple(named.values()), waived=waived)

    def reaches_private(self, name: str, text: str) -> bool:
        """Return whether a text names a file of the server's private folder, as it stands or once it is resolved."""
        path = self.policies.folder / name
        trees: list[object] = []
        with suppress(PpdmError):
            trees.append(tree_of(text, name))
        loaded = check_draft(path, text, self.today).loaded
        trees += [] if loaded is None else [loaded.tree]
        return any(reaches(tree, path.parent, self.private) for tree in trees)

    def name_of(self, policy: PolicyText) -> str:
        """Return the name of the folder with a policy's runs: what it calls itself, or its file where it has faults."""
        plan = self.check(policy.name, policy.text).plan
        return Path(policy.name).stem if plan is None else plan.policy

    def states(self) -> Mapping[str, State]:
        """Return the state of every YAML file."""
        files = files_below(self.policies.folder, (*YAML, *TABLES))
        signature = self.today(), tuple((name, *_stamp(path)) for name, path in files.items())
        with self._lock:
            if self._kept is None or self._kept[0] != signature:
                states = {name: self._state(name, path) for name, path in files.items() if name.endswith(YAML)}
                self._kept = signature, states
            return self._kept[1]

    def _state(self, name: str, path: Path) -> State:
        checked = self.check(name, path.read_bytes().decode(errors="replace"))
        return state_of(checked)


def state_of(checked: DraftCheck) -> State:
    """Return the numbers of errors and of warnings that nothing waives."""
    open_ = [each.severity for each in checked.diagnostics if each not in checked.waived]
    return State(open_.count(Severity.ERROR), open_.count(Severity.WARNING))


def from_folder(each: Diagnostic, folder: Path) -> Diagnostic:
    """Return a diagnostic whose files are named by their path in the folder."""
    base = f"{folder}{os.sep}"

    def short(text: str) -> str:
        return text.replace(base, "")

    related = tuple(Related(replace(r.span, file=short(r.span.file)), short(r.text)) for r in each.related)
    return replace(
        each,
        message=short(each.message),
        span=None if each.span is None else replace(each.span, file=short(each.span.file)),
        hint=None if each.hint is None else short(each.hint),
        help=None if each.help is None else short(each.help),
        notes=tuple(map(short, each.notes)),
        related=related,
    )


def _stamp(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return about.st_mtime_ns, about.st_size
