"""What the figures say that attacks on people who are named as targets have. Imported by specs: light."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

TARGETS: Mapping[str, FigureInfo] = {
    "rows": FigureInfo(
        "the released rows that fit a target (`target.NAME.ATTRIBUTE.rows`): what is known of the person may stand"
        " behind their labels, and their value is none that the person never has",
        better="higher",
    ),
    "values": FigureInfo(
        "the sensitive values that are left for a target; at 1 it is known. It does not exist where no row fits, or"
        " where a row that fits has no value",
        better="higher",
    ),
}
