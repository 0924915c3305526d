"""YAML as located text: nothing is constructed, everything has its place, and hostile texts are refused quickly."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.text import parse as parsing
from ppdm_flow.policy.text.nodes import UnreadableError
from ppdm_flow.policy.text.parse import DEPTH_LIMIT, parse


def tree(text: str):
    root, found = parse(text, "f")
    assert found == []
    return flatten(root).tree


@pytest.mark.parametrize(
    "text",
    [
        "NO",
        "yes",
        "010",
        "0x1F",
        "1.10",
        "1_000",
        "1e3",
        "12:30",
        "2024-01-01",
        ".inf",
        "5",
        "true",
        "!",
        "=",
        "-",
        "0o7",
    ],
)
def test_plain_scalars_are_the_text_that_they_show(text: str) -> None:
    if text == "!":
        text = "'!'"
    if text == "-":
        text = "'-'"
    assert tree(f"a: {text}\n") == {"a": text.strip("'")}


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_nothing_is_none(text: str) -> None:
    assert tree(f"a: {text}\n") == {"a": None}


@pytest.mark.parametrize("text", ['""', "''", '"~"', "'null'", "!!str null"])
def test_quoted_nothing_is_text(text: str) -> None:
    assert tree(f"a: {text}\n")["a"] is not None


def test_keys_are_text() -> None:
    assert tree("NO: a\n010: b\nnull: c\n1.10: d\n") == {"NO": "a", "010": "b", "null": "c", "1.10": "d"}


def test_places_count_characters_from_one() -> None:
    text = "a: {é: b, '⊥': 😀 x}\nlist:\n  - eins\n  - zwei\n"
    flat = flatten(parse(text, "f")[0])
    span = flat.values["a", "⊥"]
    assert text.splitlines()[0][span.column - 1 : span.end_column - 1] == "😀 x"
    assert (flat.keys["a", "é"].line, flat.keys["a", "é"].column, flat.keys["a", "é"].end_column) == (1, 5, 6)
    assert (flat.values["list", "1"].line, flat.values["list", "1"].column) == (4, 5)


words = st.text("abcé😀⊥xyz", min_size=1, max_size=5)


@given(st.dictionaries(words, st.dictionaries(words, st.lists(words, max_size=3), max_size=3), max_size=4))
def test_every_place_shows_its_own_text(content: dict) -> None:
    text = "".join(
        f"{k}:\n" + "".join(f"  {q}: [{', '.join(v)}]\n" for q, v in inner.items())
        for k, inner in content.items()
        if inner
    )
    if not text:
        return
    flat = flatten(parse(text, "f")[0])
    lines = text.splitlines()

    def at(span) -> str:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]

    for path, span in flat.keys.items():
        assert at(span) == path[-1]
    for path, node in flat.scalars.items():
        assert at(flat.values[path]) == node.text


def test_duplicate_keys_name_both_places_and_keep_the_first() -> None:
    root, found = parse("a: 1\nb: 2\na: 3\n", "f")
    assert flatten(root).tree == {"a": "1", "b": "2"}
    (fault,) = found
    assert (fault.code, fault.span.line, fault.related[0].span.line) == ("PPF107", 3, 1)


def test_all_duplicates_are_found_at_once() -> None:
    _, found = parse("a: {x: 1, x: 2}\na: 3\nb: !foo 1\n<<: {c: 1}\n", "f")
    assert [d.code for d in found] == ["PPF107", "PPF107", "PPF108", "PPF109"]


@pytest.mark.parametrize("tag", ["!include", "!!python/object:os.system", "!!int", "!!binary", "!env"])
def test_tags_construct_nothing(tag: str) -> None:
    root, found = parse(f"a: {tag} x\nb: [{tag} y]\n", "f")
    assert [d.code for d in found] == ["PPF108", "PPF108"]
    assert flatten(root).tree == {"a": None, "b": [None]}


@pytest.mark.parametrize("brackets", ["[", "{a: ", "- ", "? "])
@pytest.mark.parametrize("count", [65, 1_000, 100_000])
def test_deep_nesting_is_refused_before_anything_recurses(brackets: str, count: int) -> None:
    with pytest.raises(UnreadableError) as raised:
        parse(brackets * count, "f")
    diagnostic = raised.value.diagnostic
    assert (diagnostic.code, diagnostic.span.column) == ("PPF115", len(brackets) * DEPTH_LIMIT + 1)


def test_the_limit_of_the_parser_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """From PyYAML 6.0.4 on, 1,001 brackets are an error before the first one is an event: the diagnostic is ours."""

    class ReadingAhead(parsing._Parser):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            if text.count("[") > 500:
                mark = yaml.Mark("f", 503, 0, 503, None, None)
                raise yaml.scanner.ScannerError("while increasing flow level", None, parsing._PARSER_LIMIT, mark)

    monkeypatch.setattr(parsing, "_Parser", ReadingAhead)
    with pytest.raises(UnreadableError) as raised:
        parse("a: " + "[" * 600, "f")
    diagnostic = raised.value.diagnostic
    assert (diagnostic.code, diagnostic.span.column) == ("PPF115", 3 + DEPTH_LIMIT)


def test_the_deepest_allowed() -> None:
    inner = DEPTH_LIMIT - 1
    value = tree("a: " + "[" * inner + "]" * inner)
    for _ in range(inner - 1):
        (value,) = value["a"] if isinstance(value, dict) else value
    assert value == []


def test_aliases_repeat_values() -> None:
    assert tree("a: &x {k: [1, 2]}\nb: *x\nc: [*x]\n")["c"] == [{"k": ["1", "2"]}]


def test_an_alias_may_be_a_key() -> None:
    assert tree("a: &x job\nb: {*x : 1}\n") == {"a": "job", "b": {"job": "1"}}


@pytest.mark.parametrize("text", ["a: &x [*x]\n", "a: &x {b: {c: *x}}\n", "a: *x\nb: &x 1\n"])
def test_aliases_that_lead_nowhere(text: str) -> None:
    _, found = parse(text, "f")
    assert [d.code for d in found] == ["PPF113"]


def test_an_alias_bomb_is_refused_by_counting() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
    with pytest.raises(UnreadableError) as raised:
        parse(bomb, "f")
    assert raised.value.diagnostic.code == "PPF114"


def test_a_chain_of_aliases_counts_as_depth() -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 3_000))
    with pytest.raises(UnreadableError) as raised:
        parse(chain, "f")
    assert raised.value.diagnostic.code == "PPF115"


@pytest.mark.slow
def test_many_values() -> None:
    with pytest.raises(UnreadableError) as raised:
        parse("a: [" + "x," * 120_000 + "]", "f")
    assert raised.value.diagnostic.code == "PPF114"


def test_references_stand_unquoted_within_brackets() -> None:
    text = "k_anonymity: {k: ${params.k}}\nlist: [${params.a}, b ${params.b}]\nquoted: '${params.c}'\n"
    root, _ = parse(text, "f")
    flat = flatten(root)
    assert flat.tree == {
        "k_anonymity": {"k": "${params.k}"},
        "list": ["${params.a}", "b ${params.b}"],
        "quoted": "${params.c}",
    }
    span = flat.values["list", "1"]
    assert text.splitlines()[1][span.column - 1 : span.end_column - 1] == "b ${params.b}"


def test_an_unclosed_brace_after_a_reference_is_still_found() -> None:
    with pytest.raises(UnreadableError, match="not closed"):
        parse("a: {k: ${params.k}\nb: 1\n", "f")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a:\n\t- b\n", "PPF105", 2),
        ("a:\n  b: 1\n\tc: 2\n", "PPF105", 3),
        ("a: 'x\n", "PPF104", 1),
        ("a: @x\n", "PPF104", 1),
        ("a: b: c\n", "PPF104", 1),
        ("a: [1, 2\nb: 3\n", "PPF104", 2),
        ("a: 1\n---\nb: 2\n", "PPF112", 2),
        ("a: >= 5\n", "PPF104", 1),
        ("*: 5\n", "PPF104", 1),
        ('a: "\\q"\n', "PPF104", 1),
    ],
)
def test_texts_that_are_no_yaml(text: str, code: str, line: int) -> None:
    with pytest.raises(UnreadableError) as raised:
        parse(text, "f")
    fault = raised.value.diagnostic
    assert (fault.code, fault.span.line) == (code, line)
    assert fault.hint


def test_no_message_quotes_what_the_parser_saw() -> None:
    with pytest.raises(UnreadableError) as raised:
        parse("a: [canary-value, {canary: x\n", "f")
    assert "canary" not in raised.value.diagnostic.message
