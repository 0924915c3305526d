"""PPF6xx, and PPF550 to PPF599: what is wrong between the steps of a plan."""

from __future__ import annotations

from ppdm_flow.core.codes.flow_rules import PAGES as FLOW_RULES
from ppdm_flow.core.page import CodePage

_WIRING: tuple[CodePage, ...] = (
    CodePage(
        "PPF601",
        "a step reads what does not exist",
        "`input:` names no step and is not `source`.",
        "A step with no input cannot run, and guessing another one would release other data.",
        "Name a step of this policy, `step.output` where a step has several outputs, or `source`.",
        bad="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: aa}",
        good="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: a}",
    ),
    CodePage(
        "PPF602",
        "steps in a circle",
        "Following `input:` from step to step leads back to where one started.",
        "None of these steps could ever begin.",
        "Let one of them read `source` or a step outside of the circle.",
        bad="steps:\n  a: {use: shuffle_rows, input: b}\n  b: {use: shuffle_rows, input: a}",
        good="steps:\n  a: {use: shuffle_rows, input: source}\n  b: {use: shuffle_rows, input: a}",
    ),
    CodePage(
        "PPF603",
        "a step that no release comes from",
        "Nothing that leaves the house has gone through this step. A warning.",
        "Often an `input:` or a `from:` skips it by mistake: then the release lacks its protection.",
        "Let a step or a release read it, or take it out.",
        bad="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: source}\n"
        "releases:\n  study: {from: b, path: study.csv}",
        good="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: a}\n"
        "releases:\n  study: {from: b, path: study.csv}",
    ),
    CodePage(
        "PPF604",
        "a release from what does not exist",
        "`from:` names no step and is not `source`.",
        "A release from another step than the one meant may lack its protection.",
        "Name a step; left out, the release comes from the last step of the policy.",
        bad="steps:\n  mix: {use: shuffle_rows}\nreleases:\n  study: {from: mixx, path: study.csv}",
        good="steps:\n  mix: {use: shuffle_rows}\nreleases:\n  study: {from: mix, path: study.csv}",
    ),
    CodePage(
        "PPF605",
        "a step named `source`",
        "`source` is the name of the data before any step.",
        "`input: source` could mean two things.",
        "Give the step another name.",
        bad="steps:\n  source: {use: shuffle_rows}",
        good="steps:\n  mix: {use: shuffle_rows}",
    ),
    CodePage(
        "PPF606",
        "an attribute that does not reach the step",
        "A step or an audit needs an attribute that the policy does not declare, or that an earlier step has dropped"
        " or renamed.",
        "The step could not do its work, so the release would lack its protection.",
        "Declare it, put the step earlier, or use the new name.",
        bad=(
            "attributes: {age: {role: quasi_identifier}}\n"
            "steps:\n"
            "  blur: {use: noise, with: {attribute: agee}}    # `noise`: a plugin"
        ),
        good="attributes: {age: {role: quasi_identifier}}\nsteps:\n  blur: {use: noise, with: {attribute: age}}",
    ),
    CodePage(
        "PPF607",
        "two attributes with one name",
        "After the step two attributes would have the same name.",
        "One of them would hide the other.",
        "Let the step write the attribute under a name that no other one has, or drop the other one before.",
        bad="attributes: {age: {role: quasi_identifier}}\n"
        "steps:\n"
        "  groups: {use: banding, with: {attribute: age, into: age}}    # `banding`: a plugin that"
        " adds an attribute",
        good="attributes: {age: {role: quasi_identifier}}\n"
        "steps:\n"
        "  groups: {use: banding, with: {attribute: age, into: age_band}}",
    ),
    CodePage(
        "PPF608",
        "an output that the step does not have",
        "A reference `step.output` names no output of that step, or `step` is written where it has only named ones.",
        "The outputs of a step differ in what they hold.",
        "Name one of its outputs; `ppdm-flow plan` shows them.",
        bad="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: a.left}",
        good="steps:\n  a: {use: shuffle_rows}\n  b: {use: shuffle_rows, input: a}",
    ),
)

