"""A server of the page for each test; the processes that it begins are forks of ones with warm imports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from forked_jobs import ForkedJobs
from sites import Server

from ppdm_flow.evidence import key_files
from ppdm_flow.page.services.bounded import BoundedCalls
from ppdm_flow.page.services.jobs import jobs
from ppdm_flow.page.services.policies import checks
from ppdm_flow.page.services.tables import tables
from ppdm_flow.page.services.tables.copying import CopyExitCode, CopyTask, copy_table

BEGIN = jobs.begin


class CopiesMadeHere(BoundedCalls):
    """Makes copies of released tables in this process, which has imported all that they need."""

    def run(self, _function: object, task: CopyTask) -> CopyExitCode:
        """Make a copy."""
        return copy_table(task)


@pytest.fixture(scope="session", autouse=True)
def _warm_processes() -> Iterator[None]:
    """Let jobs be forks, copies of released tables be made here, and keys be encrypted at once.

    Pages wait for the states of files as long as it takes: a machine that is busy shows what any other one does.
    """
    forked = ForkedJobs()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "begin", forked.begin)
        patched.setattr(jobs, "_LOOK", 0.02)
        patched.setattr(checks, "_MOMENT", 300)
        patched.setattr(checks, "_PATIENCE", 300)
        patched.setattr(key_files, "_ROUNDS", 1)
        patched.setattr(tables, "BoundedCalls", CopiesMadeHere)
        yield
    forked.close()


@pytest.fixture
def new_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin jobs and copies of tables as the server does: in new processes."""
    monkeypatch.setattr(jobs, "begin", BEGIN)
    monkeypatch.setattr(tables, "BoundedCalls", BoundedCalls)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Return a server for all tests of a module, which change nothing on it."""
    return Server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """Return a server with nobody's policies, and one person a role."""
    return Server(tmp_path)
