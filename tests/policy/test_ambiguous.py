"""The warning on values that other YAML readers change: where it speaks, and where it does not."""

from __future__ import annotations

import datetime as dt

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ppdm_flow.policy.loading import reading

LOUD = [
    "NO",
    "no",
    "Yes",
    "on",
    "off",
    "true",
    "False",
    "010",
    "0x1F",
    "0o17",
    "0b1",
    "1_000",
    "1.10",
    "1e3",
    "+5",
    ".5",
]
LOUD += [
    "12:30",
    "1:02:03.5",
    "2024-01-01",
    "2024-1-1",
    "2024-01-01T10:00:00Z",
    ".inf",
    "-.INF",
    ".nan",
    "~",
    "null",
    "5.",
]
QUIET = [
    "5",
    "-2",
    "0",
    "1.5",
    "0.25",
    "y",
    "n",
    "M",
    "F",
    "N/A",
    "none",
    "HIV",
    "a:b",
    "12-30",
    "1.2.3",
    "",
    "_",
    "007a",
    "+",
    ".",
]


@pytest.mark.parametrize("text", LOUD)
def test_loud(text: str) -> None:
    assert reading(text)


@pytest.mark.parametrize("text", QUIET)
def test_quiet(text: str) -> None:
    assert reading(text) is None


@given(st.text("0123456789.-+:_eExXobnaifTZtruesyolNO ", min_size=1, max_size=10).map(str.strip))
@example("0")
def test_whatever_pyyaml_changes_is_noticed(text: str) -> None:
    """An ordinary loader either gives the text back, or the warning speaks."""
    try:
        value = yaml.safe_load(f"a: {text}")["a"]
    except (yaml.YAMLError, ValueError):
        return
    if not text or isinstance(value, (list, dict)):
        return
    unchanged = (
        value == text if isinstance(value, str) else not isinstance(value, (bool, dt.date)) and str(value) == text
    )
    if not unchanged:
        assert reading(text), (text, value)


def test_once_a_list_and_only_for_data_values(read, start) -> None:
    text = start.replace("name: test", "name: test\ndescription: NO\nowner: 010")
    text = text.replace("disease: {role: sensitive}", "disease: {role: sensitive, domain: [yes, no, 010, x]}")
    text += "steps: {s: {use: drop, with: {attributes: [010]}}}\nprivacy: {k_anonymity: {k: 2}}\n"
    (fault,) = read(text).diagnostics
    assert (fault.code, fault.severity) == ("PPF110", "warning")
    assert "2 more here" in fault.message


def test_quoted_and_substituted_values_are_not_ambiguous(read, start, codes) -> None:
    text = start.replace(
        "disease: {role: sensitive}", "disease: {role: sensitive, domain: ['NO', \"010\", '${params.x}']}"
    )
    text += "params: {x: {default: yes}}\nprivacy:\n  k_anonymity: {k: 2}\n"
    text += "  sensitivities: {disease: {values: {'010': {r1: 0.1, r2: 0.2}}}}\n"
    assert codes(read(text)) == []
