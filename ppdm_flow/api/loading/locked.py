"""What ``--locked`` asks: a policy that uses nothing but what its lock file has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.loading.lock_uses import FileDigests, Uses, plugins
from ppdm_flow.core.diagnostics import Diagnostic, in_order
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.plan.compile import CompileResult
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.loading import NO_SETS
from ppdm_flow.policy.lock import FILE, LockFile, LockFileFinder, drifts, read

if TYPE_CHECKING:
    from ppdm_flow.engine.options import LockDigests

Sets = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LockedPolicy:
    """A policy that is as locked, by which file, and the digests of its definitions by absolute path.

    ``since`` is the number of the first reading of them that counts.
    """

    file: LockFile
    name: str
    definitions: Mapping[str, str]
    since: int = 0

    @property
    def digests(self) -> LockDigests:
        """What a run holds the definitions against that it has read."""
        from ppdm_flow.engine.options import LockDigests  # noqa: PLC0415  # `check` needs no engine

        return LockDigests(self.file.sha256, self.definitions, self.since)

    def still(self, loaded: PolicyReading, plan: Plan) -> None:
        """Raise PolicyError where the plan for the data needs a plugin of a release that the lock does not have.

        So where the list of signers is another one than it was when the policy was held against the lock.
        """
        uses = tuple(plugins(plan, implied=True))
        drifted = in_order((*drifts(self.file.lock, self.name, uses, loaded.file), *self._other_signers(plan)))
        if drifted:
            raise PolicyError(drifted, loaded.sources)

    def _other_signers(self, plan: Plan) -> Iterator[Diagnostic]:
        given = plan.approvals
        if given is not None and self.definitions.get(given.signers) != given.sha256:
            yield Diagnostic("PPF339", "the list of signers was changed while a locked run read it", given.span)


_REVIEWED = "`--locked` runs the reviewed policy; only a param without a default can be set"


def given_otherwise(loaded: PolicyReading, sets: Sets, files: Library | None) -> Iterator[Diagnostic]:
    """Yield a fault for each param that the policy gives a value, and ``sets`` another one (PPF648).

    ``files`` are those of the policy as they were parsed.

    A param without a value is for the user of the policy to set. Another value from the environment than the declared
    default is a fault, too.
    """
    library = None if files is None else Library(parsed=files.parsed)  # what templates come to depends on the values
    own = {param.name: param for param in load(Path(loaded.file), library=library).params} if sets else {}
    for param in loaded.params:
        if param.overridden:
            text = f"the environment gives the param `{param.name}` another value than the locked policy does"
            yield Diagnostic("PPF648", text, param.declared, help=_REVIEWED)
        fixed = own.get(param.name)
        if param.name in sets and fixed is not None and fixed.texts and fixed.texts != param.texts:
            yield Diagnostic(
                "PPF648",
                f"`--set {param.name}=…` gives the param `{param.name}` another value than the locked policy does",
                fixed.place or fixed.declared,
                hint="write the value here: `ppdm-flow diff` says what it changes",
                help=_REVIEWED,
            )


@dataclass(slots=True)
class Locks:
    """Lock files, each found and read once, and the digests of what policies share."""

    digests: FileDigests = field(default_factory=FileDigests)
    _nearest: LockFileFinder = field(default_factory=LockFileFinder)
    _read: dict[Path, LockFile] = field(default_factory=dict)

    def hold(
        self,
        loaded: PolicyReading,
        plan: Plan,
        sets: Sets = NO_SETS,
        files: Library | None = None,
        *,
        with_data: bool = False,
    ) -> LockedPolicy:
        """Return what holds the policy, as `judge` finds it.

        Raises PolicyError for what drifted, UsageError where there is no lock.
        """
        locked, diagnostics = self.judge(loaded, plan, sets, files, with_data=with_data)
        if diagnostics:
            raise PolicyError(diagnostics, loaded.sources)
        return locked

    def judge(
        self,
        loaded: PolicyReading,
        plan: Plan,
        sets: Sets = NO_SETS,
        files: Library | None = None,
        *,
        with_data: bool = False,
    ) -> tuple[LockedPolicy, tuple[Diagnostic, ...]]:
        """Return the lock and what of the policy is not as locked; ``sets`` are what the command line gives its params.

        ``files`` are those of the policy as they were parsed, so that none has to be read once more.

        Raises UsageError (PPF681, PPF682) where there is no lock or it cannot be used, PolicyError (PPF319) where a
        file cannot be read.
        """
        file = self._file(Path(loaded.file))
        looking = Uses(file.path.parent, self.digests)
        uses = looking.of(loaded, plan, with_data=with_data)
        name = looking.name(loaded.file)
        definitions = {use.path: use.pin.sha256 for use in uses if use.path}
        diagnostics = (*drifts(file.lock, name, uses, loaded.file), *given_otherwise(loaded, sets, files))
        return LockedPolicy(file, name, definitions), in_order(diagnostics)

    def judged(
        self, loaded: PolicyReading, outcome: CompileResult, sets: Sets = NO_SETS, files: Library | None = None
    ) -> CompileResult:
        """Return the outcome with differences from the lock among the faults. Raises UsageError as :meth:`judge`."""
        if outcome.plan is None:
            return outcome
        try:
            _, diagnostics = self.judge(loaded, outcome.plan, sets, files)
        except PolicyError as error:
            diagnostics = error.diagnostics
        return replace(outcome, diagnostics=in_order((*outcome.diagnostics, *diagnostics)))

    def _file(self, policy: Path) -> LockFile:
        path = self._nearest.of(policy)
        if path is None:
            raise UsageError(missing(policy.absolute().parent))
        if path not in self._read:
            self._read[path] = read(path, shown(path))
        return self._read[path]


def shown(file: Path) -> str:
    """Return an absolute path as people write it: from the current folder."""
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else os.path.relpath(file, here)


def missing(folder: Path) -> Diagnostic:
    """Return what to say where there is no lock for policies in a folder."""
    text = f"there is no `{FILE}` in `{shown(folder)}` or above it"
    return Diagnostic("PPF681", text, help="`ppdm-flow lock` writes it")
