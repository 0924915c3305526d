"""A run that goes to an object store is signed there by its author, and never held there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import buckets
import pytest
from held_runs import POLICY, HeldHome

from ppdm_flow import api
from ppdm_flow.core.errors import UsageError

pytest.importorskip("moto")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with buckets.object_store() as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        for key in store.keys(""):
            store.client.delete_object(Bucket=buckets.BUCKET, Key=key)
        yield store


def test_the_authors_signature_is_beside_the_manifest(plain: HeldHome, store: Any) -> None:
    out = Path(f"s3://{buckets.BUCKET}/runs")
    with pytest.raises(UsageError) as caught:
        api.run(plain.folder / "policy.yaml", out=out, sign=plain.folder / "ana.key")
    assert caught.value.diagnostics[0].code == "PPF469"
    assert store.keys("") == []
    plain.policy(POLICY.replace("approvals:", "#"))
    ran = api.run(plain.folder / "policy.yaml", out=out, sign=plain.folder / "ana.key")
    assert ran.released
    keys = [key for key in store.keys("") if "/attestations/author-" in key]
    assert len(keys) == 2  # the envelope, and its copy in the release
    assert api.verify(Path(ran.where), signers=plain.folder / "signers.yaml").holds
