"""Arguments of functions: what a function does not take is refused with a code, before anything is read."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pytest

import ppdm_flow as pf

POLICY = {
    "version": 1,
    "name": "t",
    "params": {"k": {"type": "integer", "default": 2}},
    "source": {"path": "t.csv"},
    "attributes": {"g": {"role": "quasi_identifier"}},
    "privacy": {"k_anonymity": {"k": "${params.k}"}},
    "releases": {"r": {"path": "r.csv"}},
}
FRAME = pd.DataFrame({"g": ["a", "a"]})
CALLS = {
    "run": (pf.run, {"policy": POLICY, "data": FRAME}),
    "check": (pf.check, {"policy": POLICY}),
    "plan": (pf.plan, {"policy": POLICY}),
    "audit": (pf.audit, {"policy": POLICY, "original": FRAME, "released": FRAME}),
    "sweep": (pf.sweep, {"policy": POLICY, "over": {"privacy.k_anonymity.k": [2]}, "data": FRAME}),
    "diff": (pf.diff, {"old": POLICY, "new": POLICY}),
    "profile": (pf.profile, {"data": FRAME}),
}
CIRCULAR: dict[str, object] = {}
CIRCULAR["again"] = CIRCULAR


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *((name, {"sets": ["k=3"]}) for name in ("run", "check", "plan", "audit", "sweep", "diff")),
        *((name, {"home": 5}) for name in ("run", "check", "plan", "audit", "sweep", "diff")),
        *((name, {"home": "nowhere"}) for name in ("run", "check", "plan", "audit", "sweep", "diff")),
        ("run", {"sets": {1: 2}}),
        ("run", {"sets": {"k": {(1, 2): 3}}}),
        ("run", {"policy": [POLICY]}),
        ("run", {"policy": CIRCULAR}),
        ("run", {"policy": "\0"}),
        ("run", {"policy": "\ud800"}),
        ("run", {"policy": "x" * 5000}),
        ("run", {"out": None}),
        ("run", {"out": "\0"}),
        ("run", {"progress": 5}),
        ("run", {"strict": "yes"}),
        ("run", {"engine": 5}),
        ("run", {"memory": 3}),
        ("run", {"memory": "100"}),
        ("run", {"sign": ["key"]}),
        ("audit", {"released": None}),
        ("audit", {"release": ["r"]}),
        ("audit", {"released_with": ["delimiter"]}),
        ("sweep", {"over": ["k=1"]}),
        ("sweep", {"over": {"privacy.k_anonymity.k": 5}}),
        ("sweep", {"metrics": "k"}),
        ("sweep", {"repeat": 0}),
        ("diff", {"new": 5}),
        ("profile", {"data": None}),
        ("profile", {"columns": "g"}),
    ],
)
def test_what_a_function_does_not_take_is_refused_with_a_code(name, wrong):
    function, right = CALLS[name]
    with pytest.raises(pf.UsageError, match=r"error\[PPF696\]"):
        function(**(right | wrong))
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_what_it_takes_goes_on_as_it_is():
    assert pf.run(MappingProxyType(POLICY), FRAME, sets={"k": 2}, out=Path("runs")).released
    assert pf.check(str(POLICY).replace("'", '"') + "\n" * 5000).passes()
    for function, right in CALLS.values():
        function(**right)


def test_a_release_that_is_no_name():
    result = pf.run(POLICY, FRAME)
    with pytest.raises(pf.UsageError, match="say which release"):
        result.table(["r"])
