"""Policies that only one of two folders has."""

from __future__ import annotations

import pytest

import ppdm_flow as pf
from ppdm_flow import api

POLICY = """version: 1
name: {}
source: {{path: t.csv}}
attributes: {{a: {{role: quasi_identifier}}}}
privacy: {{k_anonymity: {{k: 5}}}}
releases: {{r: {{path: r.csv}}}}
"""


@pytest.fixture
def folders(tmp_path):
    for folder, names in (("old", ("one",)), ("new", ("one", "two", "three"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.yaml").write_text(POLICY.format(name))
    return str(tmp_path / "old"), str(tmp_path / "new")


def test_what_is_accepted_is_for_the_caller_to_say(folders):
    assert api.diff(*folders).weaker
    some = api.diff(*folders, accepts=lambda added: added.loaded.policy.name == "two")
    assert some.weaker
    assert [name.rpartition("/")[2] for name in some.document["accepted"]] == ["two.yaml"]
    assert not api.diff(*folders, accepts=lambda added: added.plan is not None).weaker
    assert not api.diff(*reversed(folders)).weaker


def test_programs_may_accept_them(folders):
    assert pf.diff(*folders).weaker
    assert not pf.diff(*folders, allow_added=True).weaker
