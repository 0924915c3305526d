"""What a verb may do to a process that the program has for itself."""

from __future__ import annotations

import typer

from ppdm_flow.sdk import registry


def keep_pandas_away(ctx: typer.Context) -> None:
    """Let pyarrow do without pandas, where the process is our own and no plugin of others could hand pandas to it."""
    if ctx.obj and registry.only_built_in():
        from ppdm_flow.tables import pandas_away  # noqa: PLC0415  # verbs are listed without pyarrow, too

        pandas_away.keep_pandas_away()
