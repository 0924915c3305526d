"""A small run, made once; each test has a copy of its own."""

from __future__ import annotations

import pytest
from signed_runs import POLICY, copied, key, small_run

from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory):
    """A released run with two releases."""
    return small_run(tmp_path_factory.mktemp("evidence"))


@pytest.fixture(scope="session")
def other_run(tmp_path_factory):
    """A run of another policy of the same name, on other rows."""
    return small_run(tmp_path_factory.mktemp("other"), POLICY.replace("{k: 3}", "{k: 2}"), rows=80)


@pytest.fixture
def run(whole_run, tmp_path):
    return copied(whole_run, tmp_path)


@pytest.fixture
def signed_run(run):
    """The same, signed by alice as data owner."""
    sign_run(run, key("alice"), "data-owner", utc_now())
    return run
