r"""Spellings of texts: which differences between two of them are ignored, and the common spelling.

The differences are ``case`` (letter case), ``blanks`` (white space and characters that nobody sees) and ``form``
(Unicode Standard, annex 15, compatibility forms: NFKC).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

SPELLINGS = ("case", "blanks", "form")
"""All differences between spellings."""
_IGNORABLE = (
    r"\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{2065}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}\x{FFF0}-\x{FFF8}"
    r"\x{E0000}-\x{E0FFF}"
)
"""Default_Ignorable_Code_Point (Unicode Character Database, DerivedCoreProperties.txt) that is no format character."""
INVISIBLE = rf"[\p{{Cc}}\p{{Cf}}{_IGNORABLE}\x{{2800}}\x{{FFFC}}]+"
"""Control and format characters, what is ignored in display, the blank of braille and the place of an object (RE2)."""
UNSEEN = rf"[\p{{Z}}{INVISIBLE[1:]}"
"""White space and invisible characters."""


def respelled(texts: pa.StringArray, ignore: Collection[str] = SPELLINGS) -> pa.StringArray:
    r"""Return each text in the one spelling of all texts that differ from it in ``ignore`` alone.

    Shape (texts,); null stays null.

    Examples
    --------
    >>> respelled(pa.array(["HIV ", "hiv", "H\u200biv", "Straße"])).to_pylist()
    ['hiv', 'hiv', 'hiv', 'strasse']
    >>> respelled(pa.array(["P1 ", "p1"]), ["blanks"]).to_pylist()
    ['P1', 'p1']
    """
    form = "form" in ignore
    spelled = pc.utf8_normalize(texts, "NFKC") if form else texts
    if "blanks" in ignore:
        spelled = pc.replace_substring_regex(spelled, UNSEEN, "")
    if "case" in ignore:
        spelled = _without_case(spelled)
        spelled = pc.utf8_normalize(spelled, "NFKC") if form else spelled  # folding case may take a form apart
    return spelled


def _without_case(texts: pa.StringArray) -> pa.StringArray:
    """Fold case (Unicode Standard, section 3.13); Arrow lowers ASCII letters, and would leave `ß` and `SS` apart.

    Folding leaves a dot above the small letter of `İ`, which the small `i` has already: it goes.
    """
    lower = pc.utf8_lower(texts)
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return lower
    foreign = pc.invert(pc.string_is_ascii(texts)).fill_null(False)
    folded = [text.casefold().replace("i\u0307", "i") for text in texts.filter(foreign).to_pylist()]
    return pc.replace_with_mask(lower, foreign, pa.array(folded, pa.string()))
