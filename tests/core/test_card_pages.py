"""Cards on pages: what of a page goes where, and what is said of one that is not written as a card is."""

from __future__ import annotations

import re

import pytest

from ppdm_flow.core.card_pages import figures_on, texts_on
from ppdm_flow.core.pages import MalformedPageError, parsed
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo, figures_of

WHOLE = """---
summary: what it does
reference: 'Somebody, Something: a title, 1999'
cost: one pass
guarantees:
  - nothing is lost
  - nothing is added
---

## Parameters

`rows` is how many.

## Example

```yaml
audits: {mine: {use: whole}}
```

## Figure: share

the share of rows
that are lost

- formula: lost rows / rows: of all
- better: lower
- reference: Another, 2001
- audience: public

## Figure: rows_left_out

- as: figures/classes

## Figure: forgotten

- as: figures/classes#rows_left_out
"""


def card(text: str) -> PluginInfo:
    page = parsed("audits/whole", text)
    figures = {name: FigureInfo(**said) for name, said in figures_on(page).items()}
    return PluginInfo("whole", Kind.AUDIT, figures=figures, **texts_on(page))


def test_a_card_is_made_of_the_parts_of_its_page():
    shared = figures_of("figures/classes")["rows_left_out"]
    share = FigureInfo(
        "the share of rows that are lost", "lost rows / rows: of all", "lower", "Another, 2001", "public"
    )  # fmt: skip
    assert card(WHOLE) == PluginInfo(
        "whole",
        Kind.AUDIT,
        "what it does",
        reference="Somebody, Something: a title, 1999",
        cost="one pass",
        guarantees=("nothing is lost", "nothing is added"),
        parameters="`rows` is how many.",
        example="audits: {mine: {use: whole}}",
        figures={"share": share, "rows_left_out": shared, "forgotten": shared},
    )


def test_a_card_needs_no_more_than_a_summary():
    assert card("---\nsummary: what it does\n---\n") == PluginInfo("whole", Kind.AUDIT, "what it does")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("summary: what it does\n", "", "its front matter has no `summary`"),
        ("cost: one pass", "costs: one pass", "`costs: one pass` means nothing"),
        ("cost: one pass", "cost: 1", "`cost: 1` means nothing"),
        ("cost: one pass", "cost: [one pass]", "means nothing"),
        ("guarantees:\n", "guarantees: all\nothers:\n", "`guarantees` must be a list of texts"),
        ("  - nothing is lost", "  - lost: nothing", "`guarantees` must be a list of texts"),
        ("## Parameters", "Before.\n\n## Parameters", "no text before its first heading"),
        (
            "## Parameters",
            "## Params",
            "no heading `Params`, but `Parameters`, `Example`, `For recipients`, `Figure: NAME`",
        ),
        ("## Example\n\n", "## Example\n\nAs here:\n\n", "`Example` is not one block of code"),
        ("## Figure: forgotten", "## Figure: share", "the heading `Figure: share` twice"),
        ("- better: lower", "- best: lower", "under `Figure: share` stands `best`"),
        ("- better: lower", "- better: less", "`better` cannot be `less`"),
        ("- better: lower", "- better:", "under `Figure: share` stands `better:`"),
        ("- better: lower", "- better: lower\n- better: higher", "has `better` twice"),
        ("audience: public", "audience: all", "`audience` cannot be `all`"),
        ("the share of rows\nthat are lost\n", "", "`Figure: share` needs a sentence"),
        ("classes#rows_left_out\n", "classes#rows_left_out\n- better: lower\n", "nothing else may stand"),
        ("- as: figures/classes#", "All.\n\n- as: figures/classes#", "nothing else may stand"),
        ("classes#rows_left_out", "classes", "`figures/classes` has no `Figure: forgotten`"),
        ("classes#rows_left_out", "classes#nothing", "`figures/classes` has no `Figure: nothing`"),
        ("figures/classes#", "figures/nothing#", "there is no page `figures/nothing`"),
        ("figures/classes#", "no.such.package:page.md#", "there is no page `no.such.package:page.md`"),
    ],
)
def test_a_malformed_card_is_named_with_its_fault(old, new, fault):
    assert old in WHOLE
    with pytest.raises(MalformedPageError, match=r"^ppdm_flow/pages/audits/whole\.md: .*" + re.escape(fault)):
        card(WHOLE.replace(old, new, 1))
