"""Statements on cards to those who receive a table: how a line is read, and when it applies."""

from __future__ import annotations

import pytest

from ppdm_flow.core.card_pages import TOPICS, RecipientStatement, said


def test_a_line_is_read_with_its_conditions():
    line = "not true (how: nearest or random, by: unset): Totals: they may be off (by a base)."
    statement = RecipientStatement.read(line)
    assert (statement.topic, statement.text) == ("not true", "Totals: they may be off (by a base).")
    assert statement.applies({"how": "random", "by": []})
    assert not statement.applies({"how": "random", "by": ["region"]})
    assert not statement.applies({"how": "controlled", "by": []})


@pytest.mark.parametrize(
    ("condition", "value", "applies"),
    [
        ("a: true", True, True),
        ("a: true", False, False),
        ("a: false", False, True),
        ("a: set", 0, True),
        ("a: set", None, False),
        ("a: set", False, False),
        ("a: unset", {}, True),
        ("a: unset", (), True),
        ("a: unset", "x", False),
        ("a: 5", 5, True),
    ],
)
def test_a_condition_is_about_one_parameter(condition, value, applies):
    assert RecipientStatement.read(f"true ({condition}): It is so.").applies({"a": value}) is applies


def test_a_parameter_that_is_not_there_is_unset():
    assert RecipientStatement.read("true (a: unset): It is so.").applies({})
    assert not RecipientStatement.read("true (a: set): It is so.").applies({})


@pytest.mark.parametrize("line", ["", "It is so.", "maybe: It is so.", "true: ", "true (how): It is so.", "true (): x"])
def test_other_lines_are_refused(line):
    with pytest.raises(ValueError, match=r"a line begins with|a condition names"):
        RecipientStatement.read(line)


def test_statements_are_told_by_topic_in_their_order():
    statements = tuple(RecipientStatement.read(f"{topic}: {word}.") for word in ("One", "Two") for topic in TOPICS)
    assert all(said(statements, topic, {}) == ("One.", "Two.") for topic in TOPICS)
