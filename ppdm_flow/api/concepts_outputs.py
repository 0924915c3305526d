"""The page on formats: what each verb writes, and for whom."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept
from ppdm_flow.report.forms import CHECK, JUDGED, VERIFIED, Form


def _listed(verbs: str, forms: Mapping[str, Form]) -> str:
    rows = "\n".join(f"- `{form.name}`: {form.what}" for form in forms.values())
    return f"{verbs}:\n\n{rows}"


OUTPUT_CONCEPTS: Mapping[str, Concept] = {
    "formats": Concept(
        "In CI",
        "what an outcome is written as, and where to: `--format NAME`, again and again, each with an `--output-file`"
        " behind it or not",
        "One without a file goes to stdout. Several may share stdout only where all are lines for a log (`text`,"
        " `concise`, `github`): two documents in one stream are no document. Files are written whole or not at all,"
        " and a place that cannot be written is refused before any work. The exit status is the same whatever the"
        " format; `check --exit-zero` is for a step that uploads findings and leaves the answer to another one.\n\n"
        + "\n\n".join(
            (
                _listed("`check`", CHECK),
                _listed("`run`, `audit`, `report`", JUDGED),
                _listed("`verify`", VERIFIED),
                "`test` writes `text`, `json` or `junit`, one at a time.",
            )
        )
        + "\n\nPaths in `sarif`, `github`, `gitlab` and `junit` start at the root of the repository: the nearest folder"
        " with `.git`. `sarif` and `gitlab` know a finding again by its code, its file and its place in the policy, so"
        " moved lines and better words make no new one. `github` shows the first ten of a kind and counts the rest,"
        " as GitHub drops more, and adds the whole to the file that `GITHUB_STEP_SUMMARY` names, up to 1 MiB."
        " `markdown` ends at 65,536 characters, which is what a comment may have. An error that ends the work (exit"
        " status 2 or 3) is said in `junit`, `github` and `markdown` too.",
        "# ppdm-flow check policies/ --format sarif --output-file out.sarif --format github\n"
        "# ppdm-flow run POLICY --format text --format junit --output-file junit.xml",
    ),
    "profile": Concept(
        "Starting",
        "a first policy from data: types, roles guessed with reasons, what tells rows apart, what that asks for",
        "Direct identifiers are known by the form of their values (e-mail addresses, telephone numbers, accounts and"
        " cards, national identifiers of 21 countries or systems with their check digits) and by the names of columns"
        " in a dozen languages; where nearly every row has a value of its own, a text or a whole number is one as well."
        " In doubt a column is a quasi-identifier, since others may know it. Looked at are all combinations of up to"
        " three columns that are released: the minimal ones under which no two rows agree, and those under which most"
        " rows are alone. Combinations are pruned level by level and estimated on a share of their values first; what"
        " is shown is counted exactly. Every line is a guess: a policy is what somebody answers for. No value of the"
        " data is shown: edges of intervals are round numbers around the middle nine tenths of the rows. A file whose"
        " first line holds numbers, dates, addresses or values from below it is taken to have no header.",
        "# ppdm-flow profile data.csv > policies/new.yaml\n# ppdm-flow profile data.csv --format text",
        reference="Sismanis, Brown, Haas, Reinwald, GORDIAN, VLDB 2006; Heise and others, DUCC, PVLDB 2013; distinct"
        " sampling: Gibbons, VLDB 2001",
    ),
}
