"""The requirement `safe_harbor`: planted identifiers and their harmless mirror images, and plain loops beside it."""

from __future__ import annotations

import random
import re
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.mining.identifiers.cells import seen
from ppdm_flow.mining.identifiers.patterns import IDENTIFIERS, WORDS
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.requirements.safe_harbor.algorithm import SafeHarborAudit
from ppdm_flow.requirements.safe_harbor.columns import told_by
from ppdm_flow.requirements.safe_harbor.requirement import LISTS, SafeHarbor, areas
from ppdm_flow.tables.column import Column
from ppdm_flow.testing.requirement_case import BadEntry, RequirementCase
from ppdm_flow.testing.requirement_conformance import RequirementConformance
from ppdm_flow.testing.strategies import cells, tables

pa = pytest.importorskip("pyarrow")
AUDIT = SafeHarborAudit(None)
ID = "privacy.safe_harbor"


def clause(**fields):
    said = {"as_of": 2026, "zip_codes": (), "ages": (), "birth_years": (), "small_areas": LISTS, "unique": 0.8}
    return SafeHarbor.of(ID, **{**said, "cleared": {}, **fields})


def left(build, agree, table, facts=None, **fields):
    """What is left by both routes, without what nothing is left of; columns are not alone unless a test says so."""
    said = {"unique": 1.0, **fields}
    more = {"attributes": {n: AttributeFacts(n, Role.INSENSITIVE) for n in table} | facts} if facts else {}
    case = build.case(table, table, "x" * len(table), requirements=(clause(**said),), **more)
    found = agree(AUDIT, case, least=len(IDENTIFIERS))
    return {name.removeprefix(f"{ID}."): n for name, n in found.items() if n}


def kinds(build, agree, table, **fields):
    return {k: n for k, n in left(build, agree, table, **fields).items() if k not in ("cells", "columns", "cleared")}