_COLUMNS: tuple[CodePage, ...] = (
    CodePage(
        "PPF612",
        "a pattern that no column matches",
        "A glob among the attributes fits none of the data's columns. A warning.",
        "Columns that it was meant for may have been renamed, and fall under `undeclared` now.",
        "Correct the pattern or take it out.",
        bad='attributes: {"diag_*": {role: sensitive}}    # the columns are diagnosis_1 and diagnosis_2',
        good='attributes: {"diagnosis_*": {role: sensitive}}',
    ),
)

_AUDITS: tuple[CodePage, ...] = (
    CodePage(
        "PPF614",
        "an audit on a release that does not exist",
        "`release:` of an audit names no release.",
        "Nothing would be measured, and gates on its figures could not hold.",
        "Name a release, or leave `release:` out: then it is measured on every one.",
        bad="audits:\n  size: {use: class_sizes, release: studdy}",
        good="audits:\n  size: {use: class_sizes, release: study}",
    ),
    CodePage(
        "PPF615",
        "a gate on a figure that cannot exist",
        "The metric of a gate begins with the name of no audit, step or requirement.",
        "A figure that does not exist holds no bound: every run would be withheld.",
        "Write `NAME.FIGURE`, with the name of an audit, a step or a requirement; `RELEASE/NAME.FIGURE` for one"
        " release of several.",
        bad="gates:\n  crowd: {metric: privacy.k_anonymty.k, min: 5}",
        good="gates:\n  crowd: {metric: privacy.k_anonymity.k, min: 5}",
    ),
    CodePage(
        "PPF616",
        "one name for two things that are measured",
        "An audit has the name of a step, or a step or an audit has that of an audit which runs by itself.",
        "Figures are named after what they belong to: `NAME.FIGURE` would be two figures.",
        "Rename one of them.",
        bad="steps:\n  classes: {use: suppress}\naudits:\n  classes: {use: class_sizes}",
        good="steps:\n  suppress: {use: suppress}\naudits:\n  classes: {use: class_sizes}",
    ),
    CodePage(
        "PPF617",
        "a requirement's audit under `audits:`",
        "The audit measures a requirement; such audits run by themselves for every release.",
        "Under `audits:` it would have no requirement to measure.",
        "Ask for it under `privacy:`.",
        bad="audits:\n  k: {use: k_anonymity}",
        good="privacy:\n  k_anonymity: {k: 5}",
    ),
    CodePage(
        "PPF618",
        "an audit that fits only some of the releases",
        "The audit names no release, and at least one release lacks what it measures. A warning.",
        "It is left out there. A gate on its figures that is about that release is an error (PPF644).",
        "Name the release with `release:`; for several releases, write one audit for each.",
        bad=(
            "attributes: {age: {role: quasi_identifier}, outcome: {role: target}}\n"
            "steps: {fewer: {use: drop, with: {attributes: [outcome]}}}\n"
            "releases: {study: {from: source, path: study.csv}, open: {from: fewer, path: open.csv}}\n"
            "audits:\n"
            "  error: {use: classification_error, with: {target: outcome}}"
        ),
        good=(
            "attributes: {age: {role: quasi_identifier}, outcome: {role: target}}\n"
            "steps: {fewer: {use: drop, with: {attributes: [outcome]}}}\n"
            "releases: {study: {from: source, path: study.csv}, open: {from: fewer, path: open.csv}}\n"
            "audits:\n"
            "  error: {use: classification_error, release: study, with: {target: outcome}}"
        ),
    ),
    CodePage(
        "PPF619",
        "a requirement about a column that the data does not have",
        "A requirement names an attribute that only a pattern declares, and no column of the data has that name; or it"
        " names a pattern that fits none.",
        "A requirement about nothing would hold of anything.",
        "Correct the name. A pattern in a requirement means every column that it fits.",
        bad='attributes: {"zip*": {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: [zip4]}}',
        good='attributes: {"zip*": {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5, attributes: ["zip*"]}}',
    ),
    CodePage(
        "PPF620",
        "a looser pattern before a stricter one",
        "Two patterns fit the same column of the data, and the first, which holds, gives it a role that protects less.",
        "An identifier would be released because another pattern happens to stand above.",
        "Put the stricter pattern first, or declare the column by its own name.",
        bad='attributes: {"*": {role: insensitive}, "id*": {role: identifier}}',
        good='attributes: {"id*": {role: identifier}, "*": {role: insensitive}}',
    ),
)

