"""Release policies as values: read once, changed by methods that return a new policy, which is valid or an error."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ppdm_flow.api.check import check
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.errors import PolicyError, PpdmError, UsageError
from ppdm_flow.policy.edit.changes import PolicyEdit, Tree, put, remove, tree_of
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.report.diagnostics import render

_NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class ReleasePolicy:
    """A valid policy: its ``text``, and the folder ``home`` from which its paths go. Functions take it as a policy.

    Each method returns another policy and leaves this one as it is; comments of the text stay. It raises PolicyError
    with all faults where the other policy is not valid.

    >>> policy = read_policy('''
    ... version: 1
    ... name: clinic
    ... source: {path: clinic.csv}
    ... attributes: {age: {role: quasi_identifier}, ill: {role: insensitive}}
    ... privacy: none
    ... releases: {study: {path: study.csv}}
    ... ''')
    >>> stricter = policy.with_role("ill", "sensitive").with_requirement("k_anonymity", k=5)
    >>> stricter.with_step("recode", "mondrian")
    <policy clinic: k_anonymity; steps recode>
    """

    text: str
    home: Path = Path()

    def with_role(self, attribute: str, role: str, **more: Any) -> ReleasePolicy:
        """Return the policy with another role of an attribute; ``more`` are its other keys, such as ``type``."""
        return self._with(*(put(("attributes", attribute, key), each) for key, each in {"role": role, **more}.items()))

    def with_requirement(self, kind: str, name: str | None = None, /, **bounds: Any) -> ReleasePolicy:
        """Return the policy with a requirement, or another bound of one that it has.

        ``name`` is the attribute or the entry of kinds that have several: ``with_requirement("l_diversity", "ill",
        l=3)``.
        """
        cleared = [remove(("privacy",))] if self._tree().get("privacy") == _NONE else []
        place = ("privacy", kind) if name is None else ("privacy", kind, name)
        return self._with(*cleared, put(place, bounds))

    def with_step(self, name: str, use: str, **parameters: Any) -> ReleasePolicy:
        """Return the policy with a step at the end, or with other parameters of one that it has."""
        return self._with(put(("steps", name), {"use": use, **({"with": parameters} if parameters else {})}))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the text to a file. Raises OSError."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _with(self, *changes: PolicyEdit) -> ReleasePolicy:
        return _checked(edited(self.text, changes), self.home)

    def _tree(self) -> Mapping[str, Tree]:
        tree = tree_of(self.text)
        return tree if isinstance(tree, Mapping) else {}

    def __repr__(self) -> str:
        """Return its name, what it requires and its steps, in one line."""
        tree = self._tree()
        required, steps = _names(tree.get("privacy")), _names(tree.get("steps"))
        parts = [f"requires {', '.join(required)}" if required else "", f"steps {', '.join(steps)}" if steps else ""]
        said = "; ".join(part.removeprefix("requires ") for part in parts if part)
        return f"<policy {tree.get('name')}{f': {said}' if said else ''}>"


def _names(part: Tree | None) -> Sequence[str]:
    return list(part) if isinstance(part, Mapping) else ()


Policy = str | os.PathLike[str] | Mapping[str, Any] | ReleasePolicy
"""A policy's path; its text, which has more than one line; the map that its text would be; or a policy as a value."""


def wrong_argument(text: str, note: str | None = None) -> UsageError:
    """Return the error for an argument that a function cannot take."""
    return UsageError(Diagnostic("PPF696", text, notes=(note,) if note else ()))


@contextmanager
def in_full() -> Iterator[None]:
    """Give errors of the block the text of the command line: each diagnostic with place, line, hint and help."""
    try:
        yield
    except PpdmError as error:
        error.args = (render(error.diagnostics, error.sources).rstrip("\n"),)
        raise


def read_policy(
    policy: str | os.PathLike[str] | Mapping[str, Any], home: str | os.PathLike[str] = "."
) -> ReleasePolicy:
    """Return a policy as a value, from its path, its text, or the map that its text would be.

    Paths in a policy that is no file go from ``home``. Raises PolicyError with all its faults, and OSError where the
    file cannot be read.
    """
    if isinstance(policy, Mapping):
        return _checked(as_json(policy, indent=2), Path(home))
    if isinstance(policy, str) and "\n" in policy:
        return _checked(policy, Path(home))
    return _checked(Path(policy).read_text(encoding="utf-8"), Path(policy).parent)


def _checked(text: str, home: Path) -> ReleasePolicy:
    """Return a policy that has no error. Raises PolicyError."""
    with policy_file(text, home) as file:
        outcome = check([Path(file.name)])
    if has_errors(outcome.diagnostics):
        with in_full():
            raise PolicyError(outcome.diagnostics, outcome.sources)
    return ReleasePolicy(text, home)


# Policies that a program gives as texts or maps, as files that are read.


@contextmanager
def as_policy(policy: Policy, home: Path) -> Iterator[Path]:
    """Yield the path of a policy; paths in one that has no file of its own go from ``home``."""
    if isinstance(policy, ReleasePolicy):
        text, home = policy.text, policy.home
    elif isinstance(policy, Mapping):
        text = as_json(policy, indent=2)
    elif isinstance(policy, str) and "\n" in policy:
        text = policy
    else:
        yield Path(policy)
        return
    with policy_file(text, home) as file:
        yield Path(file.name)


def as_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, which is YAML. Raises UsageError for keys that no text has, and for what holds itself."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    except (TypeError, ValueError, RecursionError):
        raise wrong_argument("a map has keys that are no texts, or holds itself") from None


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def policy_file(text: str, home: Path) -> IO[bytes]:
    """Return an open file with a policy's text. Raises UsageError where ``home`` takes no file."""
    try:
        file = tempfile.NamedTemporaryFile(suffix=".yaml", prefix=".policy-", dir=home)  # noqa: SIM115  # the caller's
    except (OSError, ValueError):
        raise wrong_argument("`home` is no folder in which a file can be made") from None
    file.write(text.encode("utf-8", "surrogatepass"))  # half a surrogate is a fault of the policy
    file.flush()
    return file
