"""Terms on what must hold within equivalence classes, and of sets of items."""

from __future__ import annotations

CLASS_TERMS: tuple[tuple[str, str, str], ...] = (
    (
        "l-diversity",
        r"l_divers",
        (
            "Every equivalence class holds at least l values of a sensitive attribute, counted as the policy says, so"
            " that finding somebody's class does not tell the value."
        ),
    ),
    (
        "t-closeness",
        r"t_close",
        (
            "The values of a sensitive attribute are spread in every equivalence class nearly as in the whole release:"
            " at a distance of at most t, where 0 is alike and 1 is wholly different."
        ),
    ),
    (
        "δ-disclosure, β-likeness",
        r"delta_disc|beta_like",
        (
            "How much more (δ: or less) frequent a sensitive value may be in a class than in the whole release: δ"
            " bounds the logarithm of the ratio of both shares, β what the share gains, in multiples of it."
        ),
    ),
    (
        "k-map, LKC-privacy",
        r"k_map|\.lkc",
        (
            "k-map: every class fits k people of a population table. LKC: whoever knows any L attributes finds K rows"
            " or more, and infers a sensitive value with a confidence of at most C."
        ),
    ),
    (
        "k^m-anonymity",
        r"km_anonym",
        "Every combination of at most m items that occurs in some set occurs in at least k of them.",
    ),
)
"""Each with the pattern of reports that use it."""
