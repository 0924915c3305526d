"""PPF3xx: inheritance, params and floors."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF301",
        "a template file that is not there",
        "`extends:` names a file that does not exist or cannot be read.",
        "What the template requires would be missing, so the policy is not used without it.",
        "Correct the path. It is relative to the file in which it stands.",
        bad=(
            "# templates/organization.yaml: floors: {privacy.k_anonymity.k: '>= 2'}\n"
            "extends: ./template/organization.yaml"
        ),
        good=(
            "# templates/organization.yaml: floors: {privacy.k_anonymity.k: '>= 2'}\n"
            "extends: ./templates/organization.yaml"
        ),
    ),
    CodePage(
        "PPF302",
        "a file that extends itself",
        "Following `extends:` from file to file leads back to where one started.",
        "Neither of the files could ever be complete.",
        "Take one of the entries out; move what both need to a third file.",
        bad="# organization.yaml: extends: ./policy.yaml\nextends: ./organization.yaml",
        good="# organization.yaml: floors: {privacy.k_anonymity.k: '>= 2'}\nextends: ./organization.yaml",
    ),
    CodePage(
        "PPF303",
        "an unknown built-in or packaged template",
        "`builtin:` or `pkg:` names a template that is not installed.",
        "What the template requires would be missing.",
        "Use one of the names that the message lists, or install the package.",
        bad="extends: [{template: 'builtin:microdata', with: {k: 5}}]",
        good="extends: [{template: 'builtin:microdata-k', with: {k: 5}}]",
    ),
    CodePage(
        "PPF304",
        "a reference to no param",
        "`${…}` names something that no `params:` declares, here or in a template.",
        "There is no text to put in its place. Environment variables and other keys cannot be referred to.",
        "Declare it under `params:`, and write `${params.name}`.",
        bad="privacy: {k_anonymity: {k: '${params.kk}'}}",
        good="params: {k: {type: integer, default: 5}}\nprivacy: {k_anonymity: {k: '${params.k}'}}",
    ),
    CodePage(
        "PPF305",
        "required params without a value",
        "Params without a default have to be given a value, and are not. All of one file are listed together.",
        "A value that is made up could be weaker than what was meant.",
        "Give them under `with:` where the template is extended, by `--set name=value`, or declare a `default:`.",
        bad=(
            "# organization.yaml: {params: {k: {type: integer}}, privacy: {k_anonymity: {k: '${params.k}'}}}\n"
            "extends: [{template: ./organization.yaml}]"
        ),
        good=(
            "# organization.yaml: {params: {k: {type: integer}}, privacy: {k_anonymity: {k: '${params.k}'}}}\n"
            "extends: [{template: ./organization.yaml, with: {k: 5}}]"
        ),
    ),
    CodePage(
        "PPF306",
        "a param's value that does not fit",
        "The value is not of the declared type, outside of `min` and `max`, or none of the `choices`.",
        "Whoever wrote the template said which values make sense.",
        "Give a value that fits; `ppdm-flow explain TEMPLATE` lists what each param of a template takes.",
        bad="params: {k: {type: integer, min: 5, default: 3}}",
        good="params: {k: {type: integer, min: 5, default: 5}}",
    ),
    CodePage(
        "PPF307",
        "an unfinished reference",
        "`${` has no `}` on its line.",
        "The text would be used as it stands, which is hardly meant.",
        "Write `${params.name}`. The text `${` itself is written `$${`.",
        bad="params: {owner: {type: text, default: privacy-office}}\nowner: ${params.owner",
        good="params: {owner: {type: text, default: privacy-office}}\nowner: ${params.owner}",
    ),
    CodePage(
        "PPF308",
        "below a floor",
        "A template demands something of a place of the policy, and this policy does less or takes it away. Where a"
        " value has a list of bounds, each of them must keep the floor; a bound in a group is no bound under `values`."
        " Params, `--set` and `--over` are in by then, and defaults of the language count as if they were written.",
        "Floors are how an organization makes sure that no policy of its own is weaker than agreed.",
        "Keep to the floor, or talk to the template's owner. The message shows both lines.",
        bad=(
            "# organization.yaml: floors: {privacy.k_anonymity.k: '>= 5'}\n"
            "extends: ./organization.yaml\n"
            "privacy: {k_anonymity: {k: 3}}"
        ),
        good=(
            "# organization.yaml: floors: {privacy.k_anonymity.k: '>= 5'}\n"
            "extends: ./organization.yaml\n"
            "privacy: {k_anonymity: {k: 5}}"
        ),
    ),
    CodePage(
        "PPF309",
        "a floor that cannot be read",
        "A floor is a place of the language and a demand: a comparison with a number, `is WORD`, `one of [A, B]`,"
        " `contains [A, B]`, `only [A, B]`, `keeps all`, `present`, `absent`, `not weaker`, or several of them with"
        " `and` between. The demand has to fit the place, and `not weaker` needs something in the template to compare"
        " with.",
        "A floor that is not understood would hold nothing up.",
        "Write one of these; `*` in the place stands for any name. A support is bounded in its unit:"
        ' `">= {count: 20}"` or `">= {ratio: 0.02}"`. `ppdm-flow explain floors` shows all of them.',
        bad="floors: {privacy.k_anonymity.k: five}",
        good='floors: {privacy.k_anonymity.k: ">= 5"}',
    ),
    CodePage(
        "PPF310",
        "a value for a param that there is not",
        "`with:` or `--set` gives a value to something that the template or policy does not declare.",
        "A misspelt name would leave the default in force without a word.",
        "Use one of the names that the message lists.",
        bad=(
            "# organization.yaml: {params: {k: {type: integer}}, privacy: {k_anonymity: {k: '${params.k}'}}}\n"
            "extends: [{template: ./organization.yaml, with: {kk: 5}}]"
        ),
        good=(
            "# organization.yaml: {params: {k: {type: integer}}, privacy: {k_anonymity: {k: '${params.k}'}}}\n"
            "extends: [{template: ./organization.yaml, with: {k: 5}}]"
        ),
    ),
    CodePage(
        "PPF311",
        "a deletion of nothing",
        "`key: null` deletes an inherited key, and no template has it. A warning.",
        "Most often the key is misspelt, and what should be deleted still holds.",
        "Correct the key, or remove the line.",
        bad=(
            "# organization.yaml: attributes: {job: {role: quasi_identifier}, age: {role: quasi_identifier}}\n"
            "extends: ./organization.yaml\n"
            "attributes: {jobb: null}"
        ),
        good=(
            "# organization.yaml: attributes: {job: {role: quasi_identifier}, age: {role: quasi_identifier}}\n"
            "extends: ./organization.yaml\n"
            "attributes: {job: null}"
        ),
    ),
    CodePage(
        "PPF312",
        "a reference of no known form",
        "A template is a file, `builtin:name` or `pkg:distribution/name`; nothing is fetched from a network.",
        "A policy that changes with what a server answers cannot be reviewed.",
        "Keep the template beside the policy, or install it as a package.",
        bad="extends: https://example.org/organization.yaml",
        good=(
            "# templates/organization.yaml: floors: {privacy.k_anonymity.k: '>= 2'}\n"
            "extends: ./templates/organization.yaml"
        ),
    ),
    CodePage(
        "PPF313",
        "too long a chain of templates",
        "Templates extend each other over more than 16 files, or more than 200 of them are brought in.",
        "Nobody can say any more what such a policy requires.",
        "Bring some of them together.",
        bad="# level1.yaml extends level2.yaml, that one level3.yaml, and so on for 17 files\nextends: ./level1.yaml",
        good=(
            "# organization.yaml: floors: {privacy.k_anonymity.k: '>= 2'}\n"
            "# department.yaml: floors: {privacy.k_anonymity.k: '>= 5'}\n"
            "extends: [./organization.yaml, ./department.yaml]"
        ),
    ),
    CodePage(
        "PPF314",
        "a template that does not keep its own floors",
        "A template states a floor, and a value in the same file is below it.",
        "No policy could extend it as it is, and each that repairs the value would have to guess what was meant.",
        "Correct the value or the floor. What only policies are to state may be missing from the template.",
        bad=(
            "# organization.yaml: {floors: {privacy.k_anonymity.k: '>= 5'}, privacy: {k_anonymity: {k: 3}}}\n"
            "extends: ./organization.yaml"
        ),
        good=(
            "# organization.yaml: {floors: {privacy.k_anonymity.k: '>= 5'}, privacy: {k_anonymity: {k: 5}}}\n"
            "extends: ./organization.yaml"
        ),
    ),
    CodePage(
        "PPF315",
        "templates that contradict each other",
        "Two templates, of which neither extends the file of the other's value, give a place or a param different"
        " values, and the file that extends both says nothing about it. The later one is used. Or one takes away what"
        " the other brings in, and it stays. A warning; an error where a floor is about the place. It is no conflict"
        " that one template changes what both inherit: the nearer value is used, in whatever order they stand.",
        "What a policy requires should not hang on the order of a list.",
        "Say in the policy which value is meant.",
        bad=(
            "# medical.yaml: privacy: {k_anonymity: {k: 10}}\n"
            "# research.yaml: privacy: {k_anonymity: {k: 20}}\n"
            "extends: [medical.yaml, research.yaml]"
        ),
        good=(
            "# medical.yaml: privacy: {k_anonymity: {k: 10}}\n"
            "# research.yaml: privacy: {k_anonymity: {k: 20}}\n"
            "extends: [medical.yaml, research.yaml]\n"
            "privacy: {k_anonymity: {k: 20}}"
        ),
    ),
    CodePage(
        "PPF316",
        "an unreadable range of versions",
        "What stands behind the `@` of a packaged template is no range as PEP 440 has them.",
        "A range that is not understood would let any version in.",
        "Write `@>=1.2,<2`, `@~=1.4`, `@==1.4.2`, or `@1.4` for any version 1.4.",
        bad="extends: 'pkg:acme-policies/hospital@^1.2'",
        good="extends: 'pkg:acme-policies/hospital@>=1.2,<2'",
    ),
    CodePage(
        "PPF317",
        "a packaged template in another version",
        "The package is installed in a version outside of the range that is asked for. Where several files ask for"
        " the same package, its one version has to be in every range.",
        "Another version may require something else; somebody should look at it first.",
        "Install a version in the range, or widen the range after a look at what changed.",
        bad="extends: 'pkg:acme-policies/hospital@>=2'   # installed: 1.4.2",
        good="extends: 'pkg:acme-policies/hospital@~=1.4'",
    ),
    CodePage(
        "PPF318",
        "a list in the place of a text",
        "A param of type `list` is used within a text, in a key, or where only one value can stand.",
        "The items of a list have no text of their own in common.",
        "Let it stand alone: `channel: ${params.channel}`. As an item of a list, it gives its items:"
        " `[age, '${params.more}']`.",
        bad="params: {sexes: {type: list, default: [f, m]}}\ndescription: about ${params.sexes}",
        good=(
            "params: {channel: {type: list, default: [age, city]}}\n"
            "privacy: {templates: {t: {channel: '${params.channel}', sensitive: {disease: [HIV]},"
            " confidence: 0.5}}}"
        ),
    ),
)
