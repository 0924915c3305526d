r"""What an identifier looks like in a cell: regular expressions in the syntax that Arrow and DuckDB share (RE2).

They are looked for in normalized texts (:func:`..cells.normalized`): every dash is ``-``, every blank a space, every
digit ASCII. A cell counts where one of them is found anywhere in it. RE2 looks neither ahead nor behind, so that what
must not stand beside a number is part of the expression: ``_L`` before it, ``_R`` after it.
"""

from __future__ import annotations

from typing import Literal

_L, _R = r"(?:^|[^0-9A-Za-z])", r"(?:$|[^0-9A-Za-z])"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_MONTHS = (
    _MONTH[: -len(r")\.?")]
    + r"|januar|februar|märz|mai|juni|juli|okt(?:ober)?|dez(?:ember)?|janvier|f[ée]vrier|mars|avril|juin|"
    r"juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|"
    r"septiembre|octubre|noviembre|diciembre)\.?"
)
"""Months beside a year, in several languages."""
_YEAR, _MM, _DD = r"(?:1[89]|20)[0-9]{2}", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12][0-9]|3[01])"
_M2, _D2 = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|"
    "W[AIVY]"
)
_BEFORE = "(?:^|[^0-9A-Za-z+])"
"""What stands before a telephone number."""
_GAP = r"(?: ?[-/] ?|[ ._])"
"""What stands between the groups of a telephone number."""
_AREA = "[2-9][0-9]{2}"
_CALLED = "call|phone|telephone|telefon|tel|mobile|mobil|handy|cell|pager"
_NUMBER_CALLED = r"[0-9]{3}[ ._-]?[0-9]{4,}|0[0-9]{2,4} ?[ ./_-] ?[0-9]{5,}|\+[0-9]{8,}"
_SSN = (
    r"(?:00[1-9]|0[1-9][0-9]|[1-57-9][0-9]{2}|6(?:[0-57-9][0-9]|6[0-57-9]))(?: |_|\.| ?- ?)(?:0[1-9]|[1-9][0-9])"
    r"(?: |_|\.| ?- ?)"
    r"(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
)
_BARE = _MONTH.replace("may|", "")
"""A month where nothing else tells a date: `may` is another word, too."""
_STREET = "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Highway|Hwy|Parkway|Pkwy|Terrace"
_MBI = "[AC-HJKMNP-RT-Y]"
_OLD = r"(?:9[0-9]|1[01][0-9]|12[0-9])"
_OLD_WORDS = (
    r"(?:ninety(?:[ -]?(?:one|two|three|four|five|six|seven|eight|nine))?|(?:a|one) hundred"
    r"(?: and)?(?: (?:one|two|three|four|five|six|seven|eight|nine|ten))?)"
)
_STATE_NAMES = (
    r"Alabama|Ala|Alaska|Arizona|Ariz|Arkansas|Calif(?:ornia)?|Colorado|Colo|Conn(?:ecticut)?|Del(?:aware)?|Florida|"
    r"Fla|Georgia|Hawaii|Idaho|Illinois|Ill|Indiana|Ind|Iowa|Kansas|Kans|Kentucky|Louisiana|Maine|Maryland|"
    r"Mass(?:achusetts)?|Mich(?:igan)?|Minn(?:esota)?|Mississippi|Miss|Missouri|Montana|Mont|Nebraska|Nebr|Nevada|"
    r"New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Okla|Oregon|"
    r"Pennsylvania|Penna|Rhode Island|South Carolina|South Dakota|Tennessee|Tenn|Texas|Tex|Utah|Vermont|Virginia|"
    r"Washington|Wash|West Virginia|Wisconsin|Wis|Wyoming|Wyo|N\.? ?[CDHJMY]|S\.? ?[CD]|[DM]\.? ?[AC]|R\.? ?I|W\.? ?Va"
)
_LETTER = "A-Za-zÀ-ÖØ-öø-ɏͰ-ϿЀ-ӿ"
_AT = r"(?: ?@ ?| ?[\[({<] ?(?:at|@) ?[\])}>] ?|&#64;|%40)"
_DOT = r"(?: ?[\[({<] ?(?:dot|\.) ?[\])}>] ?|\.)"
_WORD = rf"[{_LETTER}0-9-]"
_TITLE = "Mr|Mrs|Ms|Miss|Mister|Dr|Prof|Mme|Mlle|Herr|Frau|Se[nñ]ora?|Sra|Srta|Signora?"
_PARTICLE = "von|van|de|der|den|di|da|la|le|el|al|bin|ter|zu|du|dos"
NO_NAMES = (
    r"(?i:\b(?:MR|MS|DR|MISS|PROF)\.?[ -](?:imag[a-z]+|scan[a-z]*|angio[a-z]*|head|brain|spine|knee|neck|pelvis|"
    r"abdomen|breast|liver|cardiac|spectro[a-z]*|enterography|urography|patients?|relaps[a-z]*|onset|diagnos[a-z]+|"
    r"lesions?|flares?|symptoms?|plaques?|progress[a-z]*|therap[a-z]+|medications?|clinics?|nurses?|society|office|"
    r"word|excel|windows|access|teams|visits?|notes?|orders?|rates?|reviews?|recommend[a-z]*|pepper)\b)"
)
"""What follows on the letters of a title and is no name: magnetic resonance, multiple sclerosis, products."""

