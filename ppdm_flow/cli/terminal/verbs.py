"""A verb is a module with a function of its name, ``EXAMPLES``, and perhaps the ``COMMAND`` that parses its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand

from ppdm_flow import api

_WRITTEN = frozenset({"output_file", "output_files", "picture"})
"""The parameters of verbs that name a file to be written."""


class NoOverwriteCommand(TyperCommand):
    """Checks the output files of a command before it starts."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises UsageError if it would overwrite a protected file (PPF664)."""
        refuse_overwriting(ctx.params)
        return super().invoke(ctx)


def refuse_overwriting(params: Mapping[str, Any]) -> None:
    """Raise UsageError if an output file is an existing protected file."""
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


HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def add(app: typer.Typer, verb: str, module: ModuleType) -> None:
    """Give the program one more verb, with the module's examples below its help."""
    short = module.__name__.rpartition(".")[2]
    function: Callable[..., None] = getattr(module, short)
    lines = "\n".join(f"  ppdm-flow {example}" for example in module.EXAMPLES)
    epilog = f"\b\nExamples:\n{lines}"
    kind = getattr(module, "COMMAND", NoOverwriteCommand)
    app.command(verb, cls=kind, epilog=epilog, context_settings=HELP)(function)
