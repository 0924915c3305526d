"""A verb is a module with a function of its name, ``EXAMPLES``, and perhaps the ``COMMAND`` that parses its words."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import typer

from ppdm_flow.cli.terminal.no_overwrite import NoOverwriteCommand

HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def add(app: typer.Typer, verb: str, module: ModuleType) -> None:
    """Give the program one more verb, with the module's examples below its help."""
    short = module.__name__.rpartition(".")[2]
    function: Callable[..., None] = getattr(module, short)
    lines = "\n".join(f"  ppdm-flow {example}" for example in module.EXAMPLES)
    epilog = f"\b\nExamples:\n{lines}"
    kind = getattr(module, "COMMAND", NoOverwriteCommand)
    app.command(verb, cls=kind, epilog=epilog, context_settings=HELP)(function)
