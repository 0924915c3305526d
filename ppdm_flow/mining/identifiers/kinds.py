"""The 18 kinds of identifiers of 45 CFR 164.514(b)(2)(i), (A) to (R), by the names of their figures."""

from __future__ import annotations

from typing import Literal

Identifier = Literal[
    "names",
    "places",
    "zip_codes",
    "dates",
    "ages",
    "phones",
    "faxes",
    "emails",
    "social_security",
    "medical_records",
    "health_plans",
    "accounts",
    "licences",
    "vehicles",
    "devices",
    "urls",
    "ip_addresses",
    "biometrics",
    "photographs",
    "unique_codes",
]
"""(B) has two figures, one of them for ZIP codes; (C) has two, one of them for ages and years of birth."""

WORDS: dict[Identifier, tuple[str, str]] = {
    "names": ("A", "names"),
    "places": ("B", "geographic subdivisions smaller than a state"),
    "zip_codes": ("B", "ZIP codes beyond three digits, or of a small area"),
    "dates": ("C", "dates finer than a year"),
    "ages": ("C", "ages above 89, and years of birth that tell them"),
    "phones": ("D", "telephone numbers"),
    "faxes": ("E", "fax numbers"),
    "emails": ("F", "email addresses"),
    "social_security": ("G", "Social Security numbers"),
    "medical_records": ("H", "medical record numbers"),
    "health_plans": ("I", "health plan beneficiary numbers"),
    "accounts": ("J", "account numbers"),
    "licences": ("K", "certificate and licence numbers"),
    "vehicles": ("L", "vehicle identifiers"),
    "devices": ("M", "device identifiers and serial numbers"),
    "urls": ("N", "web addresses (URLs)"),
    "ip_addresses": ("O", "IP addresses"),
    "biometrics": ("P", "biometric identifiers"),
    "photographs": ("Q", "full-face photographs and comparable images"),
    "unique_codes": ("R", "other unique numbers, characteristics or codes"),
}
"""The paragraph of each kind, and its words."""
IDENTIFIERS: tuple[Identifier, ...] = tuple(WORDS)
