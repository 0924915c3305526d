"""A command that never writes over what it reads, nor over a ledger, a key or a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from ppdm_flow import api

_WRITTEN = frozenset({"output_file", "output_files", "picture"})
"""The parameters of verbs that name a file to be written."""


class Careful(TyperCommand):
    """Looks at the words of a command before it begins."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises UsageError where it would write over what must not be lost (PPF664)."""
        apart(ctx.params)
        return super().invoke(ctx)


def apart(params: Mapping[str, Any]) -> None:
    """Raise UsageError where a file to be written is one that must not be lost."""
    written = [path for name in _WRITTEN for path in _paths(params.get(name)) if path.is_file()]
    if not written:
        return
    read = [path for name, value in params.items() if name not in _WRITTEN for path in _paths(value)]
    given = [str(each).partition("=") for each in params.get("sets") or ()]
    sets = {name: value for name, equals, value in given if equals}
    for path in written:
        api.check_output(path, read, sets)


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, str | Path) and "\0" not in str(each):
            yield Path(each)
