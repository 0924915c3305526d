"""Sets in the one form that steps on single items can work on."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table


def baskets(table: Table, name: str) -> Baskets:
    """Return the sets of a column. Raises PluginError where they are randomized, or no sets."""
    column = table.sets.get(name)
    if column is None:
        raise PluginError(Diagnostic("PPF754", f"the column `{name}` holds no sets"))
    if not isinstance(column, Baskets):
        text = f"the sets of `{name}` are randomized: what is done to their items comes before that"
        raise PluginError(Diagnostic("PPF573", text))
    return column
