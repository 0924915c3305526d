"""Ranges of versions of packaged templates, with a distribution made for the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.policy.text.versions import holds, readable


@pytest.fixture
def acme(tmp_path: Path, monkeypatch):
    """Install ``acme-policies`` with the template ``hospital`` in some version."""
    sites = iter(range(100))

    def install(version: str) -> None:
        site = tmp_path / f"site{next(sites)}"
        (site / "acme_policies").mkdir(parents=True)
        (site / "acme_policies" / "hospital.yaml").write_text("privacy: {k_anonymity: {k: 11}}\n")
        info = site / f"acme_policies-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-policies\nVersion: {version}\n")
        (info / "entry_points.txt").write_text("[ppdm_flow.templates]\nhospital = acme_policies\n")
        monkeypatch.syspath_prepend(str(site))

    return install


@pytest.mark.parametrize(
    ("wanted", "version", "good"),
    [
        (">=1.2,<2", "1.4.2", True),
        (">=1.2,<2", "2.0", False),
        (">= 1.2, < 2", "1.2", True),
        ("~=1.4", "1.9", True),
        ("~=1.4", "2.0", False),
        ("~=1.4.2", "1.4.9", True),
        ("~=1.4.2", "1.5", False),
        ("1.4", "1.4.2", True),
        ("1.4", "1.40", False),
        ("1", "1.4.2", True),
        ("v1.4", "1.4", True),
        ("==1.4", "1.4.0", True),
        ("==1.4", "1.4.2", False),
        ("==1.4.*", "1.4.2", True),
        ("!=1.4.2", "1.4.2", False),
        (">=1.4", "1.5rc1", True),
        (">=1.4", "1.4rc1", False),
    ],
)
def test_ranges(wanted: str, version: str, good: bool) -> None:
    assert readable(wanted)
    assert holds(version, wanted) is good


@pytest.mark.parametrize("wanted", ["^1.2", "1.x", "", " ", "latest", ">=", "=1.2", "1.2 - 1.4", ">=1.2 <2"])
def test_what_is_no_range(wanted: str) -> None:
    assert not readable(wanted)
    assert not holds("1.2", wanted)


def test_a_template_of_a_package(read, start, codes, acme) -> None:
    acme("1.4.2")
    for reference in ("@>=1.2,<2", "@~=1.4", "@1.4", " @ 1.4", ""):
        assert codes(read(f"{start}extends: 'pkg:acme-policies/hospital{reference}'\n")) == []
    assert codes(read(f"{start}extends: 'pkg:acme-policies/hospital@^1'\n"))[0] == "PPF316"
    loaded = read(f"{start}extends: 'pkg:acme-policies/hospital@>=2'\n")
    assert codes(loaded)[0] == "PPF317"
    assert "1.4.2" in loaded.diagnostics[0].message


def test_two_ranges_of_one_package_have_to_agree(read, start, codes, acme) -> None:
    acme("1.4.2")
    files = {
        "a.yaml": "extends: 'pkg:acme-policies/hospital@>=1.2'\n",
        "b.yaml": "extends: 'pkg:acme.policies/hospital@<2'\n",
        "c.yaml": "extends: 'pkg:Acme_Policies/hospital@>=2'\n",
    }
    assert codes(read(f"{start}extends: [a.yaml, b.yaml]\n", files)) == []
    loaded = read(f"{start}extends: [a.yaml, c.yaml]\n", files)
    (fault,) = [d for d in loaded.diagnostics if d.code == "PPF317"]
    assert fault.span.file == "c.yaml"
    assert "a.yaml" in {r.span.file for r in fault.related}


def test_what_is_installed_later_is_seen(read, start, codes, acme) -> None:
    text = f"{start}extends: 'pkg:acme-policies/hospital@2'\n"
    assert "PPF301" in codes(read(text))
    acme("1.0")
    assert "PPF317" in codes(read(text))
    acme("2.1")
    assert codes(read(text)) == []
