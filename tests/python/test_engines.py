"""Where a program's run is worked on: names, sessions, and data that only Spark reads."""

from __future__ import annotations

import pytest

import ppdm_flow as pf
from ppdm_flow.api.where import EngineChoice
from ppdm_flow.core.errors import UsageError
from ppdm_flow.python import calls
from ppdm_flow.python.calls import where_of

POLICY = """version: 1
name: visits
source: {path: nowhere.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv}}
"""


class Session:
    """What a session of Spark's is known by."""

    createDataFrame = None  # the name is Spark's


class Frame:
    """What a DataFrame of Spark's has."""

    sparkSession = Session()  # the name is Spark's


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calls, "is_spark_frame", lambda data: isinstance(data, Frame))


def code(caught) -> str:
    [diagnostic] = caught.value.diagnostics
    return diagnostic.code


def test_an_engine_is_a_name_a_session_or_where_the_data_is() -> None:
    session, frame = Session(), Frame()
    assert where_of(None, None, None, "visits.csv") == EngineChoice("local")
    assert where_of("spark", "local[2]", 100, None) == EngineChoice("spark", "local[2]", None, 100)
    assert where_of(session, None, None, "table:x") == EngineChoice("spark", None, session)
    assert where_of(None, None, None, frame) == EngineChoice("spark", None, frame.sparkSession)
    assert where_of("spark", None, None, frame) == EngineChoice("spark", None, frame.sparkSession)
    assert where_of(session, None, None, frame) == EngineChoice("spark", None, session)
    assert where_of("local", None, None, frame) == EngineChoice("local")


def test_what_is_no_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="PPF696"):
        where_of(3, None, None, None)
    with pytest.raises(UsageError, match="64"):
        where_of(None, None, 63, None)
    for options in ({"engine": "dask"}, {"master": "local[2]"}, {"engine": Session(), "master": "local[2]"}):
        with pytest.raises(UsageError) as caught:
            pf.run(POLICY, "table:x", **options)
        assert code(caught) == "PPF954"


def test_a_frame_of_spark_is_for_its_engine_only() -> None:
    with pytest.raises(UsageError) as caught:
        pf.run(POLICY, Frame(), engine="local")
    assert code(caught) == "PPF954"


@pytest.mark.parametrize(
    "call",
    [
        lambda data: pf.run(POLICY, data),
        lambda data: pf.check(POLICY, data),
        lambda data: pf.plan(POLICY, data),
        lambda data: pf.sweep(POLICY, {"privacy.k_anonymity.k": [2]}, data),
        lambda data: pf.diff(POLICY, POLICY, data),
        pf.profile,
        lambda data: pf.audit(POLICY, data, "visits.csv"),
    ],
    ids=["run", "check", "plan", "sweep", "diff", "profile", "audit"],
)
def test_a_table_without_spark_is_refused(call) -> None:
    with pytest.raises(UsageError) as caught:
        call("table:clinic.visits")
    assert code(caught) == "PPF954"
    assert "table:clinic.visits" in str(caught.value)
    assert "--engine spark" in str(caught.value)
