"""Where plugins are worked on by a run on Spark: the page has a line for each, as their cards say it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.explain.cards import matrix
from ppdm_flow.core.asks import UNKNOWN, AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk import registry

PAGE = "concepts/spark_matrix"
FILE = Path(__file__).parents[2] / "ppdm_flow" / "pages" / f"{PAGE}.md"


def tables() -> dict[str, str]:
    """Return the table of each section, of the plugins that are built in."""
    cards = {
        group: [registry.load(group, plugin.name).info for plugin in registry.listed(group) if plugin.built_in]
        for group in ("anonymizers", "audits")
    }
    return {
        "Steps": matrix(cards["anonymizers"]),
        "Requirements": matrix(info for info in cards["audits"] if info.serves),
        "Other audits": matrix(info for info in cards["audits"] if not info.serves),
    }


def test_the_page_has_what_the_cards_say() -> None:
    """``PPDM_WRITE_EXPECTED=1`` writes the tables anew: read the difference before you commit it."""
    if os.environ.get("PPDM_WRITE_EXPECTED"):
        head = FILE.read_text(encoding="utf-8").partition("**Steps**")[0]
        FILE.write_text(head + "\n\n".join(f"**{n}**\n\n{t}" for n, t in tables().items()) + "\n", encoding="utf-8")
    sections = FILE.read_text(encoding="utf-8")
    for name, table in tables().items():
        assert f"**{name}**\n\n{table}\n" in sections


def test_each_has_a_line() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    for group in ("anonymizers", "audits"):
        for plugin in registry.listed(group):
            if plugin.built_in:
                info = registry.load(group, plugin.name).info
                own = [f"privacy.{kind}" for kind in info.serves] if info.kind is Kind.AUDIT else []
                name = (own or [info.name])[0]
                assert sum(line.startswith(f"| `{name}`") for line in lines) == 1, name


@pytest.mark.parametrize(
    ("plugin", "line"),
    [
        ("rank_swap", "- on Spark: driver (the whole table)"),
        ("rename", "- on Spark: distributed (nothing)"),
        ("add_noise", "- on Spark: driver (rows, a few fragments at a time)"),
        (
            "sample",
            (
                "- on Spark: distributed (counts of combinations);"
                " with `size` or with `by`: driver (its columns of all rows)"
            ),
        ),
    ],
)
def test_explain_says_it(plugin, line) -> None:
    assert line in api.explain(plugin).splitlines()


def test_formats_are_not_worked_on() -> None:
    assert "on Spark" not in api.explain("csv").split("## Parameters")[0]


def test_who_says_nothing_is_taken_to_need_all() -> None:
    silent = PluginInfo("other", Kind.AUDIT, "of another package")
    assert silent.asks is UNKNOWN
    assert silent.asks.of(frozenset(), {}) is DataAccess.TABLE
    assert "| `other` | driver | its columns of all rows |  |" in matrix([silent])


def test_cases_and_parameters() -> None:
    demand = AccessRequirements(
        DataAccess.COUNTS, {"people": DataAccess.ROWS, "size": DataAccess.TABLE, "form=sets": DataAccess.FRAGMENTS}
    )
    assert demand.of(frozenset(), {"size": None, "form": "lists"}) is DataAccess.COUNTS
    assert demand.of(frozenset(), {"size": None, "form": "sets"}) is DataAccess.FRAGMENTS
    assert demand.of(frozenset({"people"}), {"form": "sets"}) is DataAccess.ROWS
    assert demand.of(frozenset({"people"}), {"size": 3}) is DataAccess.TABLE
    assert demand.worst is DataAccess.TABLE
