"""What a verb may do to a process that the program has for itself."""

from __future__ import annotations

import typer

from ppdm_flow.sdk import registry


def keep_unused_away(ctx: typer.Context) -> None:
    """Let pyarrow do without pandas and scipy without f2py, where the process is our own and has no plugin of others.

    Such a plugin could hand pandas' objects to pyarrow.
    """
    if ctx.obj and registry.only_built_in():
        from ppdm_flow.tables import f2py_away, pandas_away  # noqa: PLC0415  # verbs are listed without them, too

        pandas_away.keep_pandas_away()
        f2py_away.keep_f2py_away()
