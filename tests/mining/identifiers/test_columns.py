"""Columns with personal data, and columns that share a form with them; scans in parts add up."""

from __future__ import annotations

import random
import time

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.mining.identifiers.columns import SAMPLE, ColumnScan
from ppdm_flow.tables.column import Column

KEY = b"0123456789abcdef"
FIRST = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal"]
LAST = ["Berg", "Kahn", "Lee", "Moss", "Nunn", "Orr", "Pike", "Quint"]
DICE = random.Random(11)


def scan(values, parts=1, content="texts"):
    """Scan the values in so many parts, one scan each, and add these up."""
    scans = []
    for some in np.array_split(np.array(values, dtype=object), parts):
        column = Column.of(list(some))
        scans.append(ColumnScan(KEY, content))
        known = column.codes[column.codes >= 0]
        scans[-1].take(column.categories, np.bincount(known, minlength=len(column.categories)))
    whole = scans[0]
    for each in scans[1:]:
        whole.add(each.forget())
    return whole


def luhn(digits):
    pairs = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(n - 9 * (n > 9) for n in pairs) % 10 == 0


def card():
    begin = "4" + "".join(DICE.choices("0123456789", k=14))
    return next(begin + digit for digit in "0123456789" if luhn(begin + digit))


PERSONAL = {
    "emails": [[f"u{i}@example.org" for i in range(3)], ["ok"] * 500 + ["write to jo [at] example.org"]],
    "phones": [
        ["617\u2011253\u20111000"],
        ["call +49 30 1234567", "ok"],
        ["mobile 0171 5551217"],
        ["tel+491711234567"],
        [f"0049171123456{i}" for i in range(6)] * 9,
        [f"030/12345{i}" for i in range(8)],
    ],
    "cards": [
        [card() for _ in range(4)],
        ["paid by 4111.1111.1111.1111", "paid in cash"],
        ["411111111111111_", "4111 11X1 1111 1111"],
    ],
    "ibans": [
        ["GB82 WEST 1234 5698 7654 32"],
        ["to account de89370400440532013000, please", "cash"],
        ["IBANDE89370400440532013000", "iban: GB82WEST12345698765432"],
        ["DE8937040044053201300_"],
        ["DE893704X0440532013000", "GB82 WEST 1234 #698 7654 32", "GB*2 WEST 1234 5698 7654 32"],
    ],
    "social_security": [["078-05-1120"], ["SSN 219 09 9999"]],
    "national_ids": [
        ["86095742719", "65929970489", "57549285017", "25768131411", "65299970480", "47036892816"],
        ["86095742719", "65929970489", "57549285017", "none"] * 9,  # Germany
        ["44051401359", "02070803628", "90090515836"] * 9,  # Poland
        ["12345678Z", "00000000T", "X1234567L"] * 9,  # Spain
        ["111222333", "123456782", "123456794"] * 9,  # the Netherlands
        ["2341 2341 2346", "999999990019", "234123412346"] * 9,  # India
        ["756.9217.0769.85", "none"],
        ["2 55 08 14 168 025 38", "none"],
        ["rssmra85t10a562s"],
        ["529.982.247-25"],
        ["811218-9876"],
        ["131052-308T"],
    ],
    "names": [
        ["Mr. Smith", "Mrs. Lee", "Dr. Moss"],
        ["MR SMITH"],
        ["dr. anna wagner"],
        ["Sra. García"],
        ["ward 1", "ward 2", "Mr Orr", "Ms Orr", "Ms Lee"],
    ],
    "free_text": [[f"number {i} came in with pain in the left arm" for i in range(8)]],
    "unique_codes": [
        [f"AB-{i * 7919 % 100_000:05d}" for i in range(40)],
        [str(10**8 + i * 7919) for i in range(40)],
        [f"{491711234000 + i}.0" for i in range(40)],
        [f"{a} {b}" for a in FIRST for b in LAST],
        [f"{10001 + i * 37} {a} {b}" for i, a in enumerate(FIRST) for b in LAST],
        [f"ABC {i * 7919 % 100_000:05d}" for i in range(40)],
        [f"#{i * 7919:06d}" for i in range(40)],
    ],
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", PERSONAL)
def test_personal_data_is_found(kind, parts):
    for values in PERSONAL[kind]:
        assert list(scan(values, parts).personal()) == [kind], values[:3]


HARMLESS = {
    "amounts": [f"{DICE.uniform(1, 1e5):.2f}" for _ in range(300)],
    "amounts with currency": [f"€ {DICE.randrange(10**6):,}" for _ in range(300)],
    "whole numbers": [str(DICE.randrange(10**5)) for _ in range(300)],
    "percentages": [f"{DICE.random() * 100:.1f}%" for _ in range(99)],
    "doses": [f"{i} mg" for i in range(100)],
    "pressures": [f"{DICE.randrange(90, 180)}/{DICE.randrange(50, 110)}" for _ in range(300)],
    "dates": [f"2020-{DICE.randrange(1, 13):02d}-{DICE.randrange(1, 29):02d}" for _ in range(300)],
    "dates with dots": [f"{d:02d}.{m:02d}.19{y}" for d in range(1, 29) for m in range(1, 13) for y in (50, 77)],
    "times": [f"2020-01-02 {h:02d}:{m:02d}:13" for h in range(24) for m in range(60)],
    "seconds": [str(1_700_000_000 + 37 * i) for i in range(100)],
    "days as numbers": [f"2020{m:02d}{d:02d}" for m in range(1, 13) for d in range(1, 29)],
    "product codes": [f"SKU-{i}" for i in range(20)] * 20,
    "bar codes": [str(4 * 10**12 + DICE.randrange(10**12)) for _ in range(300)] * 2,
    "codes of sixteen digits": [str(4 * 10**15 + DICE.randrange(10**15)) for _ in range(300)] * 2,
    "codes like accounts": [f"AB{DICE.randrange(10, 99)}CDEF{DICE.randrange(10**12):012d}" for _ in range(300)] * 2,
    "numbers of nine digits": [str(DICE.randrange(10**8, 10**9)) for _ in range(300)] * 2,
    "ICD codes": ["E11.9", "I10", "J45.0", "C18.1"] * 50,
    "titles of illnesses": [f"Malignant neoplasm of part {i} of the upper body" for i in range(60)] * 10,
    "ZIP codes": [str(DICE.randrange(10_000, 99_999)) for _ in range(300)],
    "postcodes": ["SW1A 1AA", "M1 1AE", "EC1A 1BB"] * 20,
    "categories": ["Married-civ-spouse", "Never-married", "Divorced"] * 20,
    "long categories": ["Married, spouse present in the household", "Never married, living with parents"] * 20,
    "products like names": ["Dr Pepper", "Mr Muscle", "milk", "bread", "soda", "tea", "rice"] * 20,
    "intervals": [f"[{i}, {i + 5})" for i in range(100)],
    "masked": [f"{i:03d}**" for i in range(100)],
    "ratios": [f"{DICE.random():.6f}" for _ in range(300)],
    "amounts after a currency": [f"EUR {DICE.uniform(1, 9e4):.2f}" for _ in range(300)],
    "bands of amounts": [f"{i * 500}\u2013{i * 500 + 500} €" for i in range(60)],
    "bands of currency": [f"EUR {i * 500}-{i * 500 + 500}" for i in range(60)],
    "durations": [f"PT{i}M{i % 7}S" for i in range(60)] + ["P1Y2M", "P3D", "-PT1.5H"],
    "postcodes of one row each": [f"SW{i} {i % 9}A{chr(65 + i % 26)}" for i in range(60)],
    "towns": [f"{10001 + i * 37} {('Musterstadt', 'Bad Neustadt')[i % 2]}" for i in range(60)],
    "colours": [f"#{DICE.getrandbits(24):06x}" for _ in range(300)],
    "drugs": [f"{i % 20 * 331:05d}-{i % 20 * 7:04d}-{i % 10:02d}" for i in range(300)],
    "products": ["Dr. Pepper", "Mr. Muscle", "Mrs. Butterworth", "Dr. Oetker Pizza", "Mrs. Butterworth's"] * 20,
    "accounts with more hidden": [
        "DE8937040044053201****",
        "DE89 3704 XXXX XXXX XXXX 00",
        "GB82 WEST #### 5698 7654 32",
    ]
    * 9,
    "cards with more hidden": ["411111111111**11", "4111 1111 1111 XXXX"] * 9,
    "codes with a sign": [f"AB{DICE.randrange(10**11):011d}_{DICE.randrange(10**8):08d}" for _ in range(300)] * 2,
    "amounts of sixteen signs": [f"{4 * 10**12 + DICE.randrange(10**12)}.{i % 90 + 10}" for i in range(300)] * 2,
    "titles alone": ["dr.", "dr. med.", "prof. dr.", "Dr.", "none"] * 9,
    "streets in small letters": ["12 oak dr. near the park", "oak dr. 5", "elm dr."] * 9,
    "jobs": ["Sr. Manager", "Sr. Analyst", "Sr. Software Engineer", "Jr. Buyer"] * 9,
    "mobile years": ["mobile 2019-2020", "mobile 2020/21", "cell 12", "tel 110"] * 9,
    "bar codes of fourteen digits": [f"000{4 * 10**10 + DICE.randrange(10**10)}" for _ in range(300)] * 2,
    "numbers of eleven digits": [str(DICE.randrange(10**10, 10**11)) for _ in range(300)] * 2,
    "numbers of twelve digits": [str(DICE.randrange(10**11, 10**12)) for _ in range(300)] * 2,
    "Swiss forms": [f"756.{DICE.randrange(10**3, 10**4)}.{DICE.randrange(10**3, 10**4)}.85" for _ in range(300)] * 2,
    "codes like tax ids": [f"RSSMRA85T10A{DICE.randrange(10**3):03d}S" for _ in range(300)] * 2,
    "numbers with a dash": [f"{DICE.randrange(10**6):06d}-{DICE.randrange(10**4):04d}" for _ in range(300)] * 2,
    "few rows": ["a1", "b2", "c3", "d4"],
    "nothing": [None, None],
}


@pytest.mark.parametrize(
    "values",
    [
        [f"{DICE.lognormvariate(16, 1.5):.2f}" for _ in range(300)],
        [str(int(DICE.lognormvariate(17, 1.5))) for _ in range(300)],
        [str(DICE.randrange(10**5)) for _ in range(300)],
        [str(1900 + i % 120) for i in range(300)],
        [str(10**8 + DICE.randrange(9)) for _ in range(300)],
        [str(1_700_000_000_000_000_000 + i * 10**9) for i in range(300)],
        [str(20200101 + i) for i in range(28)],
        [f"{i}.{i % 10}" for i in range(300)],
        [f"-{123_450_000 + i}" for i in range(40)],
    ],
)
def test_amounts_counts_years_and_measurements_are_numbers_alone(values):
    assert scan(values, 1, "numbers").personal() == {}
    assert scan(values, 3, "numbers").personal() == {}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", HARMLESS)
def test_what_shares_a_form_is_not(name):
    assert scan(HARMLESS[name]).personal() == {}
    assert scan(HARMLESS[name], 3).personal() == {}


PESEL = ["86095742719", "65929970489", "57549285017", "25768131411", "65299970480", "2070803628", "7231512345"]
NUMBERS = {
    "cards": [[card() for _ in range(4)], ["4111111111111111"] + ["250"] * 99],
    "national_ids": [PESEL[:5] * 9],
    "unique_codes": [[str(123_450_000 + i) for i in range(40)]],
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", NUMBERS)
def test_personal_data_is_found_among_numbers(kind, parts):
    for values in NUMBERS[kind]:
        assert list(scan(values, parts, "numbers").personal()) == [kind], values[:3]


@pytest.mark.parametrize(("name", "kind"), [("phone", "phones"), ("national_id", "national_ids"), ("card", "cards")])
def test_the_name_of_a_column_tells_what_its_numbers_are(name, kind):
    values = [str(1_715_551_200 + i * 991) for i in range(6)] * 5
    assert scan(values, 1, "numbers").personal(name) == {kind: 30}
    assert scan(values, 1, "numbers").personal("money") == {}
    assert scan(["1", "2", "3", "4", "5", "6"], 1, "numbers").personal(name) == {}


def test_weights_that_nearly_every_row_has_for_itself():
    weights = [f"{DICE.uniform(1, 900):.5f}" for _ in range(200)]
    assert scan(weights, 3, "weights").personal() == {"unique_weights": 200}
    assert scan([f"{w:.1f}" for w in (1.5, 2.5, 8)] * 50, 3, "weights").personal() == {}
    assert scan(weights[:10], 1, "weights").personal() == {}


def test_items_are_looked_at_by_their_names():
    assert scan(["beer", "wine", "jo@example.org"], 1, "items").personal() == {"emails": 1}
    assert scan([f"SKU-{i:05d}" for i in range(50)], 1, "items").personal() == {}


def test_rows_are_counted():
    found = scan(["jo@example.org"] * 5 + ["ok", None] * 3, 2).personal()
    assert found == {"emails": 5}


def test_names_without_a_title_in_a_column_of_names():
    names = [f"{a} {b}" for a in FIRST for b in LAST[:2]] * 4
    assert scan(names).personal("name") == {"names": len(names)}
    assert scan(names).personal() == {}
    assert scan(["ward 12", "ward 13", "A-1", "B-2", "C-3", "D-4"] * 5).personal("name") == {}


def test_a_sample_of_many_values_tells_their_number_and_how_many_are_alone():
    values = [f"x{i}" for i in range(30_000)] + [f"y{i // 10}" for i in range(30_000)]
    whole = scan(values, 7)
    assert len(whole.hashes) == SAMPLE
    assert whole.distinct == pytest.approx(33_000, rel=0.15)
    assert whole.alone == pytest.approx(0.5, rel=0.15)
    small = scan(values[:500] + ["z"] * 500)
    assert (small.distinct, small.alone) == (501, 0.5)


@pytest.mark.slow
def test_a_hundred_thousand_different_texts_take_seconds():
    words = ["the", "patient", "came", "with", "pain", "in", "the", "left", "arm", "and", "was", "sent", "home"]
    values = [" ".join(DICE.choices(words, k=10)) + f" {i}" for i in range(100_000)]
    texts = pa.array(values)
    started = time.process_time()
    each = ColumnScan(KEY)
    for _ in range(20):
        each.take(texts, np.ones(len(texts), dtype=np.int64))
    assert each.present == 2_000_000
    assert time.process_time() - started < 12  # what was seen before is not looked at again
