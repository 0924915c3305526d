"""The examples of docstrings and the notebook are carried out."""

from __future__ import annotations

import doctest
import json
import shutil

import pytest

import ppdm_flow
from ppdm_flow.python import calls


@pytest.mark.parametrize(("module", "least"), [(ppdm_flow, 2), (calls, 8)])
def test_examples_do_what_they_say(module, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(module)
    assert (done.failed, done.attempted >= least) == (0, True)


def test_every_function_says_what_it_takes_and_raises():
    for name in ("run", "check", "plan", "audit", "sweep", "diff", "profile"):
        assert "Raises" in getattr(ppdm_flow, name).__doc__


@pytest.mark.slow
def test_the_notebook_runs(root, tmp_path, monkeypatch, capsys):
    notebook = json.loads((root / "pipelines/from_python.ipynb").read_text(encoding="utf-8"))
    (tmp_path / "data").mkdir()
    for name in ("bank_credit.yaml", "data/bank_credit.csv"):
        shutil.copy(root / "pipelines" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        exec("".join(cell["source"]), names)
    assert len(cells) >= 6
    assert names["withheld"].verdict == "withheld"
    assert "`rating`" in capsys.readouterr().out
