"""The form for a pull request: escaped, complete in its first lines, never too long."""

from __future__ import annotations

import pytest

from ppdm_flow.core.results import Figure, RequirementResult
from ppdm_flow.report.run.markdown import escaped, render
from ppdm_flow.report.run.public import public


def table_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_verdict_and_checks_come_first(document):
    text = render(document(failing=True))
    assert text.startswith("## ❌ Withheld: bank-credit\n\n1 of 9 checks does not hold.")
    assert text.index("### Requirements") < text.index("### Gates") < text.index("### Findings")
    first = table_rows(text)[2]
    assert first.startswith("| ❌ | privacy.templates.no-default | partner | 54.2%; original 91% | at most 50% |")
    assert first.endswith("| bank\\_credit.yaml:20 |")
    assert render(document()).startswith("## ✅ Released: bank-credit\n")


def test_details_fold(document):
    text = render(document())
    assert text.count("<details>") == text.count("</details>") == 4
    assert "<details><summary>All figures (" in text
    assert "| job | suppress | 2 of 5 | 4,200 | 21% |" in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a|b", r"a\|b"),
        ("<script>", "&lt;script&gt;"),
        ("one\ntwo\r\n\tthree", "one two three"),
        ("`code` *bold* _it_ ~no~", r"\`code\` \*bold\* \_it\_ \~no\~"),
        ("![x](http://e.example/a.png)", r"!\[x\](http&#58;//e.example/a.png)"),
        ("www.evil.example", "www&#46;evil.example"),
        ("@alice fixes #12", "@<!-- -->alice fixes #<!-- -->12"),
        ("a & b &lt;", "a &amp; b &amp;lt;"),
        (r"C:\dir", r"C:\\dir"),
        ("$x$", r"\$x\$"),
        ("x" * 1000, "x" * 599 + "…"),
    ],
)
def test_escaping(text, safe):
    assert escaped(text) == safe


def test_hostile_names_keep_the_table(document):
    found = document(failing=True)
    plain = [row.count("|") for row in table_rows(render(found))]
    hostile = "a|b`c\n| x | </details><script>"
    found["policy"] = hostile
    for result in [*found["requirements"], *found["gates"]]:
        result["sentence"] = hostile
    for finding in found["findings"]:
        finding["text"] = hostile
    text = render(found)
    assert [row.replace(r"\|", "").count("|") for row in table_rows(text)] == plain
    assert "<script" not in text
    assert text.count("</details>") == 4


def many(count: int) -> tuple[RequirementResult, ...]:
    return tuple(
        RequirementResult(f"privacy.templates.t{i}", "study", "m", 0.5, "at_most", 0.6, False, "Too sure. " * 30)
        for i in range(count)
    )


@pytest.mark.slow
def test_never_longer_than_the_limit(document):
    figures = {f"a.f{i}": Figure(i, "rows", note="note " * 50) for i in range(5_000)}
    found = document(requirements=many(200), metrics=figures, verdict="withheld")
    text = render(found)
    assert len(text.encode()) < 900_000
    assert "sections do not fit" in text
    assert "Withheld" in text.splitlines()[0]
    short = render(found, limit=30_000)
    assert len(short.encode()) <= 30_000
    assert "160 more do not hold." in short
    shorter = render(found, limit=10_000)
    assert 9_000 <= len(shorter.encode()) <= 10_000
    assert f"{200 - shorter.count('privacy.templates.t')} more do not hold." in shorter


@pytest.mark.parametrize("limit", [1, 1000, 3000, 10_000])
def test_a_small_limit_keeps_the_verdict(document, limit):
    text = render(document(failing=True), limit=limit)
    assert text.startswith("## ❌ Withheld: bank-credit")
    assert len(text.encode()) <= max(limit, 500)


def test_the_same_document_gives_the_same_text(document):
    assert render(document()) == render(document())


@pytest.mark.parametrize("form", [dict, public])
def test_columns_say_where_they_come_from_in_public_reports_too(document, form):
    text = render(form(document()))
    assert "Where each column comes from (10)" in text
    assert "| study | job | suppressed, value by value | job | country and rating | suppress |" in text
    assert "| partner | rating | unchanged | rating | – | – |" in text
