"""A verb is a module with a function of its name and ``EXAMPLES``."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import typer

HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
_NAMES = {"listing": "list"}


def add(app: typer.Typer, module: ModuleType) -> None:
    """Give the program one more verb, with the module's examples below its help."""
    short = module.__name__.rpartition(".")[2]
    function: Callable[..., None] = getattr(module, short)
    lines = "\n".join(f"  ppdm-flow {example}" for example in module.EXAMPLES)
    epilog = f"\b\nExamples:\n{lines}"
    app.command(_NAMES.get(short, short), epilog=epilog, context_settings=HELP)(function)
