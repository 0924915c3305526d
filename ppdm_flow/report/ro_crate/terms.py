"""The words of RO-Crate and of its Five Safes profile that our crates use.

Source: RO-Crate 1.2 (https://w3id.org/ro/crate/1.2), and Five Safes RO-Crate profile 0.4
(https://w3id.org/5s-crate/0.4), TRE-FX.
"""

from __future__ import annotations

from typing import Any

Entity = dict[str, Any]

CRATE = "https://w3id.org/ro/crate/1.2"
CONTEXT = f"{CRATE}/context"
PROFILE = "https://w3id.org/5s-crate/0.4"
METADATA = "ro-crate-metadata.json"
ROOT = "./"

DONE = "http://schema.org/CompletedActionStatus"
FAILED = "http://schema.org/FailedActionStatus"
PENDING = "http://schema.org/PotentialActionStatus"
DISCLOSURE_CHECK = "https://w3id.org/shp#DisclosureCheck"
SIGN_OFF = "https://w3id.org/shp#SignOff"


def reference(*names: str) -> Any:
    """Return a reference to an entity; of several, a list."""
    references = [{"@id": name} for name in names]
    return references[0] if len(references) == 1 else references
