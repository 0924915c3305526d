"""Values are looked for in texts as words of their own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.sdk import wording
from ppdm_flow.sdk.wording import CodeTexts, Explanations, _bounded, _places, unexplained

WORDS = st.text("ab1 _-é²𝟙", max_size=5)


class NoCode:
    def of(self, home):
        return iter(())


def is_explained(value, text, pieces):
    """The plain twin: one value at a time, by patterns with borders."""
    lower, wanted = text.casefold(), value.casefold()
    places = [(m.start(), m.start() + len(wanted)) for m in re.finditer(f"(?={_bounded(wanted)})", lower)]
    for piece in pieces:
        spans = [(m.start(), m.start() + len(piece)) for m in re.finditer(f"(?={re.escape(piece)})", lower)]
        places = [p for p in places if not any(a <= p[0] and p[1] <= b for a, b in spans)]
    return not places


@given(wanted=WORDS, text=st.text("ab1 _-é²𝟙", max_size=30))
def test_places_are_those_that_a_pattern_with_borders_finds(wanted, text):
    found = [(m.start(), m.start() + len(wanted)) for m in re.finditer(f"(?={_bounded(wanted)})", text)]
    assert list(_places(wanted, text)) == found


@given(value=WORDS, text=st.text("ab1 _-", max_size=20), pieces=st.lists(st.text("ab1 _-", min_size=1, max_size=6)))
def test_a_value_is_explained_alike_alone_and_among_many(value, text, pieces):
    known = Explanations([p.casefold() for p in pieces], NoCode())
    for _ in range(2):
        assert known.has(value, text, "nowhere") == is_explained(value, text, [p.casefold() for p in pieces])


@pytest.mark.parametrize(
    ("value", "text", "explained"),
    [
        ("poor", "poor utility of `x`", True),
        ("poor", "poor people", False),
        ("poor", "poor utility of the poor", False),
        ("Other", "other, Other", True),
        ("the", "of them: the", False),
    ],
)
def test_pieces_explain_what_lies_within_them(value, text, explained):
    pieces = ("poor utility of", "other", "of the")
    assert Explanations(pieces, NoCode()).has(value, text, "nowhere") is explained
    assert is_explained(value, text, pieces) is explained


def test_words_that_nobody_wrote():
    pieces = ("the column `", "` has ", " value", "s", "age")
    assert not unexplained("the column `age` has 3 values", pieces)
    assert unexplained("the column `age` has Rome", pieces)
    assert unexplained("the columns `age` has", ("the column `",))


SENTENCE = st.lists(st.sampled_from(["poor", "utility", "of", "the", "Poor", "12", "of the"]), min_size=1, max_size=6)


@given(
    said=st.lists(SENTENCE.map(" ".join), min_size=1, max_size=4),
    policy=st.lists(SENTENCE.map(" ".join).map(str.casefold), max_size=3),
    code=st.lists(SENTENCE.map(" ".join).map(str.casefold), max_size=4),
    asked=st.lists(st.tuples(st.integers(0, 3), SENTENCE.map(" ".join)), min_size=1, max_size=12),
)
def test_many_questions_of_few_texts_have_the_same_answers(said, policy, code, asked):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wording, "constants", lambda _home: iter(code))
        known = Explanations(policy, CodeTexts())
        for place, value in asked:
            text = said[place % len(said)]
            plain = is_explained(value, text, policy) or is_explained(value, text, code)
            assert known.has(value, text, "home") is plain
