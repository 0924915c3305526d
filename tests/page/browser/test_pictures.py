"""Pictures as a browser shows them, in light and dark, wide and narrow: texts are inside, readable and large enough."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from contrast import contrast

from ppdm_flow.core.results import Chart, FigureSeries, Report
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.document import document as plan_document
from ppdm_flow.plan.pictures.forms import draw
from ppdm_flow.policy import load
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.html import render
from ppdm_flow.report.sweep import picture

WORDS = ("a", "a category in words", "another category in rather many words", "b", "c", "the last one of these words")
VALUES = (0.1, 0.9, 0.45, 0.02, 0.3, 1.0)
BEFORE = FigureSeries("original", VALUES, tuple(0.9 * v for v in VALUES), tuple(1.1 * v for v in VALUES))
AFTER = FigureSeries("released", VALUES[::-1])
LABELS = {"x_label": "a quantity with a name that goes on and on, and on", "y_label": "share of all rows, more or less"}
CHARTS = (
    Chart("lying", "Words", "bars", WORDS, (BEFORE, AFTER), **LABELS),
    Chart("upright", "Sizes", "bars", tuple(f"{n}00-{n}99" for n in range(1, 7)), (BEFORE, AFTER), **LABELS),
    Chart("lines", "Lines", "lines", tuple("123456"), (BEFORE, AFTER), **LABELS),
    Chart("kinds", "Lines over words", "lines", WORDS, (AFTER,), **LABELS),
    Chart("forest", "Estimates", "forest", WORDS, (BEFORE, AFTER), **LABELS),
    Chart("few", "Posteriors", "matrix", tuple("abcdef"), tuple(FigureSeries(c, VALUES) for c in "uvw"), **LABELS),
    Chart(
        "signs",
        "Signs",
        "matrix",
        tuple("abcdef"),
        (FigureSeries("p", VALUES), FigureSeries("m", tuple(-v for v in VALUES))),
    ),
    Chart("many", "Association", "matrix", WORDS, tuple(FigureSeries(word, VALUES) for word in WORDS), **LABELS),
)
AXIS = "privacy.k_anonymity.k"
EACH_TEXT = """() => [...document.querySelectorAll("svg.picture")].flatMap((svg) => {
  svg.scrollIntoView();
  const frame = svg.getBoundingClientRect(), wide = svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll("text")].filter((text) => text.textContent).map((text) => {
    const box = text.getBoundingClientRect(), own = getComputedStyle(text);
    text.scrollIntoView({ block: "center", inline: "center" });
    const now = text.getBoundingClientRect();
    const below = document.elementsFromPoint(now.x + now.width / 2, now.y + now.height / 2);
    const grounds = below.filter((each) => !each.closest("text, line")).map((each) => {
      const style = getComputedStyle(each);
      return each instanceof SVGGeometryElement ? [style.fill, Number(style.fillOpacity)] : [style.backgroundColor, 1];
    });
    const across = Math.max(frame.left - box.left, box.right - frame.right);
    const out = Math.max(across, frame.top - box.top, box.bottom - frame.bottom);
    const size = parseFloat(own.fontSize) * frame.width / wide;
    return { text: text.textContent, size, out, fill: own.fill, grounds };
  });
})"""


def sweep() -> Any:
    """A sweep whose points lie close to each other."""
    points = [
        {
            "number": n,
            "values": {AXIS: str(n)},
            "verdict": "withheld" if n % 3 == 0 else "released",
            "released": 1,
            "runs": 1,
            "failing": [],
            "seconds": 0.5,
            "metrics": {
                "privacy.score.nas": {"value": n / 13, "interval": [n / 14, n / 12]},
                "c.error": {"value": 0.5 - n / 30},
                "some-audit-of-the-policy.cells": {"value": 1000.0 * n},
            },
            "on_frontier": n % 2 == 0,
            "dominated_by": None if n % 2 == 0 else 2,
        }
        for n in range(1, 12)
    ]
    points[3]["own"] = True
    metrics = (("privacy.score.nas", "share"), ("c.error", "share"), ("some-audit-of-the-policy.cells", "cells"))
    return {
        "version": 1,
        "policy": "p",
        "over": [{"path": AXIS, "values": [str(n) for n in range(1, 12)]}],
        "metrics": [{"name": name, "unit": unit, "direction": "min", "requirement": False} for name, unit in metrics],
        "points": points,
        "run": {
            "started": "",
            "finished": "",
            "seconds": 3.0,
            "repeat": 1,
            "workers": 2,
            "randomness": "sealed",
            "versions": {},
        },
    }


@pytest.fixture(scope="module")
def pictures(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report, a sweep as a page and as a file, and a plan."""
    folder = tmp_path_factory.mktemp("pictures")
    plan = plan_document(compile_policy(load(root / "pipelines/hospital.yaml")).plan)
    report = Report("p", "released", (), (), {}, (), (), CHARTS, {}, plan, {})
    texts = {
        "report.html": render(document(report)),
        "sweep.html": picture.render(sweep()),
        "sweep.svg": picture.svg(sweep()),
        "plan.svg": draw("svg", plan),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def rgb(colour: str) -> tuple[tuple[float, ...], float]:
    """Return a colour as the browser tells it, and how opaque it is."""
    numbers = [float(part) for part in colour.partition("(")[2].rstrip(")").replace(",", " ").split()]
    return tuple(numbers[:3]), numbers[3] if len(numbers) > 3 else 1.0


def painted(grounds: list[tuple[str, float]], paper: str) -> str:
    """Return the colour of what lies below a text: ``grounds`` from the top one down."""
    mixed, _ = rgb(paper)
    for fill, share in reversed([ground for ground in grounds if ground[0].startswith("rgb")]):
        colour, opaque = rgb(fill)
        mixed = tuple(m + (c - m) * opaque * share for m, c in zip(mixed, colour, strict=True))
    return hexed(mixed)


def hexed(colour: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in colour)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report.html", "sweep.html", "sweep.svg", "plan.svg"])
def test_texts_of_pictures_are_inside_readable_and_large_enough(chromium, pictures, name, theme, width):
    context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto((pictures / name).as_uri())
    if name.endswith("html"):
        page.evaluate("document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })")
    texts = page.evaluate(EACH_TEXT)
    if folder := os.environ.get("PPDM_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}-{theme}-{width}.png", full_page=name.endswith("html"))
    context.close()
    assert len(texts) > 20
    paper = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}[theme]
    for text in texts:
        assert text["out"] <= 1, text
        assert text["size"] >= 7.5, text
        assert contrast(hexed(rgb(text["fill"])[0]), painted(text["grounds"], paper)) >= 4.5, text
