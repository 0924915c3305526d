"""Drop and rename."""

from __future__ import annotations

import pytest

from ppdm_flow.anonymizers.drop.algorithm import Drop
from ppdm_flow.anonymizers.drop.spec import DropParams
from ppdm_flow.anonymizers.rename.algorithm import Rename
from ppdm_flow.anonymizers.rename.spec import RenameParams
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

TABLE = Table.of({"a": ["1"], "addr_1": ["2"], "addr_2": ["3"], "b": ["4"]})
CONTEXT = StepContext("s", {}, ())


def after(algorithm, params) -> Table:
    return run(algorithm(params).fit(InMemoryView.of(TABLE), CONTEXT).transform, TABLE)[""]


@pytest.mark.parametrize(
    ("attributes", "left"),
    [(("a",), ("addr_1", "addr_2", "b")), (("addr_*",), ("a", "b")), (("b", "addr_[12]", "b"), ("a",)), (("*",), ())],
)
def test_drop(attributes, left):
    assert after(Drop, DropParams(attributes=attributes)).names == left


def test_drop_of_an_absent_column_names_the_nearest():
    with pytest.raises(PluginError, match="PPF606") as raised:
        after(Drop, DropParams(attributes=("adr_1",)))
    assert raised.value.diagnostics[0].hint == "did you mean `addr_1`?"


def test_rename_keeps_the_order_and_can_exchange_names():
    released = after(Rename, RenameParams(attributes={"a": "b", "b": "a", "addr_1": "street"}))
    assert released.names == ("b", "street", "addr_2", "a")
    assert [released[n].texts() for n in released.names] == [["1"], ["2"], ["3"], ["4"]]


@pytest.mark.parametrize("names", [{"a": "b"}, {"a": "x", "b": "x"}])
def test_rename_to_one_name_is_refused(names):
    with pytest.raises(PluginError, match="PPF607"):
        after(Rename, RenameParams(attributes=names))


def test_rename_of_an_absent_column_is_refused():
    with pytest.raises(PluginError, match="PPF606"):
        after(Rename, RenameParams(attributes={"z": "y"}))