PRODUCTS = (
    r"(?i:\b(?:dr\.? (?:pepper|oetker|martens|scholl|bronner|seuss)|mr\.? (?:muscle|clean|coffee|kipling|proper)|"
    r"mrs\.? (?:butterworth|dash|fields)|ms\.? pac-man)\b)"
)
"""Products that are called like a person."""
DRUG_CODE = r"^[0-9]{4,5}-[0-9]{3,4}-[0-9]{1,2}$"
"""A code of the National Drug Code directory, which may begin as a number that is dialled."""
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


def _labelled(words: str, digits: int = 5) -> str:
    """Return what finds a number or code of so many digits or more that one of these words announces."""
    number = r"(?:[ _.-]?(?:no|nr|num|number|id|code))?\.?"
    return rf"(?i:{_L}(?:{words}){number} ?(?:#|:|=|is)? ?#?[a-z]{{0,3}}-?[0-9]{{{digits},}})"


PATTERNS: dict[Identifier, tuple[str, ...]] = {
    "names": (
        rf"{_L}(?:{_TITLE})\.?[ _]?(?:[A-Z]\. ?)*(?:(?:{_PARTICLE}) )*[A-ZÀ-ÖØ-Þ]'?[{_LETTER}]*[a-zß-öø-ÿ]",
        rf"{_L}(?:MRS|MISS|PROF|HERR|FRAU|MISTER)\.? [A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'-]+",
        rf"{_L}(?:MR|MS|DR)\.? [A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'-]{{2,}}",
        rf"{_L}(?:mr|mrs|ms|prof)\. ?[a-zà-öø-ÿ]{{2,}}|{_L}mrs [a-zà-öø-ÿ]{{3,}}",
        r"^dr\. ?[a-zß-öø-ÿ]{3,}(?: [a-zß-öø-ÿ'-]{3,}){1,2}$",
        r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+, ?(?:Mr|Mrs|Ms|Miss)(?:$|[^A-Za-z])",
        r"(?i:\b(?:patient|pt|mother|father|wife|husband|spouse|contact|guardian)(?:'s)? name ?[:=]? ?[a-z]{2,})",
    ),
    "places": (
        rf"{_L}[0-9]{{1,6}} (?:[NSEW]\.? )?(?:[A-Z][A-Za-z.']* ){{1,4}}(?:{_STREET})\.?{_R}",
        rf"(?i:{_L}[0-9]{{1,6}} [a-z][a-z.' ]{{1,30}} (?:street|avenue|boulevard|highway|parkway){_R})",
        r"(?i:\bp\.? ?o\.? ?box [0-9]+)",
        r"(?:^|[^0-9.])-?[0-9]{1,2}\.[0-9]{3,} ?[,;] ?-?[0-9]{1,3}\.[0-9]{3,}",
    ),
    "zip_codes": (
        rf"{_L}[0-9]{{5}}-[0-9]{{4}}{_R}",
        rf"{_L}(?:{_STATES})\.?(?:,? |,|-)[0-9]{{5}}{_R}",
        rf"{_L}(?:{_STATE_NAMES})\.?(?:,? |,)[0-9]{{5}}(?: ?$|[,.;)]| USA| U\.S)",
        rf"(?i:{_L}(?:zip|post(?:al)?)[ _-]?(?:code)?(?: ?(?:no|nr|number|is))?\.? ?[:=#]? ?[0-9]{{5}}{_R})",
        rf"{_L}[0-9]{{5}},? U\.?S\.?A?{_R}",
    ),
    "dates": (
        rf"{_L}{_YEAR}[-/]{_M2}{_R}",
        rf"{_L}{_YEAR}[-/. _]{_M2}[-/. _]{_D2}(?:$|[^0-9A-Za-z]|T[0-9])",
        rf"{_L}{_YEAR}[-/.]{_MM}[-/.]{_DD}{_R}",
        rf"{_L}{_D2}[ _]{_M2}[ _]{_YEAR}{_R}",
        rf"{_L}{_YEAR} ?年 ?{_MM} ?月",
        rf"{_L}{_YEAR}-W(?:0[1-9]|[1-4][0-9]|5[0-3])(?:-[1-7])?{_R}",
        rf"{_L}{_YEAR}{_M2}{_D2}(?:T[0-9]{{2,6}}|_[0-9]{{4,6}})",
        rf"{_L}{_MM}[-/.]{_DD}[-/.](?:{_YEAR}|[0-9]{{2}}){_R}",
        rf"{_L}{_DD}[-/.]{_MM}[-/.](?:{_YEAR}|[0-9]{{2}}){_R}",
        rf"{_L}{_MM}/{_YEAR}{_R}",
        rf"(?i:{_L}{_MONTHS}(?:,? |[-/_.])(?:(?:the )?{_DD}(?:st|nd|rd|th)?(?:,? ?|[-/_.]))?{_YEAR}{_R})",
        rf"(?i:{_L}{_DD}(?:st|nd|rd|th|\.)?(?: of |[ ./_-]{{0,2}}){_MONTHS},?[ ./_-]{{0,2}}(?:{_YEAR}|[0-9]{{2}}){_R})",
        rf"(?i:{_L}{_DD}\.? de {_MONTHS} de {_YEAR}{_R})",
        rf"(?i:{_L}{_YEAR}[ ./_-]?{_MONTHS}(?:[ ./_-]?{_DD})?{_R})",
        rf"(?i:{_L}{_DD}(?:st|nd|rd|th)?[ -]{_BARE}{_R})",
        rf"(?i:{_L}{_BARE} {_DD}(?:st|nd|rd|th)?{_R})",
        rf"{_L}May {_DD}(?:st|nd|rd|th)?{_R}",
        rf"(?i:{_L}(?:q[1-4][ -/]?{_YEAR}|{_YEAR}[ -/]?q[1-4]){_R})",
        rf"^{_YEAR}{_M2}{_D2}(?:[0-9]{{4}}|[0-9]{{6}})?$",
    ),
    "ages": (
        rf"(?i:{_L}{_OLD}[ -]?(?:years?|yrs?)[ -]?(?:old|of age){_R})",
        rf"(?i:{_L}{_OLD} ?y\.?/?o\.?{_R})",
        rf"(?i:{_L}aged?(?: of| is)?(?: ?[:=])? ?{_OLD}{_R})",
        rf"(?i:(?:^|[(,;:] ?)(?:~|c\. ?)?{_OLD}[ -]?(?:years?|yrs?|y)\.?(?:$|[),;]))",
        rf"(?i:{_L}aged?(?: of| is)?(?: ?[:=])? ?{_OLD_WORDS}{_R})",
        rf"(?i:{_L}{_OLD_WORDS}[ -](?:years?|yrs?)[ -](?:old|of age){_R})",
        r"(?i:\b(?:nonagenarian|centenarian|supercentenarian)s?\b)",
        r"(?i:\b(?:his|her|their) nineties\b)",
    ),
    "phones": (
        rf"{_BEFORE}(?:(?:\+|00)?1[ ./_-]?)?(?:\({_AREA}\) ?|{_AREA}{_GAP}){_AREA}{_GAP}[0-9]{{4}}{_R}",
        rf"(?i:\b(?:{_CALLED})\.?(?: ?(?:no|nr|number)\.?)? ?[:=]? ?(?:{_NUMBER_CALLED}))",
        rf"{_BEFORE}\+ ?[1-9](?:[ ()./_-]{{0,3}}[0-9]){{7,14}}{_R}",
        rf"{_BEFORE}(?:00|011)[ -]?[1-9][0-9]{{0,2}}[ ()./_-]{{1,3}}[0-9](?:[ ()./_-]{{0,3}}[0-9]){{5,12}}{_R}",
    ),
    "faxes": (r"(?i:\b(?:tele)?fax(?: ?(?:no|nr|number)\.?)? ?[:=]? ?[+(]?[0-9][0-9 ().-]{5,})",),
    "emails": (
        rf"[{_LETTER}0-9._%+'-]+{_AT}{_WORD}+(?:{_DOT}{_WORD}+)*{_DOT}[{_LETTER}]{{2,}}",
        rf"(?i:[a-z0-9._%+-]+(?: at |{_AT}){_WORD}+(?:{_DOT}{_WORD}+)* (?:dot|\.) ?[a-z]{{2,4}}\b)",
    ),
    "social_security": (
        f"{_L}{_SSN}{_R}",
        _labelled("ssn|ss|social[ -]security|soc\\.? sec\\.?", 4),
    ),
    "medical_records": (
        _labelled("mrn|medical record|med rec", 4),
        _labelled("chart"),
    ),
    "health_plans": (
        _labelled("member|subscriber|beneficiary|policy|medicare|medicaid|group|insurance"),
        rf"{_L}[1-9]{_MBI}[0-9AC-HJKMNP-RT-Y][0-9]-?{_MBI}[0-9AC-HJKMNP-RT-Y][0-9]-?{_MBI}{{2}}[0-9]{{2}}{_R}",
    ),
    "accounts": (_labelled("account|acct|iban", 4),),
    "licences": (_labelled("licen[cs]e|lic|certificate|cert|passport"),),
    "vehicles": (_labelled("vin|plate|licen[cs]e plate|vehicle"),),
    "devices": (
        _labelled("serial|s/n|device|implant|udi|imei|pacemaker"),
        r"\(01\)[0-9]{14}",
        rf"{_L}(?:[0-9A-Fa-f]{{2}}[:-]){{5}}[0-9A-Fa-f]{{2}}{_R}",
    ),
    "urls": (r"(?i:\b(?:https?|ftps?|file)://[^ ])", r"(?i:\bwww\.[a-z0-9-]+\.[a-z]{2,})"),
    "ip_addresses": (
        rf"(?:^|[^0-9A-Za-z.]){_OCTET}(?:\.{_OCTET}){{3}}(?:$|[^0-9A-Za-z.]|\.(?:$|[^0-9]))",
        r"(?:^|[^0-9A-Za-z:])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?:$|[^0-9A-Za-z:])",
        r"(?:^|[^0-9A-Za-z:])(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}(?:$|[^0-9A-Za-z:])",
    ),
    "biometrics": (r"(?i:[^ /\\]\.(?:wav|mp3|m4a|flac|wsq|an2)\b)", r"(?i:data:audio/)"),
    "photographs": (
        r"(?i:[^ /\\]\.(?:jpe?g|png|gif|tiff?|bmp|heic|webp|dcm)\b)",
        r"(?i:data:image/)",
        r"^(?:/9j/|iVBORw0KGgo|R0lGOD)",
    ),
    "unique_codes": (rf"(?i:{_L}[0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}{_R})",),
}

