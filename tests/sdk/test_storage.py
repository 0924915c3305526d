"""What readers may tell beside their cells is in a protocol."""

from __future__ import annotations

import pytest

from ppdm_flow.sdk import registry
from ppdm_flow.sdk.storage import InspectingSource, MergingSource

GIVEN = {"long": {"id": "who", "item": "what"}, "randomized_sets": {"operator": "operator.json"}}


def opened(name, tmp_path):
    spec = registry.load("sources", name)
    return spec, spec.load()(spec.params.model_validate(GIVEN.get(name, {})), tmp_path / "nothing")


@pytest.mark.parametrize("name", [plugin.name for plugin in registry.listed("sources") if plugin.built_in])
def test_a_reader_that_merges_says_how_often(name, tmp_path):
    spec, source = opened(name, tmp_path)
    assert isinstance(source, MergingSource) == ("repeated" in spec.params.model_fields)
    if isinstance(source, MergingSource):
        assert source.repeated == 0


@pytest.mark.parametrize("name", [plugin.name for plugin in registry.listed("sources") if plugin.built_in])
def test_what_stands_beside_the_cells_is_looked_for_in_tables(name, tmp_path):
    _, source = opened(name, tmp_path)
    inspecting = {"csv", "excel", "parquet", "sas", "spss", "stata"}
    assert isinstance(source, InspectingSource) == (name in inspecting)
