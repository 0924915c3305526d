"""What a policy uses that a lock fixes, as it is now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.locked import files_of, plugins_of
from ppdm_flow.policy import PolicyReading
from ppdm_flow.policy.inheritance.references import NotFoundError, find, origin
from ppdm_flow.policy.lock import Pin, Use


@dataclass(slots=True)
class FileDigests:
    """The SHA-256 of files, each read once however many policies use it."""

    _found: dict[str, str] = field(default_factory=dict)

    def of(self, path: str) -> str:
        """Return the digest of a file. Raises OSError."""
        if path not in self._found:
            self._found[path] = sha256(Path(path))
        return self._found[path]


@dataclass(frozen=True, slots=True)
class UsedTemplate:
    """A template as diagnostics call it, its file, the release that brings it (or nothing), and who asks for it."""

    shown: str
    path: str
    release: tuple[str, str]
    place: Span


@dataclass(frozen=True, slots=True)
class LockNames:
    """What files are called in the lock: by their way from ``folder``, or from the package that brings them.

    ``packages`` are the folders of installed templates with distribution and version. Where they are installed differs
    from machine to machine, so the files beside them are called ``pkg:DISTRIBUTION/way``.
    """

    folder: Path
    packages: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def of(self, path: str | Path) -> str:
        """Return the name of a file. Raises UsageError (PPF319) where it has bytes that are no text."""
        absolute = os.path.abspath(path)  # noqa: PTH100  (keeps symlinks)
        home = self._home(absolute)
        start = "" if home is None else f"pkg:{self.packages[home][0]}/"
        name = start + os.path.relpath(absolute, home or self.folder).replace(os.sep, "/")
        if not is_utf8(name):
            text = f"the lock cannot name a file whose name is not UTF-8: {name!a}"
            raise UsageError(Diagnostic("PPF319", text, help="rename it"))
        return name

    def release(self, path: str) -> tuple[str, str]:
        """Return distribution and version of the package that a file is in; empty for a file of the repository."""
        home = self._home(path)
        return ("", "") if home is None else self.packages[home]

    def _home(self, path: str) -> str | None:
        return next((home for home in self.packages if path.startswith(home + os.sep)), None)


@dataclass(frozen=True, slots=True)
class Uses:
    """Looks up what policies use; names of files are relative to ``folder``, which is where the lock stands."""

    folder: Path
    digests: FileDigests = field(default_factory=FileDigests)

    def of(self, loaded: PolicyReading, plan: Plan, *, with_data: bool = False) -> tuple[Use, ...]:
        """Return the templates, files and plugins of a policy; ``with_data`` says that the source is not its own.

        Templates and the list of signers are told by what was read of them. Raises PolicyError (PPF319) where a file
        cannot be read.
        """
        templates = tuple(_templates(loaded))
        packages = {os.path.dirname(t.path): t.release for t in templates if t.shown.startswith("pkg:")}  # noqa: PTH120  (text)
        named = LockNames(self.folder, packages)
        return (
            *(self._template(loaded, each, named) for each in templates),
            *self._files(loaded, plan, named),
            *plugins(plan, with_data=with_data),
        )

    def templates(self, loaded: PolicyReading) -> dict[str, str]:
        """Return the SHA-256 of the templates that a policy stands on, by their references.

        Of one that was found by an absolute path the name tells no folder: the run's directory may go to others.
        Raises PolicyError (PPF319) as :meth:`of` does.
        """
        digests: dict[str, str] = {}
        for each in _templates(loaded):
            used = self._template(loaded, each, LockNames(self.folder))
            name = os.path.basename(each.path) if os.path.isabs(each.shown) else used.name  # noqa: PTH117, PTH119  (text)
            number = 2
            while digests.get(name, used.pin.sha256) != used.pin.sha256:
                name, number = f"{name.partition(' ')[0]} {number}", number + 1
            digests[name] = used.pin.sha256
        return digests

    def name(self, path: str | Path) -> str:
        """Return the name of a file of the repository in the lock, the same on every system."""
        return LockNames(self.folder).of(path)

    def _template(self, loaded: PolicyReading, each: UsedTemplate, named: LockNames) -> Use:
        own = any(each.release)
        name = each.shown if own else named.of(each.path)
        release = each.release if own else named.release(each.path)
        return Use("templates", name, Pin(loaded.digests[each.shown], *release), each.place)

    def _files(self, loaded: PolicyReading, plan: Plan, named: LockNames) -> Iterator[Use]:
        for path, place in files_of(plan):
            name = named.of(path)
            if plan.approvals is not None and path == plan.approvals.signers:
                digest = plan.approvals.sha256  # of the list that the plan was made with
            else:
                digest = self._digest(loaded, path, name, place)
            yield Use("files", name, Pin(digest), place, path=path)

    def _digest(self, loaded: PolicyReading, path: str, name: str, place: Span | None) -> str:
        try:
            return self.digests.of(path)
        except OSError as error:
            raise _unread(loaded, name, place, error) from None


def _templates(loaded: PolicyReading) -> Iterator[UsedTemplate]:
    """Yield the templates that a policy stands on, with those that they stand on."""
    for shown, place in loaded.users.items():
        try:
            yield UsedTemplate(shown, os.path.abspath(find(shown, "").path), origin(shown), place)  # noqa: PTH100  (symlinks)
        except NotFoundError as error:
            raise PolicyError(Diagnostic("PPF319", error.message, place), loaded.sources) from None


def is_utf8(name: str) -> bool:
    """Whether a path can be written down: Linux lets it hold any bytes."""
    return not any("\ud800" <= one <= "\udfff" for one in name)


def plugins(plan: Plan, *, with_data: bool = False, implied: bool = False) -> Iterator[Use]:
    """Yield the plugins of a plan; those that the data asked for are ``implied``."""
    for (name, distribution, version), place in plugins_of(plan):
        by_data = implied or (with_data and name.startswith("sources/"))
        yield Use("plugins", name, Pin("", distribution, version), place, by_data)


def _unread(loaded: PolicyReading, name: str, place: Span | None, error: OSError) -> PolicyError:
    reason = (error.strerror or type(error).__name__).lower()
    return PolicyError(Diagnostic("PPF319", f"cannot read `{name}`: {reason}", place), loaded.sources)
