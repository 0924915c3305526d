"""Params that are lists: declared, given, and put in the place of a list."""

from __future__ import annotations

import pytest

LISTED = """\
params:
  channel: {type: list, help: what others know}
  values: {type: list, default: [a, "b, c"], choices: [a, "b, c", d]}
privacy:
  templates:
    t: {channel: "${params.channel}", sensitive: {disease: "${params.values}"}, confidence: 0.5}
"""


def template_of(loaded):
    return loaded.tree["privacy"]["templates"]["t"]


def entry(given: str) -> str:
    return f"extends: [{{template: t.yaml, with: {{{given}}}}}]\n"


@pytest.mark.parametrize(
    ("given", "channel"),
    [("channel: [job, city]", ["job", "city"]), ("channel: job", ["job"]), ('channel: ["a,b"]', ["a,b"])],
)
def test_a_list_stands_for_a_whole_value(read, start, codes, given: str, channel: list[str]) -> None:
    loaded = read(start + entry(given), {"t.yaml": LISTED})
    assert template_of(loaded)["channel"] == channel
    assert template_of(loaded)["sensitive"]["disease"] == ["a", "b, c"]


@pytest.mark.parametrize(
    ("text", "channel"),
    [("job,city", ["job", "city"]), (" job , city ", ["job", "city"]), ('["a,b", c]', ["a,b", "c"]), ("job", ["job"])],
)
def test_a_list_on_the_command_line(read, start, text: str, channel: list[str], monkeypatch) -> None:
    assert template_of(read(start + "extends: t.yaml\n", {"t.yaml": LISTED}, {"channel": text}))["channel"] == channel
    monkeypatch.setenv("PPDM_TEST_LIST", text)
    by_env = LISTED.replace("help: what others know", "from_env: PPDM_TEST_LIST")
    loaded = read(start + "extends: t.yaml\n", {"t.yaml": by_env})
    assert template_of(loaded)["channel"] == channel
    assert ("privacy", "templates", "t", "channel", "0") in loaded.hidden
    assert all(c not in repr(d) for d in loaded.diagnostics for c in channel if len(c) > 3)


def test_items_among_items(read, start) -> None:
    text = LISTED.replace('channel: "${params.channel}"', 'channel: [age, "${params.channel}"]')
    loaded = read(start + entry("channel: [job, city]"), {"t.yaml": text})
    assert template_of(loaded)["channel"] == ["age", "job", "city"]


def test_a_list_goes_on_through_a_template_in_between(read, start) -> None:
    mid = "params: {known: {type: list}}\nextends: [{template: t.yaml, with: {channel: '${params.known}'}}]\n"
    loaded = read(start + entry("known: [job]").replace("t.yaml", "m.yaml"), {"t.yaml": LISTED, "m.yaml": mid})
    assert template_of(loaded)["channel"] == ["job"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("channel: [job], values: [a, x]", "PPF306"),
        ("channel: []", "PPF306"),
        ("channel: [job, {a: b}]", "PPF208"),
        ("channel: {a: b}", "PPF208"),
        ("values: [a]", "PPF305"),
        ("channle: [job], channel: [job]", "PPF310"),
    ],
)
def test_faults(read, start, codes, given: str, code: str) -> None:
    assert code in codes(read(start + entry(given), {"t.yaml": LISTED}))


def test_a_fault_names_the_value_and_the_declaration(read, start) -> None:
    (fault,) = [
        d
        for d in read(start + entry("channel: [job], values: [x]"), {"t.yaml": LISTED}).diagnostics
        if d.code == "PPF306"
    ]
    assert fault.span.file == "p.yaml"
    assert [(r.span.file, r.span.line) for r in fault.related] == [("t.yaml", 3)]


@pytest.mark.parametrize("ends", ["min: 2", "max: 0"])
def test_bounds_are_on_the_length(read, start, codes, ends: str) -> None:
    text = LISTED.replace("help: what others know", ends)
    assert "PPF306" in codes(read(start + entry("channel: [job]"), {"t.yaml": text}))


@pytest.mark.parametrize(
    "use", ["description: 'a ${params.x}'", "owner: ${params.x}b", "source: {with: {'${params.x}': 1}}"]
)
def test_a_list_within_a_text(read, start, codes, use: str) -> None:
    assert "PPF318" in codes(read(f"{start}params: {{x: {{type: list, default: [a, b]}}}}\n{use}\n"))


def test_a_list_where_a_text_is_wanted(read, start, codes) -> None:
    loaded = read(f"{start}params: {{x: {{type: list, default: [a, b]}}}}\nowner: ${{params.x}}\n")
    assert "PPF208" in codes(loaded)


def test_params_that_were_used_are_told(read, start, monkeypatch) -> None:
    monkeypatch.setenv("PPDM_TEST_LIST", "canary-1")
    text = (
        start
        + "params: {a: {type: list, default: [x, y], help: the a}, b: {from_env: PPDM_TEST_LIST}, c: {default: z}}\n"
    )
    used = {p.name: p for p in read(text, sets={"c": "w"}).params}
    assert (used["a"].texts, used["a"].help) == (("x", "y"), "the a")
    assert used["b"].texts == ()
    assert (used["c"].texts, used["c"].place) == (("w",), None)
    assert "canary-1" not in repr(used)
