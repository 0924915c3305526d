"""Pages are read one by one, when they are asked for; a malformed one is named by its file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ppdm_flow.core.pages import MalformedPageError, Pages, code_page, fenced, pages, parsed, read

WHOLE = """---
title: "`k` is too small"
---

What it is.

## Why it matters

Because.

## Example

```yaml
a: 1
## no heading
```
"""
CODE = """---
title: a fault
---

## What it means

This.

## Why it matters

That.

## What to do

So.

## Example

```yaml
a: 1
```

## Better

```yaml
a: 2
```
"""


def test_a_page_has_front_matter_and_sections():
    page = parsed("codes/PPF000", WHOLE)
    assert page.topic == "PPF000"
    assert page.entry("title") == "`k` is too small"
    assert page.sections[""] == "What it is."
    assert page.section("Why it matters") == "Because."
    assert page.example("Example") == "a: 1\n## no heading"
    assert page.body == WHOLE.split("---\n")[2].strip()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# No front matter\n", "does not begin with front matter"),
        ("---\ntitle: open\n", "does not begin with front matter"),
        ("---\ntitle: [\n---\n", "not valid YAML"),
        ("---\n- title\n---\n", "no map"),
    ],
)
def test_a_malformed_page_is_named(text, fault):
    with pytest.raises(MalformedPageError, match=rf"^ppdm_flow/pages/codes/PPF000\.md: .*{fault}"):
        parsed("codes/PPF000", text)


def without(heading: str) -> str:
    return re.sub(rf"## {heading}\n\n.*?(?=\n## |\Z)", "", CODE, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *((without(h), "headings must be") for h in ("What it means", "Why it matters", "What to do", "Better")),
        (CODE.replace("## What it means", "Before.\n\n## What it means"), "headings must be"),
        (CODE.replace("## Better", "## Example"), "`Example` twice"),
        (CODE.replace("That.", ""), "nothing under the heading `Why it matters`"),
        (CODE.replace("title: a fault", "name: a fault"), "no `title`"),
        (CODE.replace("```yaml\na: 2", "See above.\n\n```yaml\na: 2"), "`Better` is not one block"),
        (CODE.replace("a: 2\n```", "a: 2\n```\n\n```yaml\na: 3\n```"), "`Better` is not one block"),
    ],
)
def test_a_page_of_a_code_is_whole(text, fault):
    with pytest.raises(MalformedPageError, match=fault):
        code_page(parsed("codes/PPF000", text))


def test_the_page_of_a_code_is_made_of_its_sections():
    page = code_page(parsed("codes/PPF000", CODE))
    assert (page.title, page.what, page.why, page.fix, page.bad, page.good) == (
        "a fault", "This.", "That.", "So.", "a: 1", "a: 2"
    )  # fmt: skip


def irregularities(code: str) -> Iterator[str]:
    """Yield what is wrong with the page of a code. Raises MalformedPageError."""
    page = pages()[code]
    if not re.fullmatch(r"PPF\d{3}", code):
        yield "it is not named by a code"
    if not isinstance(page.title, str):
        yield f"its title is {page.title!r}"
    parts = {"What it means": page.what, "Why it matters": page.why, "What to do": page.fix}
    parts |= {"Example": fenced(page.bad), "Better": fenced(page.good)}
    if page.body != "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items()):
        yield "it is not written as its parts are, with an empty line between them and the language of each example"
    if set(read(f"codes/{code}").front) != {"title"}:
        yield f"its front matter has {list(read(f'codes/{code}').front)}"


def test_pages_of_codes_are_regular():
    faults = []
    for code in pages():
        try:
            faults += [f"{code}: {fault}" for fault in irregularities(code)]
        except MalformedPageError as error:
            faults.append(f"{code}: {error}")
    assert not faults, "\n".join(faults)


def test_nothing_is_a_page_that_is_not_in_its_folder():
    known = pages()
    assert "PPF101" in known
    for name in ("ppf101", "../codes/PPF101", "ACME7", "", None):
        assert name not in known
        assert known.get(name) is None


@pytest.mark.parametrize("name", ["sources/csv", "acme:csv.md", "acme.formats:pages/csv.md"])
def test_the_topic_of_a_page_is_its_name_alone(name):
    assert parsed(name, WHOLE).topic == "csv"


def test_a_page_is_read_once_and_only_when_it_is_asked_for():
    made = []
    held = Pages("codes", made=made.append)
    assert len(held) == len(pages())
    assert "PPF101" in held
    assert next(iter(held)) == "PPF100"
    assert made == []
    assert held["PPF101"] is held["PPF101"] is None
    assert [page.name for page in made] == ["codes/PPF101"]


@pytest.mark.slow
def test_a_check_without_findings_reads_no_page_but_cards(root):
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from ppdm_flow.cli.main import main\n"
        "try:\n"
        "    main(['check', 'pipelines/bank_credit.yaml'])\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "assert any(f.endswith('bank_credit.yaml') for f in opened)\n"
        "print(*sorted({f.split('/')[-2] for f in opened if f.endswith('.md')}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.splitlines()[-1] == "anonymizers audits figures sinks sources"


def test_all_pages_are_in_wheel_and_sdist(root):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="the extra `test` brings hatchling")
    sdist = pytest.importorskip("hatchling.builders.sdist", reason="the extra `test` brings hatchling")
    files = {str(p.relative_to(root)) for p in (root / "ppdm_flow/pages").rglob("*") if p.is_file()}
    assert {f"ppdm_flow/pages/codes/{code}.md" for code in pages()} <= files
    assert {name for name in files if not name.endswith(".md")} == {"ppdm_flow/pages/synonyms.yaml"}
    for builder in (wheel.WheelBuilder(str(root)), sdist.SdistBuilder(str(root))):
        packed = {f.distribution_path.partition("ppdm_flow/")[2] for f in builder.recurse_included_files()}
        assert {name.partition("ppdm_flow/")[2] for name in files} <= packed
