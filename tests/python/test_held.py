"""A held run from a program: it is no release, until people have signed it."""

from __future__ import annotations

from pathlib import Path

import pytest
from held_runs import HeldHome

import ppdm_flow as pf


def test_a_held_run_has_no_tables(tmp_path: Path) -> None:
    home = HeldHome.make(tmp_path)
    result = pf.run(home.folder / "policy.yaml", out=tmp_path / "runs", sign=tmp_path / "ana.key")
    assert (result.verdict, result.held, result.released) == ("held", True, False)
    assert result.tables == {}
    with pytest.raises(pf.UsageError, match="it is held"):
        result.to_pandas()
    home.approve(result.run_dir)
    assert home.release(result.run_dir).outcome.published