class TestConformance(RequirementConformance):
    def case(self):
        values = ["94", "89", "12345", "036", "a@b.org", "555-234-5678", "2020-01-02", "2020", "x", ">= 90", "[90, 95)"]
        mixed = cells(values, missing=True, suppressed=True)
        return RequirementCase(
            spec_of("safe_harbor"),
            (
                {"as_of": 2026},
                {"as_of": 2020, "unique": 0.1},
                {"as_of": 2026, "zip_codes": ["disease"], "small_areas": ["census_2000"]},
                {"as_of": 2026, "ages": ["town"], "birth_years": ["disease"]},
                {"as_of": 2020, "cleared": {"town": ["dates", "phones"], "disease": ["dates"]}},
            ),
            originals=tables({"age": mixed, "town": mixed, "disease": mixed}, max_rows=15),
            examples=max(3, settings().max_examples // 3),  # DuckDB plans a query a column: few tables, more cells
            nulls=(Nulls.OWN_CATEGORY,),  # cells are looked at one by one: how groups treat missing ones says nothing
            bad=(
                BadEntry({}, "as_of"),
                BadEntry({"as_of": 2026, "zip_codes": ["zap"]}, "zap"),
                BadEntry({"as_of": 2026, "small_areas": ["36"]}, "small_areas"),
                BadEntry({"as_of": 2026, "cleared": {"town": ["nicknames"]}}, "cleared"),
                BadEntry({"as_of": 2026, "unique": 1}, "unique"),
            ),
        )


PLANTED = {
    "names": ["seen by Dr. Miller", "Mrs Ada is well", "patient name: ada"],
    "places": ["lives at 12 North Elm Street", "PO Box 12", "p.o. box 7", "40.7128, -74.0060", "9 old mill avenue"],
    "zip_codes": ["12345-6789", "Troy, NY 12180", "moved to CA 90210."],
    "dates": [
        "2020-01-31", "2020-01", "1/31/2020", "31.12.1999", "01/2020", "Jan 5, 2020", "5 January 2020", "March 2020",
        "on March 5", "20200131", "2020Q1", "Q3 2021", "2020-01-31T10:00:00", "since 3/4/19", "May 5", "202001311200",
    ],
    "ages": ["93 years old", "a 101-year-old", "aged 95", "92 y/o", "age of 90"],
    "phones": [
        "555-234-5678", "(555) 234-5678", "call +1 555 234 5678", "555.234.5678 x3", "+49 30 1234567", "call 555-0123",
        "Tel. 5550123",
    ],
    "faxes": ["fax: 030 123456", "Fax no. 5552345678"],
    "emails": ["mail ada.l@example.org now", "a+b@x-y.co.uk"],
    "social_security": ["123-45-6789", "SSN 123 45 6789", "ssn: 6789", "987-65-4321"],
    "medical_records": ["MRN 12345", "mrn#A123456", "Medical record number: 998877"],
    "health_plans": ["member id 1234567", "1EG4-TE5-MK73", "1EG4TE5MK73", "policy no. AB12345"],
    "accounts": ["4111 1111 1111 1111", "paid by 378282246310005", "acct 12345", "5555-5555-5555-4444"],
    "licences": ["license #D1234567", "Licence no 12345", "passport 1234567"],
    "vehicles": ["1M8GDM9AXKP042788", "drives 1hgcm82633a004352", "plate ABC12345"],
    "devices": ["00:1A:2B:3C:4D:5E", "(01)00844588003288", "IMEI 490154203237518", "353918052107063", "serial 123456"],
    "urls": ["see https://example.org/x", "www.example.org"],
    "ip_addresses": ["192.168.0.1", "from 10.0.0.255.", "2001:db8:0:0:8:800:200c:417a", "fe80::1ff:fe23:4567"],
    "biometrics": ["voice_017.wav", "data:audio/wav;base64,AA"],
    "photographs": ["face.jpg", "img/ada.PNG", "data:image/png;base64,AA", "/9j/4AAQSkZJRg"],
    "unique_codes": ["123e4567-e89b-12d3-a456-426614174000"],
}  # fmt: skip
HARMLESS = [
    "2020", "1987", "year 2020", "120/80", "12345", "E11.9", "I10", "99213", "0.75", "1999.05", "5 mg", "2 a day",
    "000-12-3456", "666-12-3456", "123-00-6789", "123-45-0000", "1.2.3", "256.1.1.1", "1.2.3.4.5", "10:30", "12:30:45",
    "4111 1111 1111 1112", "1M8GDM9A1KP042788", "353918052107064", "155-234-5678", "555-134-5678", "555-2345678901",
    "89 years old", "aged 45", "6 years old", "a@b", "@home", "ratio 3:4", "Drs agree", "may 2 improve", "4 of 5 doses",
    "may return", "2 head CT", "2 mm ST elevation", "plan B", "group 2", "account of pain", "certificate 2010",
    ">= 90", "[18, 65)", "*", "123**", "Massachusetts", "policy 2010", "version 2.0.1", "q 4 h", "mar", "decimal 10",
    "name of drug", "http", "www", "3.14159", "1234567890", "100000", "face", "a.jpgx", "NY", "CA 902", "T2DM", "++",
]  # fmt: skip

SPELLINGS = {
    "dates": [
        "2024\u201101\u201131", "2024\u201301\u201331", "\uff12\uff10\uff12\uff14-\uff10\uff11-\uff13\uff11",
        "2024\u200b-01-31", "2024 01 31", "2024_01_31", "31JAN2024", "Jan-2024", "31 Jan. 2024", "Jan/31/2024",
        "31/Jan/2024", "31st of January 2024", "January the 31st, 2024", "2024-Jan-31", "2024 January 31",
        "31. Januar 2024", "le 3 ao\xfbt 2021", "3 de mayo de 2020", "2024/1/31", "2024\u5e741\u670831\u65e5",
        "2024-W05-3", "20240131T1015", "31 01 2024", "\u0662\u0660\u0662\u0664-\u0660\u0661-\u0663\u0661",
        "2024\u221201\u221231", "31\xb701\xb72024", "31JAN24", "2024.1.5",
    ],
    "phones": [
        "617\u2011253\u20111000", "617\u2013253\u20131000",
        "\uff16\uff11\uff17-\uff12\uff15\uff13-\uff11\uff10\uff10\uff10", "617/253-1000", "0044 20 7946 0958",
        "(617)253-1000", "+1(617)253-1000", "1-617-253-1000", "001 617 253 1000", "617 - 253 - 1000",
        "617\xb7253\xb71000", "617_253_1000", "+44 (0)20 7946 0958", "+49/30/1234567", "011 44 20 7946 0958",
        "617 253 1000", "00 49 30 1234567", "Tel.: 617-253-1000", "phone 617_2531000",
    ],
    "social_security": [
        "078\u201105\u20111120", "078\u201305\u20131120", "0\uff178-05-1120", "078.05.1120", "078_05_1120",
        "078 - 05 - 1120", "SS# 078051120", "social-security no. 078051120", "078 05 1120", "078\u200b-05-1120",
        "soc. sec. no. 078051120",
    ],
    "emails": [
        "jo\uff20example.com", "jo\u200b@example.com", "jo @ example.com", "jo[at]example.com",
        "jo (at) example (dot) com", "jo at example dot com", "jo&#64;example.com", "jo%40example.com",
        "j\xf6@ex\xe4mple.de", "jo@example\u3002com", "mailto:jo@example.com", "jo@ example.com", "<jo@example.com>",
    ],
    "zip_codes": [
        "zip 02139", "ZIP: 02139", "Mass. 02139", "zip code 02139", "zipcode: 02139", "Massachusetts, 02139",
        "MA-02139", "MA,02139", "N.Y. 12180", "postal code 02139", "02139 USA", "ZIP=02139",
        "MA \uff10\uff12\uff11\uff13\uff19",
    ],
    "names": [
        "MR SMITH", "Mr Smith", "Ms O\u2019Brien", "Mr.Smith", "mrs smith", "mr. smith", "Mister Smith", "Smith, Mr.",
        "Mr. J. Smith", "Mr von Braun", "Mme Dupont", "Herr Schmidt", "Frau M\xfcller", "Mr. \xc5ngstr\xf6m",
        "MRS O'BRIEN", "Dr. Miller", "Se\xf1ora Garc\xeda", "DR MILLER",
    ],
    "accounts": [
        "4111.1111.1111.1111",
        "\uff14\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11",
        "4111_1111_1111_1111", "4111/1111/1111/1111", "4111 - 1111 - 1111 - 1111", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111 1111 1111 1111", "4111\u20131111\u20131111\u20131111", "card:4111111111111111",
        "4111  1111  1111  1111",
    ],
    "ages": [
        "93 yrs", "aged ninety three", "93 years", "93-yr-old", "age: 93", "ninety-three years old", "93 y.o.", "93y",
        "nonagenarian", "in her nineties", "(95 yrs)", "age=91", "aged one hundred and two",
    ],
}  # fmt: skip
"""The same identifiers in other spellings: typographic signs, invisible characters, other separators and words."""
MIRRORS = [
    "blood pressure 120/80", "took 2 tablets", "room 12", "version 3.1.4", "about 1,200 steps", "MR imaging",
    "MR angiography of head", "MS relapse", "MS Excel", "DR note", "Prof-specialty", "Married-civ-spouse",
    "Never-married", "Other-service", "1 234 567,89", "\u20ac 1.234,50", "12.5%", "1,200.50", "-45.2",
    "SKU-2024-00017", "A12-3456-7", "4006381333931", "978-3-16-148410-0", "12-345-678", "ISO 9001", "5-10", "18-64",
    "Dr Pepper", "citrus fruit, berries", "K1A 0B1", "SW1A 1AA", "10115 Berlin", "02139",
    "about 12000 people in Texas", "in Texas 12000 people", "90 mg", "95 %", "90 min", "93", "age group 45-49",
    "born 1987", "90th percentile", "at home", "look at this", "meet at noon dot", "mail", "0.1234567", "12:00",
    "GHS 4711", "C18:1", "10.1.2", "XJ9-22", "2x4", "1/2", "+5", "00", "00123", "3 + 4", "1-2-3", "order 00012345",
    "1000000", "United-States", "Holand-Netherlands", "?", "5th Avenue Theatre", "sausage", "UHT-milk",
    "Some-college", "7th-8th", "<=50K", ">50K", "1,5-dichloro", "45.678, 12.3", "born again", "1950", "for 95 years",
    "warranty 95", "MR", "Ms", "Dr", "miss rate", "12 345 678", "2024 08", "Q4", "May", "1 may", "in 12345",
    "grade 12", "CAS 50-78-2", "B12", "1e-5", "No. 5",
]  # fmt: skip
"""Codes, amounts, labels and words that share a form with an identifier."""


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("kind", PLANTED)
def test_planted_identifiers_are_found(kind, build, agree):
    texts = PLANTED[kind]
    assert kinds(build, agree, {"note": [*texts, "nothing", None, "⊥"]})[kind] == len(texts)


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize(
    "kind", [k for k in PLANTED if k not in ("unique_codes", "photographs", "biometrics", "devices", "dates")]
)
def test_they_are_found_within_a_text(kind, build, agree):
    texts = [f"he said ({text}) twice" for text in PLANTED[kind]]
    assert kinds(build, agree, {"note": texts})[kind] == len(texts)


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("kind", SPELLINGS)
def test_they_are_found_in_every_spelling(kind, build, agree):
    texts = SPELLINGS[kind]
    assert kinds(build, agree, {"note": [*texts, "nothing"]})[kind] == len(texts)


def test_their_mirror_images_are_not(build, agree):
    assert kinds(build, agree, {"note": [*HARMLESS, *HARMLESS, *MIRRORS, *MIRRORS, "nothing"]}) == {}


def test_a_year_of_birth_within_a_text_counts_by_its_age(build, agree):
    early, late = ["born 1930", "DOB: 3.4.1931", "b. 1936", "Born in 1920."], ["born 1937", "born 1987", "DOB 2001"]
    assert kinds(build, agree, {"note": [*early, *late]}) == {"ages": 4, "dates": 1}


def test_each_kind_of_the_rule_has_a_figure():
    assert [letter for letter, _ in WORDS.values()] == sorted(letter for letter, _ in WORDS.values())
    assert {letter for letter, _ in WORDS.values()} == set("ABCDEFGHIJKLMNOPQR")
    assert set(PLANTED) == set(IDENTIFIERS)


def luhn(digits):
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if place % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def vin(text):
    letters = {c: i % 9 + 1 for i, c in enumerate("ABCDEFGHI")} | {c: i + 1 for i, c in enumerate("JKLMNOPQR")}
    letters |= {c: i + 2 for i, c in enumerate("STUVWXYZ")}
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    total = sum(w * (int(c) if c.isdigit() else letters[c]) for w, c in zip(weights, text, strict=True))
    return "0123456789X"[total % 11] == text[8]


@pytest.mark.slow
def test_check_digits_against_plain_loops(build, agree):
    draw = random.Random(3)
    cards = ["4" + "".join(draw.choices("0123456789", k=15)) for _ in range(400)]
    frames = ["".join(draw.choices("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", k=17)) for _ in range(2000)]
    frames = [f[:8] + draw.choice("0123456789X") + f[9:] for f in frames]
    found = kinds(build, agree, {"card": cards, "frame": frames[:400]}, cleared={"card": ("accounts",)})
    assert found["vehicles"] == sum(map(vin, frames[:400]))
    assert kinds(build, agree, {"x": cards})["accounts"] == sum(map(luhn, cards))
    assert kinds(build, agree, {"x": frames})["vehicles"] == sum(map(vin, frames)) > 100
    assert kinds(build, agree, {"x": [c[:4] + " " + c[4:8] + "-" + c[8:] for c in cards]})["accounts"] == sum(
        map(luhn, cards)
    )


@pytest.mark.slow
def test_every_day_of_some_years_in_seven_spellings(build, agree):
    days = [date(1999, 1, 1) + timedelta(days=n) for n in range(0, 3000, 7)]
    for form in ("%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%Y%m%d", "%Y-%m-%dT%H:%M"):
        texts = [d.strftime(form) for d in days]
        assert kinds(build, agree, {"x": texts}).get("dates") == len(texts), form
    assert kinds(build, agree, {"x": [d.strftime("%Y") for d in days]}) == {}


def zip_is_fine(text, small):
    """What 164.514(b)(2)(i)(B) leaves of a ZIP code, read off the text."""
    if not text.strip("*xX#"):
        return True
    if text == "00000":
        return True
    bare = re.fullmatch(r"\d{1,3}", text)
    masked = re.fullmatch(r"(\d{0,3})[*xX#]+", text)
    if bare:
        return text.zfill(3) not in small
    return bool(masked) and masked[1] not in small


ZIPS = st.from_regex(r"[0-9]{0,5}[*xX#]{0,2}(-[0-9]{4})?", fullmatch=True) | st.sampled_from(
    ["036", "036**", "000", "000**", "00000", "369", "202**", "12180", "121", "36", "36*", "town"]
)


@pytest.mark.slow
@examples(10)
@given(texts=st.lists(ZIPS.filter(bool), min_size=1, max_size=20))
def test_zip_codes_against_the_rule(texts, build, agree):
    small = areas(LISTS)
    wanted = sum(not zip_is_fine(t, small) for t in texts)
    for name, more in (("zip", {}), ("PostalCode", {}), ("home", {"zip_codes": ("home",)})):
        assert kinds(build, agree, {name: texts}, **more).get("zip_codes", 0) == wanted


def test_the_published_lists():
    guidance = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
    hrsa = "202 753 205 204 821 203 059 772 692 893 036 823 102 879 556 884 878 369"
    assert areas(["census_2000"]) == set(guidance.split())
    assert areas(["census_2020"]) == set(hrsa.split())
    assert areas(["census_2000", "census_2020", "999"]) == set(f"{guidance} {hrsa} 999".split())


def test_areas_of_ones_own(build, agree):
    table = {"zip": ["036**", "121**"]}
    assert kinds(build, agree, table) == {"zip_codes": 1}
    assert kinds(build, agree, table, small_areas=("121",)) == {"zip_codes": 1}
    assert kinds(build, agree, table, small_areas=("census_2000", "121")) == {"zip_codes": 2}
    assert kinds(build, agree, {"zip": ["369**"]}, small_areas=("census_2000",)) == {}


AGES = {
    "0": 0, "89": 0, "90": 1, "91": 1, "104": 1, ">= 90": 0, "> 89": 0, "≥ 90": 0, "90+": 0, "90 or older": 0,
    "90 years and older": 0, ">= 95": 1, "> 90": 1, "[85, 90)": 0, "[90, 95)": 1, "[90, 120]": 0, "[90, 121)": 0,
    "[95, 120]": 1, "[80, 120)": 0, "85-89": 0, "90-94": 1, "80 to 99": 0, "< 18": 0, "<= 90": 0, "adult": 0, "*": 0,
    "ninety-1": 1, "89.5": 0, "95 and over": 1, "(89, 120]": 0, "{1|2}": 1,
}  # fmt: skip


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("bad", [0, 1])
def test_ages_above_89(bad, build, agree):
    labels = [label for label, counts in AGES.items() if counts == bad]
    many = len(labels) * bad
    for name in ("age", "PatientAge", "age_at_admission"):
        assert kinds(build, agree, {name: [*labels, "30"]}).get("ages", 0) == many
    assert kinds(build, agree, {"years": [*labels, "30"]}, ages=("years",)).get("ages", 0) == many
    assert "ages" not in kinds(build, agree, {"score": [*labels, "30"]})


def test_a_coded_90_stands_for_all_above(build, agree):
    """`top_bottom_code` and `coded: number` write 90 for 90 and more: then, and only then, it is the category."""
    coded = {"age": AttributeFacts("age", Role.INSENSITIVE, changes=(("cut", Change.GENERALIZED),))}
    assert kinds(build, agree, {"age": ["90", "90", "89"]}, facts=coded) == {}
    assert kinds(build, agree, {"age": ["90", "91"]}, facts=coded) == {"ages": 1}
    assert kinds(build, agree, {"age": ["90", "90", "89"]}) == {"ages": 2}


BIRTHS = {
    "1937": 0, "1936": 1, "1900": 1, "< 1937": 0, "<= 1936": 0, "< 1936": 1, "<= 1935": 1, "[1906, 1937)": 0,
    "[1926, 1937)": 1, "[1906, 1936]": 0, "[1926, 1940)": 0, "1936 or earlier": 0, ">= 1930": 0, "2020": 0, "*": 0,
    "1920-1930": 1, "[1880, 1937)": 0,
}  # fmt: skip


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("bad", [0, 1])
def test_years_of_birth_that_tell_an_age_above_89(bad, build, agree):
    labels = [label for label, counts in BIRTHS.items() if counts == bad]
    many = len(labels) * bad
    for name in ("birth_year", "YearOfBirth", "yob"):
        assert kinds(build, agree, {name: [*labels, "1980"]}).get("ages", 0) == many
    assert kinds(build, agree, {"cohort": labels}, birth_years=("cohort",)).get("ages", 0) == many
    assert "ages" not in kinds(build, agree, {"admitted": labels})


@pytest.mark.parametrize("births", [(), ("age",)])
def test_a_column_named_like_ages_stays_one(births, build, agree):
    """Naming more columns looks for more: else a policy that names one would be stricter, and let ages through."""
    assert kinds(build, agree, {"age": ["95+", "97+", "18+"]}, birth_years=births)["ages"] == 2


NAMED = {
    "first_name": "names", "PatientName": "names", "employer": "names", "surname": "names", "City": "places",
    "home_street": "places", "county_fips": "places", "lat": "places", "HomePhone": "phones", "fax": "faxes",
    "email_address": "emails", "SSN": "social_security", "mrn": "medical_records", "member_id": "health_plans",
    "account_number": "accounts", "driver_license": "licences", "vin": "vehicles", "device_serial": "devices",
    "website": "urls", "ip": "ip_addresses", "fingerprint": "biometrics", "photo": "photographs",
    "patient_id": "unique_codes",
}  # fmt: skip


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize("name", NAMED)
def test_columns_that_are_called_like_an_identifier(name, build, agree):
    assert kinds(build, agree, {name: ["ab", "cd", None, "*", "⊥"]}) == {NAMED[name]: 2}
    assert told_by(name) == {NAMED[name]}


def test_a_column_under_another_name_is_what_it_was(build, agree):
    derived = {"c": AttributeFacts("c", Role.INSENSITIVE, derived=Lineage(frozenset(("City",))))}
    assert kinds(build, agree, {"c": ["ab", "cd"]}, facts=derived) == {"places": 2}
    mixed = {"c": AttributeFacts("c", Role.INSENSITIVE, derived=Lineage(frozenset(("City", "sex")), value_map=False))}
    assert kinds(build, agree, {"c": ["ab", "cd"]}, facts=mixed) == {}


@pytest.mark.slow
def test_columns_that_are_not(build, agree):
    names = ["state", "drug", "drug_name", "hospital", "diagnosis", "sex", "cost", "year", "code", "status", "stage"]
    names += ["package", "vintage", "identity"]
    assert kinds(build, agree, {name: ["x", "ab", "ab"] for name in names}) == {}


def test_pseudonyms_and_identifiers_are_codes(build, agree):
    keyed = Lineage(frozenset(("mrn",)), keyed=frozenset(("mrn",)))
    facts = {"mrn": AttributeFacts("mrn", Role.IDENTIFIER, derived=keyed), "who": AttributeFacts("who", Role.SUBJECT)}
    table = {"mrn": ["aa", "aa"], "who": ["b", "b"]}
    assert kinds(build, agree, table, facts=facts) == {"unique_codes": 4}


@pytest.mark.slow
def test_a_column_of_cells_that_are_each_alone_is_a_code(build, agree):
    shared, own = ["a", "b"] * 50, [f"x{i}" for i in range(100)]
    assert kinds(build, agree, {"c": shared}, unique=0.8) == {}
    assert kinds(build, agree, {"c": own}, unique=0.8) == {"unique_codes": 100}
    assert kinds(build, agree, {"c": own[:80] + ["a"] * 20}, unique=0.8) == {}
    assert kinds(build, agree, {"c": own[:81] + ["a"] * 19}, unique=0.8) == {"unique_codes": 81}
    assert kinds(build, agree, {"c": own[:9] + [None] * 91}, unique=0.8) == {"unique_codes": 9}
    assert kinds(build, agree, {"c": own}, unique=0.8, cleared={"c": ("unique_codes",)}) == {}


def test_cells_of_one_person_are_alone_however_often_they_stand_there(build, agree):
    """Each person has four rows and a number of their own; in the mirror image two people share each number."""
    who = [f"p{i // 4}" for i in range(400)]
    for number, codes in ((1, 400), (2, 0)):
        told = [f"n{i // (4 * number)}" for i in range(400)]
        case = build.case(
            {"who": who, "c": told}, {"c": told}, "ux", people=PeopleCount("who", 1), requirements=(clause(),)
        )
        assert agree(AUDIT, case, least=5)[f"{ID}.unique_codes"] == codes
    lost = build.case({"who": who, "c": who}, {"c": who}, "ux", paired=False, people=PeopleCount("who", 1)).but(
        requirements=(clause(),)
    )
    assert not AUDIT.measure(*lost.args).measured[0].verifiable


def test_weights_are_rows_and_no_cells(build, agree):
    table = {"note": ["a@b.org", "x"], "w": ["3", "2"]}
    case = build.case(table, table, "xw", requirements=(clause(unique=1.0),))
    assert agree(AUDIT, case)[f"{ID}.emails"] == 3


def test_floats_have_no_form_and_whole_numbers_may(build, agree):
    for kind, dates in ((AttributeType.FLOAT, 0), (AttributeType.INTEGER, 1)):
        facts = {"n": AttributeFacts("n", Role.INSENSITIVE, kind)}
        assert kinds(build, agree, {"n": ["20200131", "5"]}, facts=facts).get("dates", 0) == dates


def test_what_somebody_looked_at_does_not_count_and_is_said(build):
    table = {"note": ["a@b.org", "555-234-5678"], "gone": ["x", "y"]}
    said = clause(unique=1.0, cleared={"note": ("emails",), "lost": ("names",)})
    outcome = AUDIT.measure(*build.case(table, table, "xx", requirements=(said,)).args)
    assert outcome.figures[f"{ID}.cells"].value == 1
    assert outcome.figures[f"{ID}.cleared"].value == 1
    assert [(f.code, f.subject) for f in outcome.findings] == [
        ("PPF943", "public.note"),
        ("PPF944", "public.note"),
        ("PPF944", "public.lost"),
    ]
    assert "The policy cleared 1 column" in outcome.measured[0].sentence


def test_no_cell_is_ever_quoted(build):
    table = {"note": ["a@secret.org", "call Mrs Secretname"], "zip": ["98765", "12180"]}
    outcome = AUDIT.measure(*build.case(table, table, "xx", requirements=(clause(),)).args)
    told = " ".join([outcome.measured[0].sentence, *(f.text + f.subject for f in outcome.findings)])
    assert outcome.measured[0].figure.value > 0
    assert not any(secret in told for secret in ("secret", "Secretname", "98765", "12180"))


def test_a_clean_release_holds(build, agree):
    table = {"zip": ["121**", "000**"], "age": [">= 90", "42"], "admitted": ["2020", "2020"], "sex": ["f", "f"]}
    case = build.case(table, table, "xxxx", requirements=(clause(unique=1.0),))
    outcome = AUDIT.measure(*case.args)
    assert agree(AUDIT, case)[f"{ID}.cells"] == 0
    assert outcome.findings == ()
    assert outcome.measured[0].sentence.startswith("No cell shows one of the 18 identifiers in a form")


def test_empty_columns(build, agree):
    table = {"note": [None, None], "zip": ["⊥", None]}
    assert kinds(build, agree, table) == {}
    assert seen(Column.of([]).categories) == {}
