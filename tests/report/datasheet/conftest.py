"""Runs of small policies, and the data sheets that they leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ppdm_flow import api

ROWS = 120
JOBS, TOWNS, ILLS = ("zqcook", "zqclerk", "zqsmith"), ("zqnorth", "zqsouth"), ("zqflu", "zqcold", "zqhiv")
TABLE = "name,job,town,ill,wage,born\n" + "".join(
    f"zqname{i},{JOBS[i % 3]},{TOWNS[i % 2]},{ILLS[(i * i) % 3]},{1000 + 7 * (i * 31 % ROWS)},"
    f"19{60 + i % 30}-0{1 + i % 9}-11\n"
    for i in range(ROWS)
)
HEAD = """version: 1
name: study-policy
source: {path: zqsource.csv}
attributes:
  name: {role: identifier}
  job: {role: quasi_identifier}
  town: {role: quasi_identifier}
  ill: {role: sensitive}
  wage: {role: insensitive, type: integer}
  born: {role: insensitive, type: date}
"""
RELEASE = "releases: {study: {path: study.csv}}\n"

Made = Callable[..., Path]


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Made:
    """Run the steps on the table, and return the run's directory."""

    def run(steps: str, *, head: str = HEAD, release: str = RELEASE, table: str = TABLE, **options) -> Path:
        home = tmp_path_factory.mktemp("sheet")
        (home / "zqsource.csv").write_text(table)
        (home / "policy.yaml").write_text(head + steps + release)
        return api.run(home / "policy.yaml", out=home / "out", **options).run_dir

    return run


@pytest.fixture(scope="session")
def sheet(made) -> Callable[..., str]:
    """The Markdown of the sheet of the release `study`."""

    def text(steps: str, **options) -> str:
        run = made(steps, **options)
        return (run / "released/study/datasheet.md").read_text()

    return text
