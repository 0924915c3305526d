"""The fixed sentences of a data sheet, which both of its forms have."""

from __future__ import annotations

from ppdm_flow.report.datasheet.sheet import Sheet

TITLES = {
    "file": "What this is",
    "columns": "The columns, and what was done to them",
    "true": "What remains true, and what does not",
    "estimates": "How to correct estimates",
    "promises": "What is promised",
    "assumed": "What was assumed",
    "waived": "What does not hold, and is waived",
    "check": "How to check this folder",
}
DONE, TRUE, UNTRUE, CORRECT = "Was done", "Remains true", "No longer true", "To correct it"
INTRO = (
    "This file was made from personal data by the release policy `{policy}`{day}. Read this before you count anything."
)
COLUMNS = "Sentences stand in the order in which things were done."
STEPS = "Each statement is about what one step did to the table that it was given. All of them hold together."
ESTIMATES = (
    "Some values were changed at random with published probabilities. What was lost in a row can be estimated for many."
)
PROMISES = (
    "Each of these was measured on this very file before it left, in two independent ways. What was measured is not"
    " told here."
)
CHECK = (
    "`ppdm-flow verify FOLDER --signers FILE` checks the files of this folder, this sheet among them, against the"
    " attestations in `attestations/`, and says who signed them in which role. FILE lists the keys of people whom you"
    " trust; have it from them, and not from this folder. Without an attestation nothing vouches for these files."
)


def named(text: str, sheet: Sheet) -> str:
    """Return a sentence with the names of a sheet put in."""
    return text.format(policy=sheet.policy, day=f" on {sheet.day}" if sheet.day else "")
