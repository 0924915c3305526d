"""The program's verbs, in the order of its help; a module is imported when its verb is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from ppdm_flow.cli.terminal.output import put
from ppdm_flow.cli.terminal.verbs import HELP, add
from ppdm_flow.core.version import VERSION

VERBS = (
    "check",
    "plan",
    "run",
    "audit",
    "verify",
    "sign",
    "key",
    "release",
    "deliver",
    "report",
    "test",
    "lock",
    "sweep",
    "diff",
    "reconstruct",
    "mine",
    "randomize",
    "hierarchy",
    "profile",
    "ledger",
    "show",
    "list",
    "explain",
    "schema",
    "init",
    "serve",
    "doctor",
)
"""In the order of the help. The module of a verb has its name, unless `_MODULES` says otherwise."""
_MODULES = {"list": "listing"}
_COMPLETE = "_PPDM_FLOW_COMPLETE"


def program(words: Sequence[str]) -> typer.Typer:
    """Return the program as far as ``words`` need it: whole for its help, a misspelt verb, and a shell's completion."""
    app = typer.Typer(
        name="ppdm-flow",
        help="A release policy in, an audited release of personal data or a refusal out.",
        epilog="Start with `ppdm-flow init DIR`, or look a word up with `ppdm-flow explain WORD`.",
        add_completion=True,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=HELP,
    )
    app.callback()(_options)
    for verb in _needed(words):
        add(app, verb, import_module(f"ppdm_flow.cli.{_MODULES.get(verb, verb)}"))
    return app


def _needed(words: Sequence[str]) -> Iterable[str]:
    one = words[0] if words and _COMPLETE not in os.environ else ""
    return (one,) if one in VERBS else VERBS


def _version(wanted: bool) -> None:
    if wanted:
        put(f"ppdm-flow {VERSION}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A release policy in, an audited release of personal data or a refusal out."""
