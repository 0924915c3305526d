"""`run -v` says where the seconds went: phases, imports and compilation."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppdm_flow.cli.terminal.phases import Phases, timed_imports
from ppdm_flow.engine.events import RowProgress, StepFinished, StepStarted
from ppdm_flow.sdk import compiling

POLICY = Path(__file__).resolve().parents[2] / "pipelines" / "bank_credit.yaml"
LINE = re.compile(
    r"seconds: [\d.]+ in all; source [\d.]+, steps [\d.]+, releases [\d.]+, audits [\d.]+;"
    r" importing took ([\d.]+) of them, compiling ([\d.]+)"
)


def test_phases_are_added_up() -> None:
    phases = Phases()
    assert phases.text(1.0, 0.5, 0.0).startswith("seconds: 1.00 in all; importing took 0.50")
    events = [
        ("source", 0.25),
        ("release study", 1.0),
        ("study/suppress", 2.0),
        ("study/class_sizes", 0.5),
        ("bands", 4),
    ]
    for name, seconds in events:
        phases.take(StepStarted(name))
        phases.take(RowProgress(name, 1, 2))
        phases.take(StepFinished(name, seconds, 10))
    said = "seconds: 9.00 in all; source 0.25, steps 4.00, releases 1.00, audits 2.50"
    assert phases.text(9.0, 0.75, 0.25) == f"{said}; importing took 0.75 of them, compiling 0.25"


def test_a_module_counts_with_all_that_it_imports_and_once(tmp_path, monkeypatch) -> None:
    ticks = iter(range(0, 1000, 3))
    monkeypatch.setattr(time, "thread_time", lambda: next(ticks))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "outer_of_phases.py").write_text("import inner_of_phases\nLOADER = __spec__.loader\n")
    (tmp_path / "inner_of_phases.py").write_text("HERE = 1\n")
    before = list(sys.meta_path)
    with timed_imports() as imports:
        outer = importlib.import_module("outer_of_phases")
        assert imports.seconds == 3
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("missing_of_phases")
    assert sys.meta_path == before
    assert outer.inner_of_phases.HERE == 1
    assert "inner_of_phases" in outer.LOADER.get_source("outer_of_phases")  # others ask loaders for sources


def test_code_that_is_compiled_within_other_code_counts_once(monkeypatch) -> None:
    announcer = compiling._Announcer()
    announcer.said = True
    ticks = iter([0.0, 1.0, 3.0, 7.0, 20.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    for call in (announcer.on_start, announcer.on_start, announcer.on_end, announcer.on_end):
        call(None)
    announcer.on_start(None)
    announcer.on_end(None)
    assert announcer.seconds == 3.0 + 13.0


@pytest.mark.slow
def test_a_run_says_it_where_it_was_asked_for_more(tmp_path) -> None:
    for more in (("-v",), (), ("-q",)):
        words = [sys.executable, "-m", "ppdm_flow", "run", str(POLICY), "--out", str(tmp_path), *more]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert len(LINE.findall(done.stderr)) == (1 if more == ("-v",) else 0)
