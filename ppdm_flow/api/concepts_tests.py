"""The page on policy tests."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

TEST_CONCEPTS: Mapping[str, Concept] = {
    "test": Concept(
        "Policies as code",
        "policy tests: small tables in files `*.test.yaml`, and what a policy has to make of them",
        "A file names a `policy` and holds `tests`, each with `data` (CSV text with a header, a list of rows,"
        " `{csv: FILE}`, or `{file: FILE}` of the kind that the policy's source reads), values of params under `set`,"
        " and what is expected. `data` and `set` may stand at the top for all tests.\n\n"
        "The table goes through the policy's steps and audits as a run's does, in a private folder that is gone"
        " afterwards: nothing is ever released, and a release ledger is neither read nor written. With `released`, a"
        " second table is judged as the release instead, as `ppdm-flow audit` does: that tests the requirements alone,"
        " whatever the steps would have done; gates on figures of steps are left out.\n\n"
        "Under `expect`: `verdict` (`released`, `withheld`, or `refused` with the `code` of the fault in the input);"
        " `fails` and `holds` with requirements and gates by their place in the policy (`privacy.k_anonymity`,"
        " `gates.still-useful`, `RELEASE/…`), `waived` with those that do not hold and are waived today; `metrics` by"
        " their name in a report, each a number or `{min, max}` or `{equals, tolerance}`; `rows`, `columns`,"
        " `released_values` (`⊥` is a suppressed value) and `suppressed`"
        " (original values that are hidden in some row; or `{everywhere: […], nowhere: […]}`) of the release, under"
        " `releases: {NAME: …}` where there are several; `findings` with the codes of what a report points out; and"
        " `check` with the codes of what `ppdm-flow check` says, for which no data is needed. A list means exactly"
        " these; `{include: […], exclude: […]}` leaves the rest open.\n\n"
        "Randomness comes from a key that the test's name gives, so a test comes out the same every time, in a policy"
        " with sealed randomness too; `repeat: 20` draws twenty times, and what is expected must come each time."
        " Values in failures are those that the test file wrote; of other files only counts are told.\n\n"
        "`ppdm-flow test --coverage` counts for each requirement and gate whether some test makes it hold and some test"
        " makes it fail, for each step whether it changed anything, and for each value that a requirement names whether"
        " some test's data has it. `ppdm-flow check` holds test files against their policies without running them;"
        " `ppdm-flow schema test` is their JSON Schema.",
        "policy: ../policies/clinic.yaml\n"
        "tests:\n"
        "  rare-jobs-are-hidden:\n"
        "    data: |\n"
        "      age,job,illness\n"
        "      34,nurse,flu\n"
        "      35,nurse,flu\n"
        "      71,pilot,HIV\n"
        "    set: {k: 2}\n"
        "    expect:\n"
        "      verdict: released\n"
        "      suppressed: {job: [pilot]}\n"
        "      metrics: {suppress.suppressed_cells: {max: 2}}",
        why="A policy that still runs may promise less than it did. Tests say what it has to hold back, and fail when"
        " it no longer does.",
    ),
}
