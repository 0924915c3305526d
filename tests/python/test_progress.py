"""Progress: events for a callback, a line in a notebook, and nothing elsewhere."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

from ppdm_flow.engine.events import RowProgress, RunFinished, StepStarted, ignore_events
from ppdm_flow.python.calls import NotebookLine, listener


class Page:
    """What IPython would show."""

    def __init__(self):
        self.texts = []

    def display(self, data, raw, display_id):
        assert (raw, display_id) == (True, True)
        return self

    def update(self, data, raw):
        self.texts.append(data["text/plain"])


def test_a_line_tells_how_far_it_is():
    page, now = Page(), iter([0.0, 0.0, 0.1, 1.0, 1.0, 2.0])
    line = NotebookLine(page.display, lambda: next(now))
    line(StepStarted("<read>"))
    line(RowProgress("read", 1, 10))
    line(RowProgress("read", 1000, 20000))
    line(RunFinished("released", 1.0))
    assert page.texts == ["<read>", "read: 1,000 of 20,000 rows", ""]


def notebook(monkeypatch, page, **shell):
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", ModuleType("IPython.display"))
    sys.modules["IPython"].get_ipython = lambda: SimpleNamespace(**shell)
    sys.modules["IPython.display"].display = page.display


def test_only_a_notebook_has_one(monkeypatch):
    page = Page()
    notebook(monkeypatch, page)
    with listener(None) as told:
        assert told is ignore_events
    notebook(monkeypatch, page, kernel=object())
    with listener(None) as told:
        told(StepStarted("read"))
    assert page.texts == ["read", ""]
    with listener(print) as told:
        assert told is print
