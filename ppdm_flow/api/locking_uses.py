"""What a policy uses that a lock fixes, as it is now."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.core.server_address import masked
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.locked import files_of, plugins_of
from ppdm_flow.policy import Loaded
from ppdm_flow.policy.lock import Pin, Use
from ppdm_flow.policy.references import NotFoundError, find, origin
from ppdm_flow.policy.text import decode

_HOLD_STILL = "let nothing write to it, and try again"


@dataclass(slots=True)
class Digests:
    """The bytes of files and their SHA-256, each read once however many policies use it."""

    _found: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def of(self, path: str) -> tuple[bytes, str]:
        """Return bytes and digest. Raises OSError."""
        if path not in self._found:
            data = Path(path).read_bytes()
            self._found[path] = (data, hashlib.sha256(data).hexdigest())
        return self._found[path]


@dataclass(frozen=True, slots=True)
class Uses:
    """Looks up what policies use; names of files are relative to ``folder``, which is where the lock stands."""

    folder: Path
    digests: Digests = field(default_factory=Digests)

    def of(self, loaded: Loaded, plan: Plan, *, with_data: bool = False) -> tuple[Use, ...]:
        """Return the templates, files and plugins of a policy; ``with_data`` says that the source is not its own.

        Raises PolicyError (PPF319) where a file cannot be read, or is not what was read before.
        """
        return (*self._templates(loaded), *self._files(loaded, plan), *plugins(plan, with_data=with_data))

    def name(self, path: str | Path) -> str:
        """Return a file's name in the lock, the same on every system."""
        absolute = os.path.abspath(path)  # noqa: PTH100  (keeps symlinks)
        return os.path.relpath(absolute, self.folder).replace(os.sep, "/")

    def _templates(self, loaded: Loaded) -> Iterator[Use]:
        for shown, place in loaded.users.items():
            try:
                path = str(find(shown, "").path)
                distribution, version = origin(shown)
                data, digest = self.digests.of(path)
            except NotFoundError as error:
                raise PolicyError(Diagnostic("PPF319", error.message, place), loaded.sources) from None
            except OSError as error:
                raise _unread(loaded, shown, place, error) from None
            text = loaded.sources.get(shown)
            if text is not None and masked(decode(data, shown)) != text:
                fault = Diagnostic("PPF319", f"`{shown}` was changed while it was read", place, help=_HOLD_STILL)
                raise PolicyError(fault, loaded.sources)
            name = shown if distribution else self.name(path)
            yield Use("templates", name, Pin(digest, distribution, version), place)

    def _files(self, loaded: Loaded, plan: Plan) -> Iterator[Use]:
        for path, place in files_of(plan):
            try:
                _, digest = self.digests.of(path)
            except OSError as error:
                raise _unread(loaded, self.name(path), place, error) from None
            yield Use("files", self.name(path), Pin(digest), place, path=path)


def plugins(plan: Plan, *, with_data: bool = False, implied: bool = False) -> Iterator[Use]:
    """Yield the plugins of a plan; those that the data asked for are ``implied``."""
    for (name, distribution, version), place in plugins_of(plan):
        by_data = implied or (with_data and name.startswith("sources/"))
        yield Use("plugins", name, Pin("", distribution, version), place, by_data)


def _unread(loaded: Loaded, name: str, place: Span | None, error: OSError) -> PolicyError:
    reason = (error.strerror or type(error).__name__).lower()
    return PolicyError(Diagnostic("PPF319", f"cannot read `{name}`: {reason}", place), loaded.sources)
