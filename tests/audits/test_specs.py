"""The cards of all audits: light, complete, and with a page for each code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ppdm_flow.audits
from ppdm_flow.core.codes import pages
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.sdk.audit import Audit, Rechecked
from ppdm_flow.sdk.registry import listed, load

NAMES = [p.name for p in listed("audits") if p.built_in]
ROOM = Path(ppdm_flow.audits.__file__).parent


@pytest.mark.parametrize("name", NAMES)
def test_every_audit(name):
    spec = load("audits", name)
    assert spec.info.kind is Kind.AUDIT
    assert spec.info.summary
    algorithm = spec.load()(spec.params())
    assert isinstance(algorithm, Audit)
    if spec.info.serves:
        assert spec.info.serves == (name,)
        assert isinstance(algorithm, Rechecked)


def test_specs_are_light():
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "sklearn", "numba", "duckdb", "networkx")
    code = (
        "import sys; from ppdm_flow.sdk.registry import load\n"
        f"for name in {NAMES!r}: load('audits', name)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_code_has_a_page_and_every_page_a_use():
    raised = {c for file in ROOM.rglob("*.py") for c in re.findall(r"PPF8\d\d", file.read_text())}
    assert raised == {c for c in pages() if c.startswith("PPF8")}
    for code in raised:
        page = pages()[code]
        assert all((page.title, page.what, page.why, page.fix))
