"""Scripts of others are those that are written down, with their licences."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import ppdm_flow.page

VENDOR = Path(ppdm_flow.page.__file__).parent / "static" / "vendor"


def test_each_script_is_the_one_that_is_written_down():
    listed = dict(
        re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.MULTILINE)
    )
    assert set(listed) == {file.name for file in VENDOR.glob("*.js")}
    for name, digest in listed.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest


def test_each_script_has_its_licence(root):
    assert all(file.with_name(file.name.replace(".min.js", ".LICENSE")).exists() for file in VENDOR.glob("*.js"))
    lock = (root / ".github/vendor/codemirror/package-lock.json").read_text()
    bundled = set(re.findall(r'"node_modules/((?!@esbuild|esbuild)[^"]+)"', lock))
    named = set(re.findall(r"^==== (\S+) ", (VENDOR / "codemirror-6.LICENSE").read_text(), re.MULTILINE))
    assert bundled == named
