"""Only what was audited leaves: the files as they were read back, and none beside them."""

from __future__ import annotations

import pytest

from ppdm_flow.core.results import AuditOutcome


def meddling(bench, tools, meddle):
    """The error of a run in which an audit does ``meddle`` with the folder of the candidates."""

    class Meddles:
        def __init__(self, params):
            self.params = params

        def measure(self, original, candidate, ctx):
            meddle(next(bench.out.glob("*/.tmp-*/candidate/study")))
            return AuditOutcome()

    bench.data(tools.rows(200))
    return bench.fails(tools.swapped(bench.plan(), "class_sizes", Meddles))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", ["more.csv", ".hidden", "sub/more.csv"])
def test_a_file_beside_the_release(bench, tools, name):
    def meddle(folder):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(tools.CANARY)

    assert [d.code for d in meddling(bench, tools, meddle).diagnostics] == ["PPF904"]


def test_a_link_beside_the_release(bench, tools):
    def meddle(folder):
        if not (folder / "link").is_symlink():
            (folder / "link").symlink_to("/etc")

    assert [d.code for d in meddling(bench, tools, meddle).diagnostics] == ["PPF904"]


def test_a_release_that_changes_after_it_was_read_back(bench, tools):
    def meddle(folder):
        with (folder / "study.csv").open("a") as file:
            file.write("x,y,z,1\n")

    error = meddling(bench, tools, meddle)
    assert error.diagnostics[0].code in ("PPF902", "PPF903")  # another audit may see it first
    assert error.exit_status == 3


@pytest.mark.slow
def test_a_release_that_is_gone(bench, tools):
    error = meddling(bench, tools, lambda folder: (folder / "study.csv").unlink(missing_ok=True))
    assert error.exit_status == 3
