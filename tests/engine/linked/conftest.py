from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ppdm_flow import api

KEY = "0123456789abcdef0011223344556677"
Rows = Sequence[Mapping[str, object]]
Clinic = Callable[..., Path]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """Write tables of a clinic with their policy; return the policy's file."""
    monkeypatch.setenv("CLINIC_KEY", KEY)

    def write(policy: str, **tables: Rows) -> Path:
        for name, rows in tables.items():
            columns = list(rows[0])
            lines = [columns, *([row.get(c, "") for c in columns] for row in rows)]
            text = "\n".join(",".join(map(str, line)) for line in lines)
            (tmp_path / f"{name}.csv").write_text(text + "\n", encoding="utf-8")
        file = tmp_path / "policy.yaml"
        file.write_text(policy, encoding="utf-8")
        return file

    return write


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., api.RunResult]:
    """Run a policy, and keep what is withheld."""
    return lambda policy, **more: api.run(policy, out=tmp_path / "runs", keep_withheld=True, **more)
