"""What a reader can make of cells that several steps made, one after the other."""

from __future__ import annotations

import pytest

from ppdm_flow.core.lineage import CellKind, Derivation, Lineage, own


def derived(kind: CellKind, *parts: CellKind) -> CellKind:
    """The kind of a column that a step makes of columns of some kinds."""
    names = [f"a{i}" for i in range(len(parts))]
    lineages = {n: Lineage(own(n).computed_from, kind=each) for n, each in zip(names, parts, strict=True)}
    return Derivation(tuple(names), kind=kind).lineage(lineages).kind


@pytest.mark.parametrize("part", [k for k in CellKind if k is not CellKind.GENERATED])
def test_numbers_of_classes_stay_numbers_of_classes(part):
    assert derived(CellKind.CLASS_ID, part, CellKind.MAP) is CellKind.CLASS_ID


def test_numbers_of_generated_classes_are_generated():
    assert derived(CellKind.CLASS_ID, CellKind.GENERATED, CellKind.GENERATED) is CellKind.GENERATED


@pytest.mark.parametrize("part", list(CellKind))
def test_maps_take_the_kind_of_what_they_map(part):
    assert derived(CellKind.MAP, part) is part
