"""Policies that a program gives as texts or maps, as files that are read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Policy = str | os.PathLike[str] | Mapping[str, Any]
"""A policy's path; its text, which has more than one line; or the map that its text would be."""


@contextmanager
def as_policy(policy: Policy, home: Path) -> Iterator[Path]:
    """Yield the path of a policy; paths in one that has no file of its own go from ``home``."""
    if isinstance(policy, Mapping):
        text = json.dumps(policy, ensure_ascii=False, indent=2, default=str)  # JSON is YAML
    elif isinstance(policy, str) and "\n" in policy:
        text = policy
    else:
        yield Path(policy)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix=".policy-", dir=home, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        yield Path(file.name)


def as_sets(sets: Mapping[str, Any] | None) -> dict[str, str]:
    """Return values of params as ``--set`` has them."""
    return {name: as_text(value) for name, value in (sets or {}).items()}


def as_text(value: Any) -> str:
    """Return a value as the command line has it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
