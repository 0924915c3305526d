"""Check digits of national identifiers, accounts and cards, as their issuers define them. Texts have no blanks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

_MOD11_FI = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_CN = "10X98765432"
_CF_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21),
            *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        ),
        strict=True,
    )
)
_CF_EVEN = {c: i for i, c in enumerate("0123456789")} | {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
_VERHOEFF_D = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_P = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip

_DATE6 = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_DAY_MONTH = r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])"


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: every second digit from the right is doubled."""
    doubled = (2 * int(d) if i % 2 else int(d) for i, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def iban(text: str) -> bool:
    """ISO 13616: letters are numbers, and the rest by 97 is 1."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


def card(text: str) -> bool:
    """Numbers of payment cards: 13 to 19 digits, a known first digit, Luhn."""
    digits = text.replace("-", "")
    return bool(re.fullmatch(r"[2-6]\d{12,18}", digits)) and luhn(digits)


def _weighted(digits: str, weights: Iterable[int]) -> int:
    return sum(int(d) * w for d, w in zip(digits, weights, strict=False))


def _ssn(text: str) -> bool:
    return bool(re.fullmatch(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", text))


def _nino(text: str) -> bool:
    return bool(re.fullmatch(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", text))


def _nhs(text: str) -> bool:
    rest = 11 - _weighted(text, range(10, 1, -1)) % 11 if re.fullmatch(r"\d{10}", text) else 10
    return rest != 10 and rest % 11 == int(text[9])


def _dni(text: str) -> bool:
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", text):
        return False
    return _DNI[int(text[:8].translate(str.maketrans("XYZ", "012"))) % 23] == text[8]


def _codice_fiscale(text: str) -> bool:
    if not re.fullmatch(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", text):
        return False
    total = sum(_CF_ODD[c] if i % 2 == 0 else _CF_EVEN[c] for i, c in enumerate(text[:15]))
    return chr(ord("A") + total % 26) == text[15]


def _nir(text: str) -> bool:
    if not re.fullmatch(r"[12478]\d{4}(?:\d{2}|2A|2B)\d{8}", text):
        return False
    number = int(text[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(text[13:])


def _steuer_id(text: str) -> bool:
    """ISO 7064, mod 11,10."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    product = 10
    for digit in text[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(text[10])


def _bsn(text: str) -> bool:
    return bool(re.fullmatch(r"\d{9}", text)) and _weighted(text, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _belgian(text: str) -> bool:
    digits = re.sub(r"[.-]", "", text)
    if not re.fullmatch(rf"\d{{2}}{_DATE6}\d{{5}}", digits):
        return False
    number, check = int(digits[:9]), int(digits[9:])
    return check in (97 - number % 97, 97 - (number + 2_000_000_000) % 97)


def _pesel(text: str) -> bool:
    if not re.fullmatch(r"\d{2}[0-9]\d(?:0[1-9]|[12]\d|3[01])\d{5}", text):
        return False
    return (10 - _weighted(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10 == int(text[10])


def _personnummer(text: str) -> bool:
    match = re.fullmatch(rf"(?:19|20)?(\d{{2}}{_DATE6})[-+]?(\d{{4}})", text)
    return match is not None and luhn(match[1] + match[2])


def _hetu(text: str) -> bool:
    match = re.fullmatch(rf"({_DAY_MONTH}\d{{2}})[-+A-FU-Y](\d{{3}})([0-9A-Y])", text)
    return match is not None and _MOD11_FI[int(match[1] + match[2]) % 31] == match[3]


def _fodselsnummer(text: str) -> bool:
    if not re.fullmatch(rf"{_DAY_MONTH}\d{{7}}", text):
        return False
    first = _weighted(text, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11
    return first == 0 and _weighted(text, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _cpr(text: str) -> bool:
    return bool(re.fullmatch(rf"{_DAY_MONTH}\d{{2}}-\d{{4}}", text))


def _ahv(text: str) -> bool:
    digits = text.replace(".", "")
    return bool(re.fullmatch(r"756\d{10}", digits)) and _weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0


def _nif(text: str) -> bool:
    rest = _weighted(text, range(9, 1, -1)) % 11 if re.fullmatch(r"[1235689]\d{8}", text) else -1
    return rest >= 0 and (0 if rest < 2 else 11 - rest) == int(text[8])


def _cpf(text: str) -> bool:
    digits = re.sub(r"[.-]", "", text)
    if not re.fullmatch(r"\d{11}", digits) or len(set(digits)) == 1:
        return False
    checks = (_weighted(digits, range(length + 1, 1, -1)) * 10 % 11 % 10 for length in (9, 10))
    return all(check == int(digits[9 + i]) for i, check in enumerate(checks))


def _tckn(text: str) -> bool:
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    digits = [int(d) for d in text]
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return tenth == digits[9] and sum(digits[:10]) % 10 == digits[10]


def _resident(text: str) -> bool:
    if not re.fullmatch(rf"[1-9]\d{{5}}(?:18|19|20)\d{{2}}{_DATE6}\d{{3}}[\dXx]", text):
        return False
    return _CN[_weighted(text, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11] == text[17].upper()


def _aadhaar(text: str) -> bool:
    """Verhoeff's scheme over the dihedral group of ten elements."""
    if not re.fullmatch(r"[2-9]\d{11}", text):
        return False
    check = 0
    for i, digit in enumerate(reversed(text)):
        check = int(_VERHOEFF_D[check][int(_VERHOEFF_P[i % 8][int(digit)])])
    return check == 0


def _sin(text: str) -> bool:
    return bool(re.fullmatch(r"[1-79]\d{8}", text)) and luhn(text)


NATIONAL: Mapping[str, Callable[[str], bool]] = {
    "US social security number": _ssn,
    "UK national insurance number": _nino,
    "NHS number": _nhs,
    "Spanish DNI or NIE": _dni,
    "Italian codice fiscale": _codice_fiscale,
    "French NIR": _nir,
    "German tax id": _steuer_id,
    "Dutch BSN": _bsn,
    "Belgian national number": _belgian,
    "Polish PESEL": _pesel,
    "Swedish personnummer": _personnummer,
    "Finnish henkilötunnus": _hetu,
    "Norwegian fødselsnummer": _fodselsnummer,
    "Danish CPR number": _cpr,
    "Swiss AHV number": _ahv,
    "Portuguese NIF": _nif,
    "Brazilian CPF": _cpf,
    "Turkish TCKN": _tckn,
    "Chinese resident id": _resident,
    "Indian Aadhaar": _aadhaar,
    "Canadian SIN": _sin,
}
"""Whether a text has the form and, where there are such, the check digits of a national identifier."""
CHECKED_NATIONAL = {country: fits for country, fits in NATIONAL.items() if fits not in (_ssn, _nino, _cpr)}
"""Those with check digits."""
