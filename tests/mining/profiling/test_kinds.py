"""Kinds of columns: check digits on published examples, forms of values, names in several languages, intervals."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.identifiers.cells import shaped
from ppdm_flow.mining.identifiers.check_digits import NATIONAL, card, iban, luhn
from ppdm_flow.mining.profiling.column import facts, interval_width
from ppdm_flow.mining.profiling.roles import KINDS, guess
from ppdm_flow.mining.profiling.types import (
    DATE_MARKS,
    DateForm,
    NumberSpelling,
    date_form,
    dates_but,
    iso_dates,
    number_spelling,
    type_of,
)
from ppdm_flow.mining.profiling.words import ANYWHERE, WHOLE, named, tokens
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import parsed

EXAMPLES = {  # from the issuers' own descriptions, all invented people
    "US social security number": "219-09-9998",
    "UK national insurance number": "AB123456C",
    "NHS number": "9434765919",
    "Spanish DNI or NIE": "12345678Z",
    "Italian codice fiscale": "RSSMRA85T10A562S",
    "French NIR": "255081416802538",
    "German tax id": "86095742719",
    "Dutch BSN": "111222333",
    "Belgian national number": "85.07.30-033.28",
    "Polish PESEL": "44051401359",
    "Swedish personnummer": "811228-9874",
    "Finnish henkilötunnus": "131052-308T",
    "Norwegian fødselsnummer": "15076500565",
    "Danish CPR number": "070761-4285",
    "Swiss AHV number": "756.9217.0769.85",
    "Portuguese NIF": "123456789",
    "Brazilian CPF": "529.982.247-25",
    "Turkish TCKN": "10000000146",
    "Chinese resident id": "11010519491231002X",
    "Indian Aadhaar": "234123412346",
    "Canadian SIN": "130692544",
}


@pytest.mark.parametrize("country", NATIONAL)
def test_an_example_of_each_country_fits(country):
    assert NATIONAL[country](EXAMPLES[country])


@pytest.mark.parametrize(
    "country",
    sorted(set(NATIONAL) - {"US social security number", "UK national insurance number", "Danish CPR number"}),
)
def test_check_digits_find_every_single_wrong_digit_or_nearly(country):
    text = EXAMPLES[country]
    places = [i for i, c in enumerate(text) if c.isdigit()]
    wrong = [text[:i] + d + text[i + 1 :] for i in places for d in "0123456789" if d != text[i]]
    assert sum(map(NATIONAL[country], wrong)) <= len(wrong) * 0.12


@given(st.text(max_size=30))
def test_no_text_breaks_a_check(text):
    for fits in (*NATIONAL.values(), iban, card):
        assert fits(text) in (True, False)


def test_accounts_and_cards():
    assert iban("GB82WEST12345698765432")
    assert iban("DE89370400440532013000")
    assert not iban("DE89370400440532013001")
    assert card("4111111111111111")
    assert card("5500-0055-5555-5559")
    assert not card("4111111111111112")
    assert luhn("79927398713")


FORMS = {
    "email": ["a.b@example.org", "x+y@mail.example.com", "z_1@ex.co", "q@host.example"],
    "phone": ["+49 30 1234567", "(030) 123-4567", "0171/1234567", "+1 202 555 0143"],
    "uuid": [
        "123e4567-e89b-12d3-a456-426614174000",
        "00000000-0000-4000-8000-000000000000",
        "f" * 8 + "-0000-1111-2222-" + "a" * 12,
    ],
    "network": ["192.168.0.1", "8.8.8.8", "aa:bb:cc:dd:ee:ff", "2001:db8::ff00:42:8329"],
    "url": ["https://example.org/u/1", "http://x.example", "www.example.com/a"],
    "iban": ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000", "FR14 2004 1010 0505 0001 3M02 606"],
    "card": ["4111 1111 1111 1111", "5500005555555559", "340000000000009"],
    "postal_code": ["SW1A 1AA", "EC1A 1BB", "W1A 0AX", "M1 1AE"],
    "coordinates": ["52.5200, 13.4050", "48.8566,2.3522", "-33.8688, 151.2093"],
    "free_text": [
        "the patient says that it has hurt for days",
        "came in with her sister, left without medicine",
        "no change since the last visit in spring",
    ],
}


@pytest.mark.parametrize("kind", FORMS)
def test_values_of_a_form_are_known(kind):
    assert shaped(FORMS[kind])[0] == kind
    assert shaped([f" {v} " for v in FORMS[kind]])[0] == kind
    assert kind in KINDS


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("email", ["jo\uff20example.com", "al\u200b@example.org", "ed [at] example.net"]),
        ("phone", ["617\u2011253\u20111000", "617/253-1001", "0044 20 7946 0958"]),
        ("card", ["4111.1111.1111.1111", "5500\u20130055\u20135555\u20135559", "3400 00000 000009"]),
        ("iban", ["GB82-WEST-1234-5698-7654-32", "de89 3704 0044 0532 0130 00", "FR14.2004.1010.0505.0001.3M02.606"]),
        ("national_id", ["943 476 5919", "943-476-5919", "943.476.5919"]),
        ("national_id", ["219\u201109\u20119998", "219 09 9999", "219.09.9997"]),
    ],
)
def test_values_are_known_in_other_spellings(kind, values):
    assert shaped(values)[0] == kind


@pytest.mark.parametrize(
    "values",
    [
        ["yes", "no", "maybe"],
        ["1", "2", "3", "4"],
        ["12345", "54321", "99999"],
        ["Married", "Single", "Divorced"],
        ["a", "a@b.example", "c", "d"],
        ["2020-01-01", "2020-01-02", "2020-03-01"],
        ["1.5", "2.25", "1000.125"],
        ["10:30", "11:45", "23:59"],
        ["1.2.3", "1.2.4", "2.0.0"],
    ],
)
def test_others_are_not(values):
    assert shaped(values) is None


def test_numbers_fit_no_country_by_chance():
    dice = random.Random(5)
    for digits in (9, 10, 11, 12, 13, 15):
        sample = [str(dice.randrange(10 ** (digits - 1), 10**digits)) for _ in range(300)]
        assert shaped(sample) is None, digits


NAMES = {
    "person_id": ["customer_id", "CustomerID", "Kundennummer", "patientId", "id", "numéro client"],
    "name": ["name", "First Name", "lastName", "Nachname", "prénom", "apellidos", "姓名"],
    "email": ["email", "E-Mail", "user_email", "correo electrónico"],
    "phone": ["phone", "Telefonnummer", "mobile", "home_phone"],
    "address": ["address", "Straße", "street address", "dirección"],
    "national_id": ["SSN", "social_security_number", "codice fiscale", "PESEL", "bsn"],
    "birth": ["dob", "birthDate", "date_of_birth", "Geburtsdatum", "fecha de nacimiento", "date de naissance"],
    "age": ["age", "Alter", "edad", "age_years"],
    "sex": ["sex", "Gender", "Geschlecht"],
    "postal_code": ["zip", "ZIP code", "PLZ", "code postal", "postcode"],
    "diagnosis": ["diagnosis", "Diagnose", "icd10", "diag_2", "dx"],
    "health": ["disease", "maladie", "comorbidity"],
    "money": ["income", "salary-class", "Einkommen"],
    "belief": ["religion", "political party"],
    "target": ["class", "label"],
    "survey": ["sampling_weight", "surveyWeight", "Hochrechnungsfaktor", "factor de expansión"],
    None: [
        "fnlwgt",
        "weight",
        "hours-per-week",
        "capital-gain",
        "product_name",
        "x1",
        "state_id",
        "subclass",
        "",
    ],
}


def test_names_tell_kinds():
    told = {(name, kind): named(name) for kind, names in NAMES.items() for name in names}
    faults = [f"{name}: {found}, not {kind}" for (name, kind), found in told.items() if found != kind]
    assert not faults, "\n".join(faults)


def test_words_are_of_kinds_and_can_be_met():
    for phrases in (ANYWHERE, WHOLE):
        assert set(phrases) <= set(KINDS)
        for words in phrases.values():
            for phrase in words:
                assert " ".join(tokens(phrase)) == phrase or not phrase.isascii(), phrase


ADULT = "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain"
ADULT += " capital-loss hours-per-week native-country income"


def test_no_column_of_adult_is_named_like_an_identifier():
    assert not [n for n in ADULT.split() if named(n) and KINDS[named(n)].role is Role.IDENTIFIER]


VALUES = st.one_of(
    st.text(max_size=12),
    st.integers(-(10**18), 10**18).map(str),
    st.floats().map(str),
    st.dates().map(str),
    st.datetimes().map(lambda d: d.isoformat()),
    st.sampled_from(
        ["007", "1e999", "+5", "-0", ".5", "5.", "2020-13-01", "20200101", "2020-W01-1", "2020-01-01T10:00Z"]
    ),
)


@given(st.lists(VALUES, min_size=1, max_size=6, unique=True))
def test_a_type_is_one_that_the_data_is_accepted_with(values):
    """Held against the check that a run makes."""
    names = pa.array([v.encode("utf-8", "replace").decode() for v in values], pa.string()).unique()
    found = type_of(names)
    assert found is AttributeType.TEXT or not parsed(names, found).bad.any()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2", "+3"], AttributeType.INTEGER),
        (["1", "2.5"], AttributeType.FLOAT),
        (["01", "02"], AttributeType.TEXT),
        (["12345678901234567"], AttributeType.TEXT),
        (["2020-01-31", "1999-12-01"], AttributeType.DATE),
        (["2020-01-31T10:00:00", "1999-12-01 00:00:00"], AttributeType.TIMESTAMP),
        (["31.01.2020"], AttributeType.TEXT),
        (["1e400"], AttributeType.TEXT),
        ([], AttributeType.TEXT),
    ],
)
def test_types(values, kind):
    assert type_of(pa.array(values, pa.string())) is kind


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["31.01.2020", "01.02.1999"], "%d.%m.%Y"),
        (["31/01/2020", "01/02/1999"], "%d/%m/%Y"),
        (["01/31/2020", "02/01/1999"], "%m/%d/%Y"),
        (["2020/01/31", "1999/2/1"], "%Y/%m/%d"),
        (["1.2.2020", "31.01.2020 "], "%d.%m.%Y"),
        (["31-Jan-2020", "01-Feb-1999"], "%d-%b-%Y"),
        (["31.01.2020 00:00", "01.02.1999 12:30"], "%d.%m.%Y %H:%M"),
        (
            [
                f"{day:02d}.{month:02d}.{year}"
                for day in range(1, 29)
                for month in range(1, 13)
                for year in range(1900, 1990)
            ],
            "%d.%m.%Y",
        ),
        (["yes"], None),
        (["12/13/14/15", "12/13/14"], None),
        ([], None),
    ],
)
def test_forms_of_dates(values, form):
    read = date_form(pa.array(values, pa.string()))
    assert read == (None if form is None else DateForm((form,)))
    assert read is None or read.is_certain


def test_forms_of_dates_that_leave_something_open():
    open_months = date_form(pa.array(["01/02/2020", "02/01/1999"]))
    assert open_months == DateForm(("%d/%m/%Y", "%m/%d/%Y"))
    mostly = pa.array([f"{day}.10.1950" for day in range(1, 31)] + ["00.10.1950"])
    assert date_form(mostly) == DateForm(("%d.%m.%Y",), unread=1)
    assert date_form(mostly).pattern == "DD.MM.YYYY"
    assert not open_months.is_certain
    assert not date_form(mostly).is_certain
    assert date_form(pa.array([f"201203{day}" for day in range(10, 31)] + ["20121340"])) is None  # another code


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (["01.02.2020", "00.00.0000"], True),
        (["2020-02-01", "0000-00-00"], True),
        (["2020-02-01"], False),
        (["00.00.0000"], False),
        (["01.02.2020", "00.00.0000", "x"], False),
    ],
)
def test_marks_among_dates(values, holds):
    assert dates_but(pa.array(values), DATE_MARKS) is holds


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=60, unique=True), st.booleans())
def test_a_grid_is_round_and_finer_than_two_digits(numbers, whole):
    array = np.array(sorted(numbers), dtype=float)
    width = interval_width(array, np.ones(len(array), dtype=np.int64), integers=whole)
    if width is None:
        return
    assert f"{width:.6e}"[0] in "125"
    assert width < 10.0 ** (len(str(int(max(abs(array)))))) / 10
    assert not whole or width == int(width)
    reach = array[-1] - array[0]
    assert width <= max(1.0, reach)


@pytest.mark.parametrize(
    ("numbers", "width"),
    [
        (np.arange(18.0, 90.0), None),  # whole years have two digits
        (np.arange(1930.0, 2010.0), 5.0),
        (np.arange(100.0, 200.0), 5.0),
        (np.arange(36.0, 41.0, 0.1), 0.5),
        (np.geomspace(1.0, 1e6, 50), None),
        (np.full(1, 7.0), None),
        (np.array([-1e308, 1e308]), None),
        (np.array([0.0, 5e-324]), None),
    ],
)
def test_widths(numbers, width):
    assert interval_width(numbers, np.ones(len(numbers), dtype=np.int64)) == width


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([f"2020-{m:02d}-{d:02d}" for m in range(1, 13) for d in (1, 15)], None),
        ([f"2020-0{m}-{d:02d}" for m in range(1, 4) for d in (1, 9, 15, 27)], 7.0),
        ([f"2020-01-{d:02d}" for d in range(1, 15)], 1.0),
        ([f"2020-01-01T{h:02d}:00:00" for h in range(20)], 3600.0),
        ([f"2020-01-{d:02d}T00:30:00" for d in range(1, 15)], 86_400.0),
    ],
)
def test_widths_of_dates(values, width):
    assert measured("x", values).width == width


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([str(i % 4) for i in range(60)], True),
        ([f"{i % 3}.0" for i in range(60)], True),
        ([f"{i % 3}.5" for i in range(60)], False),
        ([str(i % 9) for i in range(60)], False),
        (["1", "2", "3"], False),
        ([str(2015 + i % 4) for i in range(60)], False),
        (["a", "b"] * 30, False),
    ],
)
def test_few_whole_numbers_are_codes(values, codes):
    assert measured("x", values).codes is codes


def measured(name, values):
    column = Column.of(values)
    return facts(name, column.codes, column.categories)


MANY = 200
DICE = random.Random(3)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("x", [f"u{i}@mail.example" for i in range(MANY)], Role.IDENTIFIER),
        ("x", [f"record {i}" for i in range(MANY)], Role.IDENTIFIER),
        ("x", [str(i) for i in range(MANY)], Role.IDENTIFIER),
        ("x", [f"{i}.{i % 7}5" for i in range(MANY)], Role.QUASI_IDENTIFIER),
        ("x", [str(i) for i in range(20)], Role.QUASI_IDENTIFIER),
        ("x", ["same"] * MANY, Role.INSENSITIVE),
        ("x", [None] * MANY, Role.INSENSITIVE),
        ("x", ["same"] * MANY + [None], Role.QUASI_IDENTIFIER),
        ("email", ["yes", "no"] * MANY, Role.QUASI_IDENTIFIER),
        ("comments", [str(i % 30) for i in range(MANY)], Role.QUASI_IDENTIFIER),
        ("patient_id", [str(i % 30) for i in range(MANY)], Role.IDENTIFIER),
        ("surname", [f"S{i % 30}" for i in range(MANY)], Role.IDENTIFIER),
        ("disease", [f"d{i % 9}" for i in range(MANY)], Role.SENSITIVE),
        ("class", ["a", "b"] * MANY, Role.TARGET),
        ("x", [f"{1930 + i % 60}-01-0{1 + i % 9}" for i in range(MANY)], Role.QUASI_IDENTIFIER),
        ("x", [f"{'EFIJK'[i % 5]}{10 + i % 80}.{i % 10}" for i in range(MANY)], Role.SENSITIVE),
        ("x", [["250.83", "428", "V57", "E812.0", "038.9"][i % 5] for i in range(MANY)], Role.SENSITIVE),
        ("room", [f"{'ABC'[i % 3]}{10 + i % 40}" for i in range(MANY)], Role.QUASI_IDENTIFIER),
        ("diag_1", [str(250 + i % 40) for i in range(MANY)], Role.SENSITIVE),
    ],
)
def test_roles(name, values, role):
    found = guess(measured(name, values))
    assert found.role is role, found
    assert found.reason


def test_reasons_tell_what_was_seen():
    assert "birth" in guess(measured("x", [f"{1930 + i % 60}-01-0{1 + i % 9}" for i in range(MANY)])).reason
    assert "people have several" in guess(measured("patient_id", [str(i % 30) for i in range(MANY)])).reason
    assert "Dutch BSN" in guess(measured("x", [EXAMPLES["Dutch BSN"], "123456782", "111222333", "010464554"])).reason


@pytest.mark.parametrize(
    ("name", "distinct", "rows", "role"),
    [
        ("patient_nbr", 70, 100, Role.IDENTIFIER),
        ("patientNo", 6, 100, Role.IDENTIFIER),
        ("encounter_id", 100, 100, Role.IDENTIFIER),
        ("visit nbr", 40, 100, Role.IDENTIFIER),
        ("admission_source_id", 6, 100, Role.QUASI_IDENTIFIER),  # a code: many rows share each
        ("ward_nr", 4, 100, Role.QUASI_IDENTIFIER),
        ("zip_nr", 60, 100, Role.QUASI_IDENTIFIER),
        ("valid", 60, 100, Role.QUASI_IDENTIFIER),
        ("discharge_disposition_id", 6, 100, Role.QUASI_IDENTIFIER),
    ],
)
def test_names_of_ids(name, distinct, rows, role):
    codes = np.arange(rows, dtype=np.int32) % distinct
    found = guess(facts(name, codes, pa.array([f"v{i:03d}x" for i in range(distinct)])))
    assert found.role is role
    if role is Role.IDENTIFIER and distinct < rows / 2:
        assert "rows share it" in found.reason


def test_codes_and_ids_are_no_dates():
    assert guess(measured("admission_type_id", [str(i % 8) for i in range(MANY)])).kind == ""
    assert measured("visit_id", [f"201203{10 + i % 20}" for i in range(MANY)]).date_format is None
    assert measured("visited", [f"201203{10 + i % 20}" for i in range(MANY)]).date_format == "%Y%m%d"
    assert guess(measured("admission", [f"2012-03-{10 + i % 20}" for i in range(MANY)])).kind == "date"


@pytest.mark.parametrize(
    ("values", "spelling"),
    [
        (["12,5", "3"], NumberSpelling(",")),
        (["1.234,50", "12,00", "999"], NumberSpelling(",", ".")),
        (["1,234.50", "12.5"], NumberSpelling(".", ",")),
        (["1,234", "5,678"], None),  # a thousand, or one and a bit
        (["1,234", "0,5"], NumberSpelling(",")),
        (["12,5", "x"], None),
        (["01,5"], None),
        (["12.5"], None),
        ([], None),
    ],
)
def test_spellings_of_numbers(values, spelling):
    assert number_spelling(pa.array(values, pa.string())) == spelling


def test_numbers_and_dates_are_made_plain():
    assert NumberSpelling(",", ".").plain(pa.array(["1.234,50", "-2"])).to_pylist() == ["1234.50", "-2"]
    assert iso_dates(pa.array(["31.12.1999"]), "%d.%m.%Y").to_pylist() == ["1999-12-31"]
    assert iso_dates(pa.array(["31.12.1999 12:30"]), "%d.%m.%Y %H:%M").to_pylist() == ["1999-12-31T12:30:00"]
