"""Audits that come with kinds of requirements, beside those with an entry point of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.sdk import registry

ASK = """
import json, sys
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk import registry
names = [(p.name, p.distribution) for p in registry.listed("audits")]
imported = [m for m in sys.modules if m.startswith(("ppdm_flow.requirements", "theirs"))]
said = {}
for name in sys.argv[1:]:
    try:
        said[name] = registry.load("audits", name).info.summary
    except PluginError as error:
        said[name] = [error.diagnostics[0].code, error.diagnostics[0].message]
print(json.dumps({"names": names, "imported": imported, "said": said}))
"""
KINDS = """
from types import SimpleNamespace
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
OWN = SimpleNamespace(audit=PluginSpec(PluginInfo("own_kind", Kind.AUDIT, "Measures it."), Params, "x:Y"))
BARE = object()
"""
ONE, OTHER = (spec.name for spec in built_in()[:2])
ENTRIES = f"""
[ppdm_flow.requirements]
own_kind = theirs:OWN
bare_kind = theirs:BARE
class_sizes = theirs:OWN
[ppdm_flow.audits]
{ONE} = theirs:OWN
"""


@pytest.mark.parametrize("spec", built_in(), ids=lambda spec: spec.name)
def test_the_audit_of_a_kind_is_that_of_its_name(spec):
    (listed,) = [plugin for plugin in registry.listed("audits") if plugin.name == spec.name]
    assert listed.built_in
    assert registry.load("audits", spec.name) is spec.audit
    assert spec.audit.info.name == spec.name
    assert spec.audit.info.serves == (spec.name,)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the registry says where another distribution has kinds, and names that are taken."""
    home = tmp_path_factory.mktemp("theirs")
    (home / "theirs.py").write_text(KINDS)
    info = home / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    code = f"import sys; sys.path.insert(0, {str(home)!r})\n{ASK}"
    words = [sys.executable, "-c", code, "own_kind", "bare_kind", "class_sizes", ONE, OTHER]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=1200).stdout)


@pytest.mark.slow
def test_names_are_listed_without_import(found):
    assert ["own_kind", "theirs"] in found["names"]
    assert [ONE, "theirs"] in found["names"]
    assert found["imported"] == []


def test_the_kind_of_another_distribution_brings_its_audit(found):
    assert found["said"]["own_kind"] == "Measures it."
    assert found["said"]["bare_kind"][0] == "PPF404"


@pytest.mark.parametrize("name", ["class_sizes", ONE])
def test_a_name_is_an_audits_or_a_requirements(found, name):
    code, text = found["said"][name]
    assert code == "PPF402"
    assert f"shadows the built-in `{name}`" in text
    assert "theirs 1.0" in text
    assert isinstance(found["said"][OTHER], str)
