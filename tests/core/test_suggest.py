"""Did you mean?"""

from __future__ import annotations

import pytest

from ppdm_flow.core.pages import synonyms
from ppdm_flow.core.suggest import closest, confident

ROLES = ["identifier", "quasi_identifier", "sensitive", "target", "insensitive", "weight", "subject", "items"]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("qid", ROLES, "quasi_identifier"),
        ("quasi-identifier", ROLES, "quasi_identifier"),
        ("Sensitive", ROLES, "sensitive"),
        ("sensitve", ROLES, "sensitive"),
        ("insensitve", ROLES, "insensitive"),
        ("kk", ["k", "attributes"], "k"),
        ("x", ["k", "attributes"], None),
        ("minsupport", ["minsup", "k"], "minsup"),
        ("sensitive_values", ["channel", "sensitive", "confidence"], "sensitive"),
        ("type", ["role", "format"], "format"),
        ("type", ["type", "format"], "type"),
        ("zebra", ROLES, None),
        ("", ROLES, None),
        ("r", ["r1", "r2"], "r1"),
    ],
)
def test_what_is_meant(word: str, known: list[str], meant: str | None) -> None:
    assert closest(word, known) == meant


def test_nothing_known() -> None:
    assert closest("a", []) is None
    assert confident("a", []) is None


def test_synonyms_lead_to_other_words() -> None:
    for synonym, words in synonyms().items():
        assert synonym == synonym.lower()
        assert set(words) != {synonym}


def test_a_word_that_is_longer_than_any_has_no_near_one():
    known = [f"{'k_anonymity' * 3}{number}" for number in range(3_000)]
    assert closest("x" * 100_000, known) is None
    assert closest(known[7][:-1] + "_7", known) == known[7]
