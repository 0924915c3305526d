"""The waivers that a finished run rests on, as its manifest has them, on a later day."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ppdm_flow.core.waivers import day
from ppdm_flow.engine.manifest import Manifest, ManifestWaiver


@dataclass(frozen=True, slots=True)
class UsedWaiver:
    """A waiver that a finished run needed, described as of today."""

    name: str
    text: str
    expired: bool = False


def used_waivers(manifest: Manifest, today: date) -> tuple[UsedWaiver, ...]:
    """Return the waivers that the run needed. If one of them has expired, the run would be withheld today."""
    return tuple(_used_waiver(each, today) for each in manifest.get("waivers", ()) if each["covers"])


def _used_waiver(each: ManifestWaiver, today: date) -> UsedWaiver:
    until, covers = date.fromisoformat(each["until"]), ", ".join(each["covers"])
    left = (until - today).days
    if left < 0:
        return UsedWaiver(each["name"], f"has expired since ({until}): {covers} would count today", expired=True)
    return UsedWaiver(each["name"], f"counts until {until} ({left} days left): {covers}")


def readable(manifest: Manifest) -> bool:
    """Whether the waivers of a manifest are as this program writes them."""
    waivers = manifest.get("waivers", [])
    return isinstance(waivers, list) and all(_whole(each) for each in waivers)


def _whole(each: Any) -> bool:
    if not isinstance(each, Mapping) or not all(isinstance(each.get(key), str) for key in ("name", "of", "until")):
        return False
    covers = each.get("covers")
    return day(each["until"]) is not None and isinstance(covers, list) and all(isinstance(c, str) for c in covers)


def agrees(report: Path, manifest: Manifest) -> bool:
    """Whether a run's report tells of the same waivers as its manifest."""
    try:
        told = json.loads(report.read_text(encoding="utf-8")).get("waivers", [])
        said = [{key: each[key] for key in ("name", "of", "until", "covers")} for each in told]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return said == list(manifest.get("waivers", []))
