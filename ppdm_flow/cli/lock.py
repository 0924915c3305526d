"""``ppdm-flow lock``."""

from __future__ import annotations

from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import settings
from ppdm_flow.cli.terminal.options import Sets, option
from ppdm_flow.cli.terminal.output import complain, put, say
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.phrases import counted

EXAMPLES = ("lock", "lock --check", "lock policies/ --upgrade pkg:acme-policies/hospital")


def lock(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH", help="Policies, their folders, or glob patterns.", show_default="policies/, else ."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say what differs from the lock; write nothing.")] = False,
    upgrade: Annotated[
        list[str] | None,
        option("--upgrade", "NAME", "The only template, file, plugin or distribution that may differ; repeatable."),
    ] = None,
    sets: Sets = None,
) -> None:
    """Write down which templates, definitions and plugins the policies use, in `ppdm-flow.lock`.

    Exit status: 0 written, or with --check as locked, 1 something differs, 2 a policy or the lock is at fault, or more
    differs than --upgrade names.
    """
    if check and upgrade:
        raise UsageError(Diagnostic("PPF683", "`--check` writes nothing, so there is nothing to upgrade"))
    if check:
        compared = api.lock_check(paths or (), settings(sets or ()))
        complain(compared.diagnostics, compared.sources)
        differ = counted(len(compared.diagnostics), "difference") if compared.diagnostics else "as locked"
        say(f"{compared.file}: {counted(compared.policies, 'policy')}, {differ}")
        raise typer.Exit(0 if compared.holds else 1)
    written = api.lock(paths or (), settings(sets or ()), upgrade or ())
    if written.changes:
        put("\n".join(f"{sign} {thing}{': ' if what else ''}{what}" for sign, thing, what in written.changes))
    changed = counted(len(written.changes), "change") if written.changes else "no changes"
    say(f"{written.file}: {counted(written.policies, 'policy')}, {changed}")
