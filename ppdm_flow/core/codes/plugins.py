"""PPF4xx."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF401",
        "unknown plugin",
        "`use:` or `format:` names a plugin that is not installed.",
        "Plugins are found by their entry points; what is not installed cannot run, and nothing is guessed.",
        "Correct the name (`ppdm-flow list anonymizers`), or install the package that brings the plugin.",
        bad=(
            "attributes: {zip: {role: quasi_identifier, hierarchy: {prefix: [3]}}}\n"
            "steps:\n"
            "  coarsen: {use: generalise}"
        ),
        good=(
            "attributes: {zip: {role: quasi_identifier, hierarchy: {prefix: [3]}}}\n"
            "steps:\n"
            "  coarsen: {use: generalize}"
        ),
    ),
    CodePage(
        "PPF402",
        "two plugins with one name",
        "Two installed packages bring a plugin of the same name, or one brings the name of a built-in.",
        "Which of them runs must not depend on the order of installation, and nobody may replace a built-in silently.",
        "Uninstall one of the packages, or ask its author for another name.",
        bad="$ pip install acme-noise bob-noise    # each brings a plugin of the name `noise`",
        good="$ pip uninstall bob-noise\n$ ppdm-flow list anonymizers",
    ),
    CodePage(
        "PPF403",
        "a plugin cannot be imported",
        "The package is installed, but importing its plugin fails.",
        "A step or an audit that is missing would make the release something else than the policy says.",
        "`ppdm-flow doctor` names the import that fails; usually another package is missing or too old.",
        bad="$ pip install --no-deps acme-noise    # and the package that it is built on is not there",
        good="$ ppdm-flow doctor    # names the import that fails\n$ pip install acme-noise",
    ),
    CodePage(
        "PPF404",
        "an entry point that is no such plugin",
        "The entry point does not lead to a `PluginSpec` of that name, or to one of another kind.",
        "An audit among the anonymizers, or a plugin under a second name, would not do what the policy means.",
        "Correct the entry point in the plugin's package.",
        bad=(
            "$ grep -A 1 anonymizers pyproject.toml   # of the plugin's package: the function, not its card\n"
            '[project.entry-points."ppdm_flow.anonymizers"]\n'
            'noise = "acme_noise.algorithm:add_noise"'
        ),
        good=(
            "$ grep -A 1 anonymizers pyproject.toml\n"
            '[project.entry-points."ppdm_flow.anonymizers"]\n'
            'noise = "acme_noise.spec:SPEC"'
        ),
    ),
    CodePage(
        "PPF405",
        "a plugin cannot check its parameters",
        "The plugin's own model raised an error that is no validation error.",
        "Parameters that nobody has checked must not decide about a release.",
        "Report it to the plugin's author.",
        bad='steps:\n  blur: {use: noise, with: {scale: "1/0"}}    # and the plugin divides without looking',
        good="$ PPDM_LOG=debug ppdm-flow check policy.yaml    # shows where in the plugin; send that to its author",
    ),
    CodePage(
        "PPF406",
        "a plugin cannot say what it does",
        "The plugin's `effect`, which tells the plan what it reads and changes, raised an error.",
        "Without it the plan cannot follow which attributes reach a release.",
        "Report it to the plugin's author.",
        bad=(
            "steps:\n"
            "  blur: {use: noise, with: {attributes: []}}    # and the plugin's `effect` takes the first"
            " of them"
        ),
        good="$ PPDM_LOG=debug ppdm-flow check policy.yaml    # shows where in the plugin; send that to its author",
    ),
    CodePage(
        "PPF407",
        "a file name that tells no format",
        "No `format:` is given, and the ending of the file's name is not a known one.",
        "Reading a file in a wrong format gives wrong values rather than an error.",
        "Say `format: csv`, `jsonl`, `parquet` or `excel`.",
        bad="releases:\n  study: {path: study.out}",
        good="releases:\n  study: {path: study.out, format: csv}",
    ),
)
