"""Changes that links of other pages ask for."""

from __future__ import annotations

import html
import re

import pytest
from starlette.datastructures import QueryParams

from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.views.policies.routes import asked_changes
from ppdm_flow.policy.edit.changes import put, remove, to_json

ADDRESS = "/policies/study/people.yaml/propose"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("privacy.k_anonymity.k=5", put(["privacy", "k_anonymity", "k"], "5")),
        ('attributes."a.b=c".role=target', put(["attributes", "a.b=c", "role"], "target")),
        ("a.b=x=y", put(["a", "b"], "x=y")),
        ("a.b=", put(["a", "b"], "")),
        (
            "steps.s={use: mondrian, with: {attributes: [a, b]}}",
            put(["steps", "s"], {"use": "mondrian", "with": {"attributes": ["a", "b"]}}),
        ),
        ("waivers.w.reason=[see: {there]", put(["waivers", "w", "reason"], "[see: {there]")),
        ("a.b=two\nlines", put(["a", "b"], "two\nlines")),
    ],
)
def test_single_values_are_read(text, change):
    assert asked_changes(QueryParams([("set", text)])) == (change,)


def test_several_kinds_come_together_in_order():
    asked = QueryParams([("set", "a=1"), ("unset", "b.c"), ("changes", to_json([put(["d"], 2)])), ("back", "/x")])
    assert asked_changes(asked) == (put(["d"], 2), put(["a"], "1"), remove(["b", "c"]))


@pytest.mark.parametrize(
    "query",
    [[("set", "nothing")], [("set", "=1")], [("set", "a..b=1")], [("changes", "{")], [("changes", '[{"path": 1}]')]],
)
def test_what_cannot_be_read_is_refused(query):
    with pytest.raises(UsageError, match="PPF128"):
        asked_changes(QueryParams(query))


@pytest.mark.slow
def test_a_link_shows_what_it_changes_and_weakens_and_the_rest_of_the_text_stays(steward, filled):
    before = filled.site.policies.read("study/people.yaml")
    page = steward.client.get(ADDRESS, params=[("set", "privacy.k_anonymity.k=4"), ("back", "/runs")]).text
    assert "It becomes weaker" in page
    text = html.unescape(re.search(r"<textarea name=\"text\"[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
    assert text == before.text.replace("k: 7", "k: 4")
    assert filled.site.policies.read("study/people.yaml") == before


def test_a_link_that_cannot_be_read_says_so_and_an_unreadable_policy_too(steward, filled):
    assert steward.client.get(ADDRESS, params={"set": "x"}).status_code == 400
    (filled.site.policies.folder / "study" / "people.yaml").write_text("a: [\n")
    answer = steward.client.get(ADDRESS, params={"set": "a=1"})
    assert answer.status_code == 400
    assert "PPF" in answer.text
