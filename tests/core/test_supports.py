"""Supports with their unit: read as a policy writes them, and turned into rows."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ppdm_flow.core.supports import SupportBound, Supported, parsed
from ppdm_flow.sdk.spec import Params


class Some(Params):
    """A plugin's parameters."""

    min_support: Supported


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"count": "20"}, SupportBound(count=20)),
        ({"ratio": "0.02"}, SupportBound(ratio=0.02)),
        ({"ratio": "1"}, SupportBound(ratio=1.0)),
        ("20", SupportBound(count=20)),
        (" 1_000 ", SupportBound(count=1000)),
        ("0.02", SupportBound(ratio=0.02)),
        ("1.0", SupportBound(ratio=1.0)),
        ("2e-3", SupportBound(ratio=0.002)),
        (20, SupportBound(count=20)),
        (0.5, SupportBound(ratio=0.5)),
        (SupportBound(count=3), SupportBound(count=3)),
    ],
)
def test_what_a_policy_may_write(written: object, meant: SupportBound) -> None:
    assert parsed(written) == meant
    assert Some.model_validate({"min_support": written}).model_dump(mode="json") == {"min_support": meant.document}


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("0", "at least 1"),
        ("-3", "at least 1"),
        ("1.5", "at most 1"),
        ("0.0", "above 0"),
        ("nan", "ROWS"),
        ("many", "ROWS"),
        ("", "ROWS"),
        ("9" * 5000, "at most 1"),
        (True, "ROWS"),
        (["20"], "ROWS"),
        (None, "ROWS"),
        ({}, "either"),
        ({"count": "2", "ratio": "0.1"}, "not both"),
        ({"cuont": "2"}, "nothing else"),
        ({"count": "2.5"}, "whole number"),
        ({"count": None}, "whole number"),
        ({"count": "0"}, "at least 1"),
        ({"ratio": "2"}, "at most 1"),
        ({"ratio": "inf"}, "at most 1"),
        ({"ratio": ["0.1"]}, "at most 1"),
    ],
)
def test_what_it_may_not(written: object, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        parsed(written)
    assert "many" not in str(error.value)
    with pytest.raises(ValidationError, match=says):
        Some.model_validate({"min_support": written})


@pytest.mark.parametrize(
    ("support", "total", "rows"),
    [
        (SupportBound(count=20), 5, 20),
        (SupportBound(ratio=0.02), 12_960, 260),
        (SupportBound(ratio=0.07), 100, 7),  # 0.07 * 100 is above 7 in floats
        (SupportBound(ratio=0.001), 100, 1),
        (SupportBound(ratio=0.5), 0, 1),
        (SupportBound(ratio=1.0), 10**12, 10**12),
    ],
)
def test_rows(support: SupportBound, total: int, rows: int) -> None:
    assert support.rows(total) == rows


def test_words() -> None:
    assert str(SupportBound(count=12_000)) == "12,000"
    assert str(SupportBound(ratio=0.02)) == "2%"
    assert str(SupportBound(ratio=0.125)) == "12.5%"
