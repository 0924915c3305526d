"""A statement about a release that nobody made."""

from __future__ import annotations

STATEMENT = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [
        {"name": "dictionary.json", "digest": {"sha256": "1" * 64}},
        {"name": "study.csv", "digest": {"sha256": "2" * 64}},
    ],
    "predicateType": "https://ppdm-flow.example/attestations/release/v1",
    "predicate": {
        "run": {
            "policy": "clinic",
            "name": "20260301T080000Z-0123456789ab",
            "started": "2026-03-01T08:00:00+00:00",
            "finished": "2026-03-01T08:00:05+00:00",
            "verdict": "released",
        },
        "release": "study",
        "role": "data-owner",
        "signer": {"key_id": "", "key": ""},
        "signed": "2026-03-01T09:00:00+00:00",
        "digests": {
            "manifest": "3" * 64,
            "report": "4" * 64,
            "policy": "5" * 64,
            "plan": "6" * 64,
            "lock": None,
            "templates": {},
        },
        "requirements": [
            {
                "id": "privacy.k_anonymity",
                "metric": "privacy.k_anonymity.k",
                "bound": 3.0,
                "direction": "at_least",
                "measured": 5,
                "holds": True,
            }
        ],
        "waivers": [],
        "tool": {"name": "ppdm-flow", "version": "0.1.0"},
        "randomness": {"mode": "sealed", "commitment": "7" * 64},
    },
}
