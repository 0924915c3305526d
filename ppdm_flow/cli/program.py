"""The program's verbs, in the order of its help; a module is imported when its verb is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Annotated

import typer

from ppdm_flow.cli.terminal.output import put
from ppdm_flow.cli.terminal.verbs import HELP, add
from ppdm_flow.core.version import VERSION


def _check() -> ModuleType:
    from ppdm_flow.cli import check

    return check


def _plan() -> ModuleType:
    from ppdm_flow.cli import plan

    return plan


def _run() -> ModuleType:
    from ppdm_flow.cli import run

    return run


def _audit() -> ModuleType:
    from ppdm_flow.cli import audit

    return audit


def _verify() -> ModuleType:
    from ppdm_flow.cli import verify

    return verify


def _sign() -> ModuleType:
    from ppdm_flow.cli import sign

    return sign


def _key() -> ModuleType:
    from ppdm_flow.cli import key

    return key


def _release() -> ModuleType:
    from ppdm_flow.cli import release

    return release


def _deliver() -> ModuleType:
    from ppdm_flow.cli import deliver

    return deliver


def _report() -> ModuleType:
    from ppdm_flow.cli import report

    return report


def _test() -> ModuleType:
    from ppdm_flow.cli import test

    return test


def _lock() -> ModuleType:
    from ppdm_flow.cli import lock

    return lock


def _sweep() -> ModuleType:
    from ppdm_flow.cli import sweep

    return sweep


def _diff() -> ModuleType:
    from ppdm_flow.cli import diff

    return diff


def _reconstruct() -> ModuleType:
    from ppdm_flow.cli import reconstruct

    return reconstruct


def _mine() -> ModuleType:
    from ppdm_flow.cli import mine

    return mine


def _randomize() -> ModuleType:
    from ppdm_flow.cli import randomize

    return randomize


def _hierarchy() -> ModuleType:
    from ppdm_flow.cli import hierarchy

    return hierarchy


def _profile() -> ModuleType:
    from ppdm_flow.cli import profile

    return profile


def _ledger() -> ModuleType:
    from ppdm_flow.cli import ledger

    return ledger


def _show() -> ModuleType:
    from ppdm_flow.cli import show

    return show


def _listing() -> ModuleType:
    from ppdm_flow.cli import listing

    return listing


def _explain() -> ModuleType:
    from ppdm_flow.cli import explain

    return explain


def _schema() -> ModuleType:
    from ppdm_flow.cli import schema

    return schema


def _init() -> ModuleType:
    from ppdm_flow.cli import init

    return init


def _serve() -> ModuleType:
    from ppdm_flow.cli import serve

    return serve


def _doctor() -> ModuleType:
    from ppdm_flow.cli import doctor

    return doctor


VERBS: Mapping[str, Callable[[], ModuleType]] = {
    "check": _check,
    "plan": _plan,
    "run": _run,
    "audit": _audit,
    "verify": _verify,
    "sign": _sign,
    "key": _key,
    "release": _release,
    "deliver": _deliver,
    "report": _report,
    "test": _test,
    "lock": _lock,
    "sweep": _sweep,
    "diff": _diff,
    "reconstruct": _reconstruct,
    "mine": _mine,
    "randomize": _randomize,
    "hierarchy": _hierarchy,
    "profile": _profile,
    "ledger": _ledger,
    "show": _show,
    "list": _listing,
    "explain": _explain,
    "schema": _schema,
    "init": _init,
    "serve": _serve,
    "doctor": _doctor,
}
"""Imports the module of each verb."""
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
        add(app, verb, VERBS[verb]())
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
