"""Policies that a program gives as texts or maps, as files that are read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ppdm_flow.python.arguments import wrong_argument

Policy = str | os.PathLike[str] | Mapping[str, Any]
"""A policy's path; its text, which has more than one line; or the map that its text would be."""


@contextmanager
def as_policy(policy: Policy, home: Path) -> Iterator[Path]:
    """Yield the path of a policy; paths in one that has no file of its own go from ``home``."""
    if isinstance(policy, Mapping):
        text = _json(policy, indent=2)
    elif isinstance(policy, str) and "\n" in policy:
        text = policy
    else:
        yield Path(policy)
        return
    with _policy_file(text, home) as file:
        yield Path(file.name)


def _json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, which is YAML. Raises UsageError for keys that no text has, and for what holds itself."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    except (TypeError, ValueError, RecursionError):
        raise wrong_argument("a map has keys that are no texts, or holds itself") from None


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _policy_file(text: str, home: Path) -> IO[bytes]:
    """Return an open file with a policy's text. Raises UsageError where ``home`` takes no file."""
    try:
        file = tempfile.NamedTemporaryFile(suffix=".yaml", prefix=".policy-", dir=home)  # noqa: SIM115  # the caller's
    except (OSError, ValueError):
        raise wrong_argument("`home` is no folder in which a file can be made") from None
    file.write(text.encode("utf-8", "surrogatepass"))  # half a surrogate is a fault of the policy
    file.flush()
    return file


def as_sets(sets: Mapping[str, Any] | None) -> dict[str, str]:
    """Return values of params as ``--set`` has them."""
    return {name: as_text(value) for name, value in (sets or {}).items()}


def as_text(value: Any) -> str:
    """Return a value as the command line has it."""
    return value if isinstance(value, str) else _json(value)
