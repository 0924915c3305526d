"""Changes in a policy's text: what changes, what stays, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy.edit.changes import (
    FIRST,
    REMOVED,
    PolicyEdit,
    as_tree,
    at,
    changed,
    from_json,
    put,
    remove,
    same,
    to_json,
    tree_of,
)
from ppdm_flow.policy.edit.changes import in_line as line
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.edit.marked import marked
from ppdm_flow.policy.edit.remarks import remarks

POLICY = """\
# what this is for
version: 1  # the language
name: 'clinic'

attributes:
  # known to neighbours
  age: {role: quasi_identifier, type: integer}  # in years
  sex:   {role: sensitive}
  # no more

privacy:
  k_anonymity: {k: 5}
steps:   # none yet
"""


def test_only_the_changed_value_is_written_anew():
    new = edited(POLICY, [put(("privacy", "k_anonymity", "k"), 10)])
    assert new == POLICY.replace("k: 5", "k: 10")


def test_entries_are_added_removed_and_made_on_the_way():
    new = edited(
        POLICY,
        [
            put(("attributes", "zip"), {"role": "identifier"}, after="age"),
            remove(("attributes", "sex")),
            put(("steps", "recode"), {"use": "mondrian"}),
            put(("privacy", "t_closeness", "sex", "t"), 0.2),
            put(("description",), "it's: new", after="name"),
        ],
    )
    assert (
        new
        == """\
# what this is for
version: 1  # the language
name: 'clinic'
description: "it's: new"

attributes:
  # known to neighbours
  age: {role: quasi_identifier, type: integer}  # in years
  zip: {role: identifier}
  # no more

privacy:
  k_anonymity: {k: 5}
  t_closeness: {sex: {t: 0.2}}
steps:   # none yet
  recode: {use: mondrian}
