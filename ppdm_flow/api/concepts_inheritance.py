"""Pages on what policies share: templates, their params, and the floors that they put under everything."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

_SECTIONS = "Sections of a policy"

_EXTENDS = """\
Each entry names a template: a file beside the policy, `builtin:NAME`, or `pkg:DISTRIBUTION/NAME` of an installed
package, with `@` and a range of versions as PEP 440 has them (`@>=1.2,<2`, `@~=1.4`; `@1.4` is any 1.4). `with:` gives
values to its params. Nothing is fetched from a network. `ppdm-flow list templates` shows what is installed, and
`ppdm-flow explain builtin:NAME` what it promises.

**One merge rule.** The policy lies over its templates: maps are merged key by key, a text or a list replaces the one
below it, and `null` deletes. Relative paths of files are meant from the file in which they stand.

**Several templates.** What is nearer holds: if `medical.yaml` extends `base.yaml` and changes k to 10, then k is 10,
although another template beside it brings in `base.yaml` with its 5, and in whatever order the two stand (as in the C3
order of base classes). Where no template is nearer, the later one holds and the conflict is told (PPF315): a warning,
and an error where a floor is about the place. What one template deletes and another brings in stays, since it may be a
protection. Say in the policy what is meant, and the conflict is settled.

**A diamond** is no circle: one template may come in by several ways. With different values for its params, what they
change is a conflict like any other. Two ranges of one package have to hold its one version both. A template that
extends itself, by whatever detour, is an error (PPF302) that shows every step of the way.

`ppdm-flow show POLICY --origin` says of each value which line set it, and which floors are about it."""

_PARAMS = """\
`${params.NAME}` stands for the value of a param wherever a value or a key stands; the text `${` is written `$${`.

| key | what it says |
| --- | --- |
| `type` | `text` (the default), `integer`, `float`, `boolean` (`true` or `false`) or `list` |
| `default` | the value if none is given; without it, the param is required |
| `help` | a sentence for whoever has to give it |
| `min`, `max` | bounds of a number, or of the length of a list |
| `choices` | the only values that are allowed, or the only items of a list |
| `from_env` | a variable of the environment to take it from |

**Which value holds**: `--set NAME=VALUE`, then `with:` of the file that extends the template, then the environment,
then the nearest `default`. All required params of a template that lack a value are reported together (PPF305). A policy
may declare a param of its template again: keys that it does not state stay as the template has them.

**Lists.** A param of type `list` stands alone in the place of a whole list; as an item of a list it gives its items:
`[age, "${params.more}"]`. Within a text it is an error (PPF318). `with: {channel: [age, sex]}` gives a list,
`with: {channel: age}` a list of one; on the command line `--set channel=age,sex`, or `--set 'channel=["a,b", c]'`.

**A value from the environment** is not shown: not in a description, a domain or a list, by no verb, and in none of the
documents of a run, its report and its dictionary included. What something is called (a column, a step, a plugin, a
file) is shown, and so are numbers and switches: they say what a release is held to. The run's own
`policy.resolved.yaml` has all values, since `verify --data` compiles it again; it stays in the house. Secrets do not
belong in a policy: a step that needs a key reads it itself (`key_env`, `key_file`).

Values are put in before anything is checked. A fault in one is drawn where it is used, with the line that it comes
from and the line that declares it."""

_FLOORS = """\
A floor is a place of the policy (`*` for any name; a name with a dot in double quotes) and a demand. It binds every
policy that extends the file, however many templates lie between, and cannot be deleted. It is held against what comes
out at the end, after params, `--set`, `--over` and the defaults of the language; a violation (PPF308) shows both lines.
Floors of several templates add up.

| demand | meaning |
| --- | --- |
| `">= 5"`, `"<= 0.8"`, `">"`, `"<"`, `"=="` | the figure is within the bound |
| `">= {count: 20}"`, `">= {ratio: 0.02}"` | the support is, in this unit; one in the other unit is refused |
| `is error` | the value is this one |
| `one of [internal, partner]` | the value is one of these |
| `contains [HIV, hepatitis]` | the list, or the map, has all of these |
| `only [study, codebook]` | the list, or the map, has nothing else |
| `present`, `absent` | something is stated there, or left to its default |
| `not weaker than sensitive` | the word is not weaker than this one |
| `not weaker` | nothing there is weaker than in the template itself |
| `keeps all` | the list, or the map, has all that the template's has |

