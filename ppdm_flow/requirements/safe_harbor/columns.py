"""What is searched for in each released column: by its name, its lineage and its role."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.identifiers.patterns import Identifier
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_BY_CELLS: frozenset[Identifier] = frozenset(("zip_codes", "ages"))


@dataclass(frozen=True, slots=True)
class ScannedColumn:
    """One column, and the kinds that it is searched for.

    ``named`` are the kinds that all its cells are of. ``zips``, ``ages`` and ``births``: it holds ZIP codes, ages,
    years of birth. ``coded``: a step changed it. ``texts``: its cells may hold anything; those of a float may not.
    ``sets``: its cells are sets of items. ``cleared`` are the kinds that somebody looked at.
    """

    name: str
    named: frozenset[Identifier]
    zips: bool
    ages: bool
    births: bool
    coded: bool
    texts: bool
    sets: bool
    cleared: frozenset[str]


def looks(requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> tuple[ScannedColumn, ...]:
    """Return what is looked for, for each column but weights, which are no cells of a person."""
    weights = (Role.WEIGHT, Role.SAMPLING_WEIGHT)
    return tuple(_look(f.name, requirement, ctx) for f in candidate.schema if f.role not in weights)


def _look(name: str, requirement: SafeHarbor, ctx: AuditContext) -> ScannedColumn:
    facts = ctx.attributes.get(name, AttributeFacts(name, Role.INSENSITIVE))
    sources = _sources(facts)
    identifiers = frozenset[Identifier]().union(*(told_by(n) for n in (name, *sources)))
    named_births = any(tells_birth(n) for n in (name, *sources))
    births = named_births or _listed(sources, name, requirement.birth_years)
    named = identifiers - _BY_CELLS
    if facts.how is DerivationKind.KEYED or facts.role in (Role.IDENTIFIER, Role.SUBJECT):
        named = frozenset[Identifier](("unique_codes",))
    return ScannedColumn(
        name=name,
        named=named,
        zips="zip_codes" in identifiers or _listed(sources, name, requirement.zip_codes),
        ages=("ages" in identifiers and not named_births) or _listed(sources, name, requirement.ages),
        births=births,
        coded=not facts.unchanged,
        texts=not (facts.is_numeric and facts.type is AttributeType.FLOAT),
        sets=facts.role is Role.ITEMS,
        cleared=frozenset(requirement.cleared.get(name, ())),
    )


def _sources(facts: AttributeFacts) -> tuple[str, ...]:
    """Return the attributes of the source whose values the cells rename one by one."""
    return tuple(sorted(facts.lineage.computed_from)) if facts.lineage.value_map else ()


def _listed(sources: Iterable[str], name: str, names: Iterable[str]) -> bool:
    return not {name, *sources}.isdisjoint(names)


# Kinds by the name of a column: `patient_name` holds names, `zip5` ZIP codes.


_WHO = (
    r"(patient|person|subject|client|member|participant|respondent|mother|father|parent|spouse|guardian|child|contact|"
    r"employer|relative|next_of_kin|insured|subscriber|customer)"
)
_NAMES: dict[Identifier, str] = {
    "names": rf"({_WHO}_)?((first|last|middle|maiden|given|family|full|sur|nick|legal|preferred|birth|fore)_?)?names?"
    rf"|surname|forename|initials|{_WHO}_initials|employer|next_of_kin",
    "places": r"(.*_)?(street|address(_line)?(_?[0-9])?|addr(_?[0-9])?|city|town|village|county|parish|borough|"
    r"precinct|municipality|neighbou?rhood|census_tract|tract|block_group|census_block|latitude|longitude|lat|lon|lng|geocode|"
    r"geohash|fips|birth_?place|place_of_(birth|residence|death))(_(name|code|fips|id))?",
    "zip_codes": r"(.*_)?(zip|zip_?code|zip_?[3459]|zip_?plus_?4|postal_?code|post_?code)(_?[0-9])?",
    "ages": r"age(_(in|at)_.*|_years?|_yrs?|_group|_band|_class|_?[0-9])?|(.*_)age|agegrp|age_?grp",
    "phones": r"(.*_)?(phone|telephone|tel|mobile|cell_?phone|pager)(_?(no|num|nr|number))?(_?[0-9])?",
    "faxes": r"(.*_)?(tele)?fax(_?(no|num|nr|number))?(_?[0-9])?",
    "emails": r"(.*_)?e_?mails?(_address)?(_?[0-9])?",
    "social_security": r"(.*_)?(ssn|ssn_?(4|last_?4)|social_security(_(no|num|number))?|soc_sec(_no)?|tin|itin)",
    "medical_records": r"(.*_)?(mrn|medical_record(_?(id|no|num|number))?|chart_?(id|no|num|number)|"
    r"hospital_number|empi)",
    "health_plans": r"(.*_)?(health_plan_?(id|no|num|number)|member_?(id|no|num|number)|subscriber_?(id|no|num|number)|"
    r"beneficiary(_?(id|no|num|number))?|mbi|hicn?|insurance_?(id|no|num|number)|policy_?(id|no|num|number)|"
    r"medicare_?(id|no|num|number)|medicaid_?(id|no|num|number))",
    "accounts": r"(.*_)?(account|acct|iban|credit_?card|debit_?card|card|bank_account)(_?(id|no|num|nr|number))?",
    "licences": r"(.*_)?(licen[cs]e|certificate|passport|driver_?s?_licen[cs]e|dea)(_?(id|no|num|nr|number))?",
    "vehicles": r"(.*_)?(vin|vehicle(_?(id|no|number))|licen[cs]e_plate|plate(_?(no|number))?|registration_plate)",
    "devices": r"(.*_)?(serial(_?(no|num|number))?|device_?(id|identifier|no|number|serial)|udi|imei|imsi|mac_address|"
    r"implant_?(id|serial|no|number))",
    "urls": r"(.*_)?(url|website|web_?site|homepage|web_address|profile_link)",
    "ip_addresses": r"(.*_)?(ip|ip_?v?[46]|ip_?addr(ess)?)",
    "biometrics": r"(.*_)?(finger_?prints?|voice_?prints?|retina(_scan)?|iris(_scan)?|face_?prints?|biometrics?|genome|"
    r"dna_sequence|voice_recording|signature)",
    "photographs": r"(.*_)?(photo|photograph|portrait|face_image|picture|mugshot|selfie)s?(_(file|path|url|id))?",
    "unique_codes": r"id|uuid|guid|user_?name|login|(.*_)?(uuid|guid)|"
    r"(patient|person|subject|participant|respondent|client|customer|case|record|encounter|visit|admission|"
    r"claim|specimen|sample|accession|study|row|order|prescription|invoice)_?(id|identifier|no|num|number|key|code)",
}
_BIRTH = re.compile(r"(.*_)?(birth_?(year|date|day|yr)|year_of_birth|date_of_birth|dob|yob|birthday|born)(_.*)?")
_ADDRESSES: frozenset[Identifier] = frozenset(("emails", "urls", "ip_addresses", "devices"))
"""Kinds of addresses at which nobody lives."""
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _NAMES.items()}


@cache
def told_by(name: str) -> frozenset[Identifier]:
    """Return the kinds that a column's name suggests; for `zip_codes` and `ages` its cells decide.

    Examples
    --------
    >>> sorted(told_by("PatientName")), sorted(told_by("Home Phone")), sorted(told_by("drug_name"))
    (['names'], ['phones'], [])
    """
    words = spelled(name)
    kinds = {kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(words)}
    return frozenset(kinds - {"places"} if kinds & _ADDRESSES else kinds)


@cache
def tells_birth(name: str) -> bool:
    """Whether a column's name says that it holds years or dates of birth."""
    return _BIRTH.fullmatch(spelled(name)) is not None


def spelled(name: str) -> str:
    """Return a name in lower case, its words joined by underscores.

    Examples
    --------
    >>> spelled("patients.FirstName"), spelled("ZIP Code")
    ('first_name', 'zip_code')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.rpartition(".")[2])
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