"""
    )


def test_a_change_that_changes_nothing_leaves_the_text_as_it_is():
    for change in (put(("name",), "clinic"), put(("privacy",), {"k_anonymity": {"k": 5}}), remove(("gates", "x"))):
        assert edited(POLICY, [change]) is POLICY


def test_steps_are_put_in_order_and_moved():
    text = "steps:\n  a: {use: x}  # one\n  b: {use: y}  # two\n  c: {use: z}\n"
    first = edited(text, [put(("steps", "new"), {"use": "w"}, after=FIRST)])
    assert first == text.replace("steps:\n", "steps:\n  new: {use: w}\n")
    tree = tree_of(text)
    moved = {name: tree["steps"][name] for name in ("b", "c", "a")}
    assert edited(text, [put(("steps",), moved)]) == "steps:\n  b: {use: y}  # two\n  c: {use: z}\n  a: {use: x}\n"


@pytest.mark.parametrize(
    ("text", "change", "wanted"),
    [
        ("a: {x: 1, y: 2}\n", remove(("a", "y")), "a: {x: 1}\n"),
        ("a: {x: 1, y: 2,}\n", remove(("a", "x")), "a: {y: 2,}\n"),
        ("a: {x: 1}\n", remove(("a", "x")), "a: {}\n"),
        ("a:\n  # why\n  x: 1\nb: 2\n", remove(("a", "x")), "a: {}\n  # why\nb: 2\n"),
        ("a: {}\n", put(("a", "x"), "z"), "a:\n  x: z\n"),
        ("a:\n- 1\n- 2 # two\n- 3\n", remove(("a", "1")), "a:\n- 1\n- 3\n"),
        ("a:\n- 1\n- 2 # two", put(("a", "2"), 3), "a:\n- 1\n- 2 # two\n- 3"),
        ("a: [1, 2]\n", put(("a", "2"), 3), "a: [1, 2, 3]\n"),
        ("a: {x, y: }\n", put(("a", "x"), 1), "a: {x: 1, y: }\n"),
        ("a: {x, y: }\n", put(("a", "y"), 1), "a: {x, y: 1}\n"),
        ("a: [{name: n, k: 1}, {name: m, k: 2}]\n", put(("a", "m", "k"), 3), "a: [{name: n, k: 1}, {name: m, k: 3}]\n"),
        ("a:\n  - name: n\n    k: 1\n", put(("a", "n", "name"), "o"), "a:\n  - name: o\n    k: 1\n"),
        ("a:\n  - x: 1 # one\n    y: 2\n", remove(("a", "0", "x")), "a:\n  - y: 2\n"),
        ("a: |\n  text\n\nb: 2\n", put(("a",), "short"), "a: short\n\nb: 2\n"),
        ("a: |+\n  text\n\nb: 2\n", put(("a",), "short"), "a: short\nb: 2\n"),
        ("a: |\n  text\n\n# c\n", put(("b",), 1), "a: |\n  text\nb: 1\n\n# c\n"),
        ("a: 1\r\nb: 2\r\n", put(("c",), 3, after="a"), "a: 1\r\nc: 3\r\nb: 2\r\n"),
        ("a: 1\r\nb: 2", remove(("b",)), "a: 1"),
        ("# only words", put(("a", "b"), 1), "# only words\na:\n  b: 1\n"),
        ("", put(("a",), "${params.k}"), "a: ${params.k}\n"),
        ("a: {k: ${params.k}, l: 1}\n", put(("a", "l"), 2), "a: {k: ${params.k}, l: 2}\n"),
        ('a: "é😀" # x\nb: 1\n', put(("b",), "010"), 'a: "é😀" # x\nb: "010"\n'),
        ("a: *b\n".replace("*b", "1"), put(("a",), None), "a: null\n"),
        ("a: &x {k: 1}\nb: 2\n", put(("b",), 3), "a: &x {k: 1}\nb: 3\n"),
        ("--- # begin\na: 1\n...\n", put(("b",), 2), "--- # begin\na: 1\nb: 2\n...\n"),
    ],
)
def test_every_way_of_writing(text, change, wanted):
    assert edited(text, [change]) == wanted


@pytest.mark.parametrize(
    ("text", "change", "path"),
    [
        ("a: &x {k: 1}\nb: *x\n", put(("a", "k"), 2), "`a`"),
        ("a: &x {k: 1}\nb: *x\n", put(("b", "k"), 2), "`b`"),
        ("a: &x {k: 1}\nb: *x\n", remove(("a",)), "`a`"),
        ("a: {b: &x 1, c: *x}\n", put(("a",), "text"), "`a`"),
        ("? a\n: 1\n", put(("a",), 2), "the policy"),
        ("a: 1\n", put(("a", "b"), 2), "`a`"),
        ("a: [1]\n", put(("a", "3"), 2), "`a.3`"),
    ],
)
def test_what_would_touch_more_is_refused(text, change, path):
    with pytest.raises(PolicyError) as refused:
        edited(text, [change])
    assert [d.code for d in refused.value.diagnostics] == ["PPF127"]
    assert path in refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    "text", ["a: 1\na: 2\n", "a: [\n", "a: !!python/object:x {}\n", "a: \x00\n", "a: 1\n--- \nb: 1\n"]
)
def test_a_text_with_faults_is_not_edited(text):
    with pytest.raises(PolicyError) as refused:
        edited(text, [put(("b",), 1)])
    assert refused.value.diagnostics[0].code != "PPF127"


@pytest.mark.parametrize("file", sorted(Path("pipelines").glob("*.yaml")), ids=lambda file: file.name)
def test_policies_of_the_project_change_in_one_line(file: Path, root):
    text = (root / file).read_text(encoding="utf-8")
    new = edited(text, [put(("description",), "Another description")])
    old_lines, new_lines = text.splitlines(), new.splitlines()
    assert sum(line not in old_lines for line in new_lines) == 1
    assert at(tree_of(new), ("description",)) == "Another description"


@pytest.mark.parametrize("value", [3, 0.25, True, None, "x", ["a", {"b": 1}], {"a": {"b": [1, 2]}}])
def test_changes_travel_as_json(value):
    changes = (put(("a", "b.c"), value, after="d"), remove(("x",)))
    assert from_json(to_json(changes)) == changes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}x",
        "[1]",
        '[{"path": "a"}]',
        '[{"path": [1]}]',
        '[{"path": ["a"], "values": 1}]',
        "[" * 100_000,
        '[{"path": ["a"], "value": NaN}]',
        '[{"path": [""]}]',
        '[{"path": ["a"], "after": 1}]',
    ],
)
def test_proposals_that_cannot_be_read_are_refused(text):
    with pytest.raises(UsageError):
        from_json(text)


NOTE = re.compile(r"# note \d+\.")
KEYS = st.sampled_from(["a", "b", "c d", "*", "no", "ü", "k.x", "1", "x: y", "'", '"', "#"])
TEXTS = st.one_of(
    st.sampled_from(["", "1", "0.5", "null", "~", "- x", "{", "${params.k}", "a # b", "é\n\x07"]), st.text(max_size=8)
)
TREES = st.recursive(
    st.one_of(st.none(), TEXTS.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(KEYS, below, max_size=4)),
    max_leaves=12,
)


@st.composite
def written_trees(draw):
    """A map, and a text that says the same: each value in a style of its own, each line with a comment of its own."""
    tree = draw(st.dictionaries(KEYS, TREES, min_size=1, max_size=4))
    numbers = iter(range(1000))

    def note():
        return f"  # note {next(numbers)}."

    def in_line(value):
        if isinstance(value, dict):
            inner = ", ".join(f"{line(name)}: {in_line(each)}" for name, each in value.items())
            return "{ " + inner + draw(st.sampled_from([" }", ", }" if value else "}"]))
        if isinstance(value, list):
            return (
                "[" + ", ".join(in_line(each) for each in value) + draw(st.sampled_from(["]", ",]" if value else "]"]))
            )
        if value and value.isprintable() and "'" not in value and draw(st.booleans()):
            return f"'{value}'"
        return draw(st.sampled_from(["~", "null"])) if value is None else line(value)

    def block(value, indent):
        pad = " " * indent
        lines = []
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in parts:
            if draw(st.booleans()):
                lines.append(f"{pad}{note().strip()}")
            head = f"{pad}{line(name)}:" if isinstance(value, dict) else f"{pad}-"
            if isinstance(each, dict | list) and each and draw(st.booleans()):
                lines.append(head + note())
                lines += block(each, indent + draw(st.integers(1, 3)))
            elif each is None and draw(st.booleans()):
                lines.append(head + note())
            else:
                lines.append(f"{head} {in_line(each)}{note()}")
            if draw(st.integers(0, 3)) == 0:
                lines.append("")
        return lines

    ends = draw(st.sampled_from(["\n", "\r\n"]))
    return tree, ends.join(block(tree, 0)) + draw(st.sampled_from(["", ends]))


@st.composite
def changes_of(draw, tree):
    """A change somewhere in the tree: another value, a new one, none any more."""
    path, node = [], tree
    while isinstance(node, dict | list) and node and (not path or draw(st.booleans())):
        part = draw(st.sampled_from(list(node) if isinstance(node, dict) else [str(i) for i in range(len(node))]))
        path.append(part)
        node = node[part] if isinstance(node, dict) else node[int(part)]
    if isinstance(node, dict) and draw(st.booleans()):
        path.append(draw(KEYS))
    elif isinstance(node, list) and draw(st.booleans()):
        path.append(str(len(node)))
    if draw(st.integers(0, 2)) == 0:
        return PolicyEdit(tuple(path), REMOVED)
    return put(path, draw(TREES), draw(st.sampled_from([None, FIRST, "a", "no"])))


@pytest.mark.slow
@examples(120)
@given(st.data())
def test_what_the_text_says_is_what_the_change_says_and_all_else_stays(data):
    tree, text = data.draw(written_trees())
    assert same(tree_of(text), as_tree(tree))
    change = data.draw(changes_of(tree))
    new = edited(text, [change])
    assert same(tree_of(new), changed(tree_of(text), change))
    marks = {entry.name: entry for entry in marked(text).entries}
    for name in tree.keys() - {change.path[0]}:
        assert text[marks[name].key.start : marks[name].end] in new
    own = marks.get(change.path[0])
    rest = text if own is None else text[: own.key.start] + text[own.end :]
    assert set(NOTE.findall(rest)) <= {*NOTE.findall(new), *_on_the_last_line(text, own)}


def _on_the_last_line(text: str, entry) -> list[str]:
    """A note behind a value goes with the line where the whole entry is removed."""
    return [] if entry is None else NOTE.findall(re.split("[\r\n]", text[entry.end :])[0])


def test_comments_above_entries_are_what_is_said_of_them():
    text = "# of the file\na:\n  # one\n  #two\n  x: 1  # behind\n\n  # apart\n\n  y: 2\n   # deeper\n  z: 3\n"
    assert remarks(text, ("a",)) == {"x": "one two"}
    assert remarks(text, ()) == {"a": "of the file"}
    assert remarks(text.replace("\n", "\r\n"), ("a",)) == {"x": "one two"}
    assert remarks("a: {x: 1}\n", ("a",)) == remarks("a: 1\n", ("a", "b")) == remarks("", ()) == {}


@pytest.mark.slow
def test_a_policy_of_many_columns_is_edited_in_time():
    lines = [f"  # reason {i}\n  column_{i}: {{role: quasi_identifier}}  # note {i}\n" for i in range(2000)]
    text = "version: 1\nattributes:\n" + "".join(lines)
    assert len(remarks(text, ("attributes",))) == 2000
    new = edited(text, [put(("attributes", f"column_{i}", "role"), "target") for i in (0, 999, 1999)])
    assert new.count("target") == 3
    assert new.replace("target", "quasi_identifier") == text
