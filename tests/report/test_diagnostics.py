"""Carets, one-liners and JSON."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report.diagnostics import as_json, concise, render, summary
from ppdm_flow.report.snippet import WIDTH, lines_of, mark_line, printable

BANK = "\n" * 43 + "      sensitive_values: {bankruptcy: [Discharged]}\n"
UNKNOWN = Diagnostic(
    "PPF201",
    "unknown key `sensitive_values` in template `no-discharged`",
    Span("pipelines/bank.yaml", 44, 7, 44, 23),
    hint="did you mean `sensitive`?",
)


def at(line: int, column: int, end: int, file: str = "a.yaml") -> Span:
    return Span(file, line, column, line, end)


def test_the_form_of_the_contract() -> None:
    assert render([UNKNOWN], {"pipelines/bank.yaml": BANK}) == (
        "error[PPF201]: unknown key `sensitive_values` in template `no-discharged`\n"
        "  --> pipelines/bank.yaml:44:7\n"
        "   |\n"
        "44 |       sensitive_values: {bankruptcy: [Discharged]}\n"
        "   |       ^^^^^^^^^^^^^^^^ did you mean `sensitive`?\n"
        "   = more: ppdm-flow explain PPF201\n"
    )


def test_a_second_place_help_and_notes() -> None:
    found = Diagnostic(
        "PPF308",
        "below",
        at(12, 4, 5),
        Severity.WARNING,
        help="ask",
        notes=("one", "two"),
        related=(RelatedPlace(at(3, 1, 6, "org.yaml"), "the floor"),),
    )
    assert render([found], {"a.yaml": "\n" * 11 + "k: 3", "org.yaml": "\n\nfloor: 5"}) == (
        "warning[PPF308]: below\n"
        "  --> a.yaml:12:4\n"
        "   |\n"
        "12 | k: 3\n"
        "   |    ^\n"
        "  ::: org.yaml:3\n"
        "   |\n"
        " 3 | floor: 5\n"
        "   | ----- the floor\n"
        "   = help: ask\n"
        "   = note: one\n"
        "   = note: two\n"
        "   = more: ppdm-flow explain PPF308\n"
    )


def test_without_a_place_or_a_text_the_hint_is_kept() -> None:
    bare = Diagnostic("PPF310", "no such param", hint="did you mean `k`?")
    assert render([bare], {}) == (
        "error[PPF310]: no such param\n  = hint: did you mean `k`?\n  = more: ppdm-flow explain PPF310\n"
    )
    elsewhere = Diagnostic("PPF101", "too large", at(1, 1, 1), hint="smaller")
    assert " --> a.yaml:1:1\n  = hint: smaller\n" in render([elsewhere], {})


def test_nothing_found_is_nothing_drawn() -> None:
    assert render([], {}) == ""
    assert concise([]) == ""
    assert summary([]) == ""


def test_sorted_by_place_and_without_repetitions() -> None:
    found = [
        Diagnostic("PPF2", "b", at(2, 1, 2)),
        Diagnostic("PPF1", "a", at(1, 1, 2)),
        Diagnostic("PPF2", "b", at(2, 1, 2)),
    ]
    assert concise(found) == "a.yaml:1:1: error[PPF1]: a\na.yaml:2:1: error[PPF2]: b\n"


def test_no_more_than_fifty_and_errors_before_warnings() -> None:
    warnings = [Diagnostic("PPF110", f"w{i}", at(i + 1, 1, 2), Severity.WARNING) for i in range(60)]
    errors = [Diagnostic("PPF201", f"e{i}", at(i + 100, 1, 2)) for i in range(10)]
    drawn = render([*warnings, *errors], {"a.yaml": ""})
    assert drawn.count("warning[") == 40
    assert drawn.count("error[") == 10
    assert drawn.endswith("… and 20 more (20 warnings)\n")


def test_summary() -> None:
    found = [Diagnostic("A", "", severity=s) for s in (Severity.ERROR, Severity.ERROR, Severity.WARNING, Severity.INFO)]
    assert summary(found) == "2 errors, 1 warning, 1 note"


def test_json() -> None:
    found = Diagnostic("PPF107", "twice", at(3, 1, 4), related=(RelatedPlace(at(1, 1, 4), "first"),), path=("a",))
    document = json.loads(as_json([found, Diagnostic("PPF110", "w", severity=Severity.WARNING)]))
    assert (document["errors"], document["warnings"]) == (1, 1)
    assert document["diagnostics"][0]["file"] is None
    assert document["diagnostics"][1] == {
        "code": "PPF107",
        "severity": "error",
        "message": "twice",
        "file": "a.yaml",
        "line": 3,
        "column": 1,
        "end_line": 3,
        "end_column": 4,
        "hint": None,
        "help": None,
        "notes": [],
        "related": [
            {"file": "a.yaml", "line": 1, "column": 1, "end_line": 1, "end_column": 4, "text": "first"},
        ],
        "path": ["a"],
    }


def test_color_changes_nothing_but_color() -> None:

    sources = {"pipelines/bank.yaml": BANK}
    colored = render([UNKNOWN], sources, color=True)
    assert "\x1b[1;31m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render([UNKNOWN], sources)


def test_nothing_reaches_the_terminal_that_could_move_its_cursor() -> None:
    evil = Diagnostic("PPF201", "key `\x1b[2J\u202ex`", at(1, 1, 3), hint="\x07", help="\r", notes=("\x9b",))
    drawn = render([evil], {"a.yaml": "\x1b]0;title\x07\u202e"}) + concise([evil])
    assert not [c for c in drawn if c != "\n" and unicodedata.category(c) == "Cc"]
    assert "\u202e" not in drawn
    assert printable("a\u202eb\x1b") == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "offset", "length"),
    [
        ("a: bc", 4, 6, "a: bc", 3, 2),
        ("\ta: bc", 2, 3, "    a: bc", 4, 1),
        ("日本: x", 1, 3, "日本: x", 0, 4),
        ("日本: x", 5, 6, "日本: x", 6, 1),
        ("e\u0301: x", 4, 5, "e\u0301: x", 2, 1),
        ("abc", 9, 12, "abc", 3, 1),
        ("abc", 2, 2, "abc", 1, 1),
        ("", 1, 5, "", 0, 1),
    ],
)
def test_columns_of_the_screen(line: str, column: int, end: int, shown: str, offset: int, length: int) -> None:
    drawn = mark_line(line, column, end)
    assert (drawn.line, drawn.offset, drawn.length) == (shown, offset, length)


def test_a_long_line_is_cut_around_the_caret() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    drawn = mark_line(line, 501, 505)
    assert len(drawn.line) <= WIDTH
    assert drawn.line[drawn.offset : drawn.offset + drawn.length] == "HERE"
    assert drawn.line.startswith("…")
    assert drawn.line.endswith("…")


def test_a_mark_longer_than_the_screen_ends_with_the_line() -> None:
    drawn = mark_line("z" * 1000, 1, 1001)
    assert drawn.offset + drawn.length <= WIDTH


@given(st.text("ab日\té", max_size=300), st.integers(1, 310), st.integers(0, 60))
def test_the_mark_is_on_the_text_whatever_the_line(line: str, column: int, length: int) -> None:
    end = min(column + length, len(line) + 1)
    drawn = mark_line(line, column, end)
    screen = "".join(c * (2 if c == "日" else 1) for c in drawn.line)
    assert len(screen) <= WIDTH
    assert drawn.length >= 1
    wanted = "".join({"日": "日日", "\t": "    "}.get(c, c) for c in line[column - 1 : end - 1])
    assert wanted.startswith(screen[drawn.offset : drawn.offset + drawn.length].rstrip("…")) or not wanted


def test_lines_break_where_yaml_breaks_them() -> None:
    assert lines_of("a\r\nb\rc\nd\u2028e\x85f") == ["a", "b", "c", "d", "e", "f"]