CARD = (
    r"^(?:4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}|"
    r"3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|35[0-9]{14,17}|6(?:011|[45][0-9]{2})[0-9]{12,15})$"
)
"""A payment card's number, which a check digit ends (Luhn)."""
IMEI = r"^(?:01|35|86|99)[0-9]{13}$"
"""A mobile device's number, which a check digit ends (Luhn)."""
VIN = r"^[0-9A-HJ-NPR-Za-hj-npr-z]{8}[0-9Xx][0-9A-HJ-NPR-Za-hj-npr-z]{8}$"
"""A vehicle's number of 17 characters, the ninth of which is a check digit (49 CFR 565.15)."""
TOKENS = "[^0-9A-Za-z]+"
"""What stands between the parts of a cell that may be numbers with a check digit."""
GROUPED = ("([0-9])(?: ?[-/] ?|[ ._])([0-9])", r"\1\2")
"""Joins groups of digits, done twice: what is found, and by what it is replaced. Both forms are looked through."""
LONG = "[0-9][0-9 ._/-]{11,}[0-9]|[0-9A-Za-z]{17}"
"""What a cell with such a number has somewhere."""
CHECKED: dict[Identifier, str] = {"accounts": CARD, "devices": IMEI, "vehicles": VIN}
"""Numbers with a check digit, by the kind that they are of; each part of a cell is looked at."""
BORN = (
    r"(?i:(?:^|[^0-9A-Za-z])(?:born|birth|dob|d\.o\.b\.|yob|b\.)(?: year| date)?(?: in| on| is)?(?: ?[:=])? ?"
    r"(?:[0-9]{1,2}[./-][0-9]{1,2}[./-])?((?:18|19|20)[0-9]{2})(?:$|[^0-9A-Za-z]))"
)
"""A year of birth that a text tells: its group."""
CARD_FORM = r"(?:^|[^0-9A-Za-z])[2-6](?:(?: ?[-/] ?|[ ._])?[0-9]){12,18}(?:$|[^0-9A-Za-z])"
"""A number as long as those of payment cards are, with any check digit."""
IBAN_FORM = r"\b[A-Za-z]{2}[0-9]{2}[ ._-]?(?:[A-Za-z0-9]{4}[ ._-]?){2,7}[A-Za-z0-9]{0,4}\b"
"""A text as long as numbers of bank accounts are (ISO 13616), with any check digits."""
_HIDDEN = r"(?:[^0-9A-Za-z.,:;/+'-]|[Xx])"
MASKED_CARD = (
    rf"^(?:[2-6](?:{'|'.join(f'[0-9]{{{n}}}{_HIDDEN}[0-9]{{{14 - n}}}' for n in range(15))})|{_HIDDEN}[0-9]{{15}})$"
)
"""A payment card's number of sixteen digits, one of which is hidden: Luhn's check digit tells it. Without blanks."""
MASKED_IBAN = (
    r"^[A-Za-z]{2}(?:[0-9]{2}[0-9A-Za-z]*(?:[^0-9A-Za-z]|[Xx])[0-9A-Za-z]*|(?:[0-9][^0-9A-Za-z]|[^0-9A-Za-z][0-9])"
    r"[0-9A-Za-z]{11,30})$"
)
"""The number of a bank account, one digit of which is hidden: the check digits tell it. Without blanks."""
NATIONAL_FORM = (
    r"(?:^|[^0-9A-Za-z])(?P<number>"
    r"[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]|"  # Italian
    r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}|"  # Swiss
    r"[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[ABab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}|"  # French
    r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}|"  # Brazilian
    r"[0-9]{6}(?:[0-9]{2})?[+-][0-9]{4}|[0-9]{6}[A+-][0-9]{3}[0-9A-Y]|"  # Swedish, Finnish
    r"[1-9][0-9]{16}[0-9Xx]"  # Chinese
    r")(?:$|[^0-9A-Za-z])"
)
"""A national number whose form tells it nearly alone; its check digits are looked at besides."""


# The 18 kinds of identifiers of 45 CFR 164.514(b)(2)(i), (A) to (R), by the names of their figures.


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
