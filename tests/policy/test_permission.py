"""Who lets a policy waive its requirements."""

from __future__ import annotations

import pytest

ALLOWS = "floors: {waivers.privacy: allowed}\n"
FORBIDS = "floors: {waivers.privacy: forbidden}\n"
ASKS = "privacy: {k_anonymity: {k: 5}}\n"


@pytest.mark.parametrize(
    ("files", "own", "allowed", "decides"),
    [
        ({"a.yaml": ALLOWS + ASKS}, "", True, "a.yaml"),
        ({"a.yaml": ASKS}, "", False, "a.yaml"),
        ({"a.yaml": "owner: me\n"}, ASKS, False, None),
        ({"a.yaml": ASKS}, ALLOWS, False, "a.yaml"),
        ({"a.yaml": "owner: me\n"}, ALLOWS + ASKS, False, None),
        ({"a.yaml": ALLOWS + ASKS}, FORBIDS, False, "p.yaml"),
        ({"a.yaml": ALLOWS + ASKS, "b.yaml": "owner: me\n"}, "", True, "a.yaml"),
        ({"a.yaml": ALLOWS, "b.yaml": ASKS}, "", False, "b.yaml"),
        ({"a.yaml": ALLOWS, "b.yaml": "floors: {privacy.k_anonymity.k: '>= 2'}\n"}, ASKS, False, "b.yaml"),
        ({"a.yaml": ALLOWS, "b.yaml": "floors: {'gates.*.max': '<= 0.1'}\n"}, ASKS, False, "b.yaml"),
        ({"a.yaml": ALLOWS + ASKS, "b.yaml": FORBIDS}, "", False, "b.yaml"),
        ({"a.yaml": "extends: org.yaml\n" + ASKS, "org.yaml": ALLOWS}, "", True, "org.yaml"),
        ({"a.yaml": "extends: org.yaml\n" + ALLOWS, "org.yaml": ASKS}, "", False, "org.yaml"),
        ({"a.yaml": "extends: org.yaml\n" + FORBIDS, "org.yaml": ALLOWS + ASKS}, "", False, "a.yaml"),
    ],
)
def test_a_template_with_requirements_has_to_allow_waivers(
    read, start, files: dict[str, str], own: str, allowed: bool, decides: str | None
) -> None:
    entries = ", ".join(name for name in files if name != "org.yaml")
    loaded = read(start + f"extends: [{entries}]\n" + own, files)
    assert loaded.privacy_waivers.allowed is allowed
    place = loaded.privacy_waivers.place
    assert (place.file if place else None) == decides


def test_a_policy_without_templates_waives_nothing(read, start) -> None:
    assert not read(start + ASKS + ALLOWS).privacy_waivers.allowed
