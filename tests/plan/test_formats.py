"""Formats by the endings that their cards claim."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import pytest

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.plan import formats
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params, PluginSpec


def claims(group):
    return {plugin.name: registry.load(group, plugin.name).info.endings for plugin in registry.listed(group)}


@pytest.mark.parametrize("group", ["sources", "sinks"])
def test_no_two_built_ins_claim_one_file(group):
    for one, other in permutations(claims(group).values(), 2):
        assert not [(mine, theirs) for mine in one for theirs in other if mine.endswith(theirs)]


@pytest.mark.parametrize("group", ["sources", "sinks"])
def test_every_claimed_ending_means_its_format(group):
    for kind, endings in claims(group).items():
        assert all(ending == ending.lower() and ending.startswith(".") for ending in endings)
        assert {formats.inferred(group, f"Of.2024{ending.upper()}") for ending in endings} <= {kind}


def test_only_the_cards_that_are_needed_are_imported():
    code = (
        "import sys; from ppdm_flow.plan import formats; assert formats.inferred('sources', 'a.csv.gz') == 'csv';"
        "print([m for m in sys.modules if m.startswith('ppdm_flow.sources.') and m.endswith('.spec')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['ppdm_flow.sources.csv.spec']"


@pytest.mark.parametrize(
    ("kind", "name", "implied"),
    [
        ("csv", "a.TSV", {"delimiter": "\t"}),
        ("long", "a.tsv.gz", {"delimiter": "\t"}),
        ("csv", "a.csv", {}),
        ("parquet", "a.tsv", {}),
        ("stata", "a.tsv", {}),
        (None, "a.tsv", {}),
    ],
)
def test_what_an_ending_says_of_how_a_file_is_written(kind, name, implied):
    assert formats.implied("sources", kind, name) == implied


class FakeEntry:
    """An entry point of another package whose card claims these endings."""

    def __init__(self, name, *endings):
        self.name = name
        self.endings = endings

    def load(self):
        if not self.endings:
            raise ImportError
        info = PluginInfo(self.name, Kind.SOURCE, "A test's.", endings=self.endings)
        return PluginSpec(info, Params, "nowhere:Nothing")


@pytest.fixture
def installed(monkeypatch):
    """Install formats of other packages, from what their cards claim."""

    def install(**formats_):
        others = [
            registry.ListedPlugin("sources", name, f"acme-{name}", "1", FakeEntry(name, *endings))
            for name, endings in formats_.items()
        ]
        every = (*registry.listed("sources"), *others)
        monkeypatch.setattr(registry, "listed", lambda group: every)

    return install


def test_other_packages_have_what_no_built_in_claims(installed):
    installed(broken=(), one=(".csv", ".gis"), two=(".map.gis", ".twice"), three=(".twice",))
    assert formats.inferred("sources", "a.csv") == "csv"
    assert formats.inferred("sources", "a.gis") == "one"
    assert formats.inferred("sources", "a.map.gis") == "two"
    assert formats.inferred("sources", "a.twice") is None
    assert "`one`, " in formats.choices("sources")
    assert "broken" not in formats.choices("sources")


def test_advice_names_what_is_installed():
    tables = "`csv`, `excel`, `parquet`, `spss` or `stata`"
    assert formats.choices("sinks") == f"say `format:` with {tables}; sets are `baskets` or `transactions`"
