"""A fixed sample of the campaign of single bytes; the whole is `python tests/campaigns/evidence.py`."""

from __future__ import annotations

import pytest
from campaigns.evidence import _SHARES, FOUND, Campaign


@pytest.mark.slow
def test_each_changed_byte_is_found(tmp_path):
    campaign = Campaign.made(tmp_path)
    ends = [(kind, end) for kind, _, end in campaign.outcomes(300, seed=20)]
    assert {kind for kind, _ in ends} == set(_SHARES)
    assert {end for _, end in ends} == {FOUND}
    assert campaign.holds(), "what was changed was put back"
