"""PPF819, PPF823 to PPF829, PPF886 to PPF889 and PPF587, PPF588: ids, class ids, and tables that are joined by them."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF819",
        "codes that anyone can turn back",
        "Genetic encoding gives an id the bits of its neighbour. There is no key: whoever knows the order of the rows"
        " gets every id back, and different ids can get the same code.",
        "A code that looks unlike the id is easily taken for protection. It counts as none: an identifier stays an"
        " identifier, and every requirement is measured on the codes as on any other values.",
        "Use `pseudonymize` where records have to stay linkable. Where the encoding is wanted all the same, shuffle"
        " the rows, and let the audit `id_recovery` tell how many ids come back.",
        "steps:\n  encode: {use: genetic_encode, with: {attribute: roll}}",
        "steps:\n  codes: {use: pseudonymize, with: {attributes: [roll], key_env: STUDY_KEY}}",
    ),
    CodePage(
        "PPF823",
        "an id does not fit the encoding",
        "A cell is missing, is no whole number, or has more bits than `width`.",
        "Cut off bits would make different ids equal without anybody noticing.",
        "Raise `width`, or clean the column. `width: 12` takes 0 to 4095.",
        "steps:\n  encode: {use: genetic_encode, with: {attribute: roll}}    # rolls above 4095",
        "steps:\n  encode: {use: genetic_encode, with: {attribute: roll, width: 27}}",
    ),
    CodePage(
        "PPF824",
        "a value would leave the mask as it came",
        "It has no more letters and digits than the rule keeps.",
        "A value that nothing covers is released as it is, among others that look protected.",
        "Keep fewer characters with `first` and `last`.",
        "steps:\n  cover: {use: mask, with: {attributes: {postal_code: {first: 5}}}}",
        "steps:\n  cover: {use: mask, with: {attributes: {postal_code: {first: 3}}}}",
    ),
)
