"""The command line inside this process: as the ``cli`` fixture, but much faster."""

from __future__ import annotations

from subprocess import CompletedProcess

import pytest

from ppdm_flow.cli.main import main


@pytest.fixture
def here(capsys, monkeypatch):
    """Run ``ppdm-flow`` with these words in the folder ``cwd``; returns what a finished process would be."""

    def run(*words, cwd=None):
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return CompletedProcess(words, caught.value.code or 0, out, err)

    return run