_COMMANDS: tuple[CodePage, ...] = (
    CodePage(
        "PPF690",
        "no policy found",
        "The files, folders or patterns of the command line lead to no policy.",
        "A check of nothing must not look like a check that passed.",
        "Give YAML files, or a folder that holds some. In folders, YAML files with neither `releases:` nor `extends:`"
        " are left out.",
        bad="$ ppdm-flow check 'policies/*.yml'",
        good="$ ppdm-flow check policies/",
    ),
    CodePage(
        "PPF691",
        "`--set` in a wrong form",
        "`--set` needs a name and a value, and each name once.",
        "A param that is not set takes its default, which may be a weaker one.",
        "Write `--set k=5`.",
        bad="$ ppdm-flow check policy.yaml --set k",
        good="$ ppdm-flow check policy.yaml --set k=5",
    ),
    CodePage(
        "PPF692",
        "something that is not there",
        "The command line names a run, a page, a list or a schema that does not exist.",
        "What comes nearest is named in the message, and not taken: it might be another one than was meant.",
        "Correct the name; `ppdm-flow COMMAND --help` says what it takes.",
        bad="$ ppdm-flow explain k-anonimity",
        good="$ ppdm-flow explain k-anonymity",
    ),
    CodePage(
        "PPF693",
        "a file that cannot be written",
        "The folder does not exist, may not be written, or a folder stands where the file should be.",
        "What was asked for was worked out and is not kept anywhere: a script that goes on would read an older file.",
        "Give another place, or make the folder first.",
        bad="$ ppdm-flow report runs/bank/20261121T090000Z-75924a52c386 --output-file /proc/report.md",
        good="$ ppdm-flow report runs/bank/20261121T090000Z-75924a52c386 --output-file report.md",
    ),
    CodePage(
        "PPF694",
        "which release?",
        "The policy has several releases, or none of the name given.",
        "Another release has other requirements' figures.",
        "Say which one with `--release NAME`; the names are those under `releases:` of the policy.",
        bad="$ ppdm-flow audit hospital.yaml --original patients.csv --released billing.csv    # it has two releases",
        good="$ ppdm-flow audit hospital.yaml --original patients.csv --released billing.csv --release billing",
    ),
    CodePage(
        "PPF695",
        "`init` overwrites nothing",
        "The folder holds one of the files already, or is a file.",
        "A policy that somebody wrote must not be lost.",
        "Name a folder that does not exist yet, or an empty one.",
        bad="$ ppdm-flow init .    # where a policy stands already",
        good="$ ppdm-flow init release-policies",
    ),
    CodePage(
        "PPF698",
        "the machine said no",
        "The operating system refused something: the disk is full, memory is out, a file is locked.",
        "The run could not go on and stopped there. Nothing was released.",
        "Free what the message names (space on the disk, memory, the file that is locked), and run again.",
        bad="$ df -h /srv/runs | tail -1    # nothing is left\n"
        "/dev/sdb1        50G   50G     0 100% /srv/runs\n"
        "$ ppdm-flow run policy.yaml --out /srv/runs",
        good="$ ppdm-flow run policy.yaml --out /data/runs",
    ),
    CodePage(
        "PPF699",
        "a defect of the program",
        "Something happened that the program does not expect.",
        "The run stopped there, since nothing it would do next can be relied on. Nothing was released.",
        "Report it, with what `PPDM_LOG=debug` adds: it holds no data values.",
        bad="$ ppdm-flow run policy.yaml    # ends with PPF699, the kind of error and its place",
        good="$ PPDM_LOG=debug ppdm-flow run policy.yaml 2> defect.txt    # report this file, with what"
        " `ppdm-flow doctor` prints",
    ),
)

PAGES: tuple[CodePage, ...] = (*FLOW_RULES, *_WIRING, *_COLUMNS, *_AUDITS, *_COMMANDS)
