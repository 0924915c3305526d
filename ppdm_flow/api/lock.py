"""Writing the lock file, and holding policies against it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.api import files
from ppdm_flow.api.loading.lock_uses import Uses
from ppdm_flow.api.loading.locked import missing, shown
from ppdm_flow.api.loading.policies import find_policies, is_policy, sound_project
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.lock import (
    FILE,
    Lock,
    LockFile,
    LockFileFinder,
    Use,
    changes,
    drifts,
    locked,
    only,
    read,
    stale,
    text,
)

FOLDER = "policies"
"""What is locked where nothing is named."""
Change = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class LockResult:
    """The lock file with what changed in it: a sign (``+``, ``-``, ``~``), the thing, and what became of it."""

    file: Path
    policies: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class LockComparison:
    """Everything in which the lock and what is there differ."""

    file: Path
    policies: int
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]

    @property
    def holds(self) -> bool:
        """Whether they are the same."""
        return not self.diagnostics


def lock(paths: Sequence[str | Path] = (), sets: Mapping[str, str] = {}, upgrade: Sequence[str] = ()) -> LockResult:
    """Write the lock of all policies in ``paths`` (files, folders, glob patterns), and of those that it has already.

    ``paths`` are by default those of the project file, else the folder ``policies``, else the current one.
    ``upgrade`` names the only templates, files, plugins or distributions whose content or version may differ from the
    lock's. Raises PolicyError where a policy is invalid, UsageError where the lock cannot be read or written, or more
    differs than may.
    """
    state = _gathered(paths, sets, needed=bool(upgrade))
    before = state.written.lock if state.written else None
    if upgrade and before is not None:
        only(before, state.now, upgrade)
    changed = tuple(changes(before, state.now))
    content = text(state.now)
    if state.written is None or state.written.text != content:
        files.write(state.file, content)
    return LockResult(Path(shown(state.file)), len(state.now.policies), changed)


def lock_check(paths: Sequence[str | Path] = (), sets: Mapping[str, str] = {}) -> LockComparison:
    """Hold all policies in ``paths`` and in the lock against it; nothing is written. Raises as :func:`lock` does."""
    state = _gathered(paths, sets, needed=True)
    if state.written is None:
        raise UsageError(missing(state.file.parent))
    written_lock = state.written.lock
    each = [d for path, uses in state.uses.items() for d in drifts(written_lock, state.names[path], uses, str(path))]
    every = in_order((*_once(each), *stale(written_lock, state.now)))
    return LockComparison(
        Path(shown(state.file)), len(state.uses), every, {**state.sources, shown(state.file): state.written.text}
    )


@dataclass(frozen=True, slots=True)
class _LockState:
    """The lock as it is written, as it would be now, and what each policy uses."""

    file: Path
    written: LockFile | None
    now: Lock
    uses: Mapping[Path, tuple[Use, ...]]
    names: Mapping[Path, str]
    sources: Mapping[str, str]


def _places() -> tuple[Path, ...]:
    project = sound_project()
    if project is not None and project.policies:
        return project.policies
    return (Path(FOLDER if Path(FOLDER).is_dir() else "."),)


def _gathered(paths: Sequence[str | Path], sets: Mapping[str, str], *, needed: bool) -> _LockState:
    policies = find_policies(paths or _places()).policies
    file = _file(policies)
    there = os.path.lexists(file)
    if needed and not there:
        raise UsageError(missing(file.parent))
    written = read(file, shown(file)) if there else None
    looking = Uses(file.parent)
    names = {path: looking.name(path) for path in policies}
    for name in sorted(set(written.lock.policies) - set(names.values())) if written else ():
        path = Path(shown(file.parent / name))
        if path.is_file() and is_policy(path):
            names[path] = name
    uses, sources = _uses(names, sets, looking)
    return _LockState(file, written, locked({names[p]: u for p, u in uses.items()}), uses, names, sources)


def _uses(
    policies: Iterable[Path], sets: Mapping[str, str], looking: Uses
) -> tuple[dict[Path, tuple[Use, ...]], dict[str, str]]:
    """Return what each policy uses, and the texts. Raises PolicyError with the faults of all of them."""
    library = Library()
    uses_of: dict[Path, tuple[Use, ...]] = {}
    sources: dict[str, str] = {}
    faults: list[Diagnostic] = []
    for path in policies:
        loaded = load(path, sets, library=library)
        outcome = compile_policy(loaded, digested=False, clock=None)  # the day has no part in what is locked
        sources |= loaded.sources
        if outcome.plan is None:
            faults += outcome.diagnostics
            continue
        try:
            uses_of[path] = looking.of(loaded, outcome.plan)
        except PolicyError as error:
            faults += error.diagnostics
    if has_errors(faults):
        raise PolicyError(faults, sources)
    return uses_of, sources


def _file(policies: Sequence[Path]) -> Path:
    """Return the lock file of these policies, there or not. Raises UsageError where they have several."""
    there = LockFileFinder()
    locks = {there.of(path): path for path in policies}
    if len(locks) > 1:
        named = " and ".join(f"`{path}` has {f'`{shown(file)}`' if file else 'none'}" for file, path in locks.items())
        text_ = f"these policies have several lock files: {named}"
        raise UsageError(Diagnostic("PPF684", text_, help="lock each part by itself"))
    (file,) = locks
    if file is not None:
        return file
    folders = [path.absolute().parent for path in policies]
    here = Path.cwd()
    if all(here in (folder, *folder.parents) for folder in folders):
        return here / FILE
    return Path(os.path.commonpath(folders)) / FILE


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Say what concerns many policies at the first of them, with how many more."""
    alike: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in diagnostics:
        alike.setdefault((each.code, each.message), []).append(each)
    return [_counted(some) for some in alike.values()]


def _counted(some: Sequence[Diagnostic]) -> Diagnostic:
    first, more = some[0], len({d.span for d in some}) - 1
    places = "place" if more == 1 else "places"
    return replace(first, notes=(*first.notes, f"and at {more} more {places}")) if more else first
