"""Strict JSON: one spelling of each value, and base64 likewise."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.digests import canonical
from ppdm_flow.evidence import malformed
from ppdm_flow.evidence.malformed import MalformedError

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES)
def test_canonical_bytes_go_round(value):
    assert canonical(malformed.parse(canonical(value))) == canonical(value)


@given(value=VALUES, indent=st.sampled_from([None, 1]), ascii_=st.booleans())
def test_any_other_spelling_is_refused(value, indent, ascii_):
    other = json.dumps(value, indent=indent, ensure_ascii=ascii_).encode()
    if other == canonical(value):
        assert malformed.parse(other) == value
    else:
        with pytest.raises(MalformedError):
            malformed.parse(other)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1,"a":1}', "a key twice"),
        (b'{"a":{"b":1,"b":2}}', "a key twice"),
        (b'{"a":1,"\\u0061":2}', "a key twice"),
        (b"NaN", "not finite"),
        (b"[Infinity]", "not finite"),
        (b"-Infinity", "not finite"),
        (b"1e999", "not finite"),
        (b'{"b":1,"a":2}', "not canonical"),
        (b'{"a": 1}', "not canonical"),
        (b'{"a":1}\n', "not canonical"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'"\\u0041"', "not canonical"),
        (b'"\\ud800"', "not UTF-8"),
        (b'"\xff"', "not UTF-8"),
        (b"1.0e1", "not canonical"),
        (b"-0", "not canonical"),
        (b"[1,]", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "too deeply"),
        (b"1" * 5_000, "not JSON"),
    ],
)
def test_what_is_refused(data, why):
    with pytest.raises(MalformedError, match=why):
        malformed.parse(data)


def test_what_is_too_large(monkeypatch):
    monkeypatch.setattr(malformed, "SIZE_LIMIT", 10)
    with pytest.raises(MalformedError, match="larger"):
        malformed.parse(b'"' + b"a" * 9 + b'"')


@given(data=st.binary(max_size=40))
def test_base64_goes_round(data):
    assert malformed.decode(malformed.encode(data)) == data
    assert malformed.encode(data) == base64.b64encode(data).decode()


@pytest.mark.parametrize("text", ["AQJ=", "AQI", "AQI==", "AQI=\n", " AQI=", "AQ-_", "AQI=AQI=", "é", "A"])
def test_other_spellings_of_base64_are_refused(text):
    """`AQJ=` has bits that no byte needs: it would be a second spelling of `AQI=`."""
    with pytest.raises(MalformedError):
        malformed.decode(text)