Several demands are joined by `and`: `">= 5 and <= 50"`.

**Not weaker.** On a figure of a requirement the weaker side is known: k may rise, a confidence may fall. On a
requirement, or on all of `privacy`, each figure, list and word in it is held up, and none of them can be taken away.
A release's audience gets weaker from `internal` to `partner` to `public`.

- Requirements on groups: `nulls` stays, since it says what a group is. Attributes that form the groups may be added
  where it is `own_category`; elsewhere more of them do not ask for more. Where a requirement names none, or the
  template has a `ledger`, its quasi-identifiers stay such, or become identifiers. The `ledger` stays as well.
- Sensitivities with a default: no value gets bounds of its own, which would take it out of the default.
- The support of `blend` has no weaker side, and stays.
- `gates`: the audits that they name stay as they are, and so do `nulls` and those quasi-identifiers.

For roles, `attributes.*.role: not weaker` holds up what any template below says, and the role of a column that a
template declares by a pattern: `identifier` is above `quasi_identifier`, `sensitive` and `items`, of which none is
above another, and these are above `target` and `insensitive`. An identifier that a step replaces (all but `drop`) does
not count as one. A param is the template's own offer: bound it by `min` and `max`, or by a floor with a figure.

**What is not there.** A floor with one name wants it to be there if the demand is a bound or `present`, or the place is
under `privacy`. A floor with `*` is about whatever there is. A template may leave to policies what its floor wants, but
what it says itself has to keep it (PPF314).

`waivers.privacy: allowed` lets policies waive requirements (`ppdm-flow explain waivers`); `forbidden` takes that back
for good. A template that states requirements and is silent about waivers forbids them."""

INHERITANCE_CONCEPTS: Mapping[str, Concept] = {
    "extends": Concept(
        _SECTIONS,
        "the templates that a policy inherits from: files, built-in ones, and those of installed packages",
        _EXTENDS,
        "extends:\n  - ./templates/organization.yaml\n  - {template: builtin:microdata-k, with: {k: 10}}\n"
        '  - "pkg:acme-policies/hospital@>=1.2,<2"\nprivacy:\n  k_anonymity: {k: 12}     # lies over all of them',
        why="What an organization requires is written once, reviewed once, and the same in every policy.",
        bad="# medical.yaml says k: 10, research.yaml says k: 20, and the policy does not say which\n"
        "extends: [./medical.yaml, ./research.yaml]",
        fix="State in the policy what two templates say differently. Give required params under `with:`.",
    ),
    "params": Concept(
        _SECTIONS,
        "typed values that a template asks for, and that a policy or the command line gives",
        _PARAMS,
        "params:\n  k: {type: integer, default: 5, min: 3, help: smallest group that may be released}\n"
        "  known: {type: list, default: [age, sex], help: what others may know of a person}\n"
        "privacy:\n  k_anonymity: {k: '${params.k}'}\n  templates:\n"
        "    open: {channel: '${params.known}', sensitive: {disease: [HIV]}, confidence: 0.5}",
        why="A template with no params fits one policy; one whose values are typed and bounded fits many.",
        bad="params: {k: {type: integer, min: 3, default: 2}}    # below its own bound\n"
        "description: for ${params.kk}                        # no such param",
        fix="Follow the message: it shows where the value comes from, where it is used and what it may be.",
    ),
    "floors": Concept(
        _SECTIONS,
        "what a template demands of every policy that extends it, and that none of them can take away",
        _FLOORS,
        "floors:\n"
        '  privacy.k_anonymity.k: ">= 5"\n'
        "  privacy.templates.*: present\n"
        "  privacy.templates.no-hiv.sensitive.disease: keeps all\n"
        "  attributes.*.role: not weaker\n"
        "  undeclared: is error\n"
        "  randomness.mode: is sealed\n"
        "  steps.*.use: one of [generalize, full_domain_recoding, drop]\n"
        "  releases.*.audience: one of [internal, partner]\n"
        '  privacy.blend.min_support: ">= {count: 20}"',
        why="They are how an organization makes sure that no policy of its own is weaker than agreed.",
        bad='floors: {privacy.k_anonymity.k: ">= 5"}\nprivacy: {k_anonymity: {k: 3}}    # below its own floor',
        fix="Keep to the floor, or talk to the owner of the template whose line the message shows.",
    ),
}
