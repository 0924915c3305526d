"""PPF771, PPF780 to PPF799, and those of ``full_domain`` and ``perturbing``: the built-in anonymizers."""

from __future__ import annotations

from ppdm_flow.core.codes.full_domain import PAGES as FULL_DOMAIN
from ppdm_flow.core.codes.perturbing import PAGES as PERTURBING
from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF771",
        "a template that the search leaves out",
        "Other templates bound every group that it is about: their channel has all of its attributes, their threshold"
        " and support are at least as strict (Wang, Fung, Yu, ICDM 2005, Lemma 3.1).",
        "Looking at it would cost time and change nothing. The audit measures it all the same.",
        "Nothing to fix. `check` names the templates that imply it.",
        bad=(
            "privacy:\n"
            "  templates:    # whatever holds for groups of job and city holds for those of job alone\n"
            "    a: {channel: [job, city], sensitive: {disease: [HIV]}, confidence: 0.2}\n"
            "    b: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.3}"
        ),
        good="privacy:\n  templates:\n    a: {channel: [job, city], sensitive: {disease: [HIV]}, confidence: 0.2}",
    ),
    CodePage(
        "PPF780",
        "a step has nothing to work on",
        "The step takes its task from another part of the policy, and that part says nothing for it: a perturbation"
        " without `privacy.sensitivities`, a disclosure without a template and without"
        " k-anonymity, a generalization without a hierarchy, an information gain without a target.",
        "A step that silently did nothing would look like protection.",
        "State the requirement (or the hierarchy), or take the step out.",
        bad=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}"
        ),
        good=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 5}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}"
        ),
    ),
    CodePage(
        "PPF781",
        "a parameter names an attribute that does not reach the step",
        "The name is misspelt, or an earlier step dropped or renamed the attribute.",
        "The step would protect something else than what is meant.",
        "Use the name that the attribute has where the step reads it.",
        "steps:\n  shorten: {use: drop, with: {attributes: [adress]}}",
        "steps:\n  shorten: {use: drop, with: {attributes: [address]}}",
    ),
    CodePage(
        "PPF782",
        "parameters contradict each other",
        "Two parameters say the same thing in two ways, none of them is given, or their order is impossible.",
        "Whichever were taken, half of the readers would expect the other.",
        "Give exactly one of the parameters that the message names.",
        "steps:\n  few: {use: sample, with: {fraction: 0.1, size: 100}}",
        "steps:\n  few: {use: sample, with: {fraction: 0.1}}",
    ),
    CodePage(
        "PPF783",
        "an attribute no longer has the values that the requirement names",
        "An earlier step recoded it, so that a bound, a domain or a template names values that it does not have any"
        " more; or it holds suppressed cells where it is to be perturbed.",
        "An operator keeps its bound for the values that it was made for, and a disclosure counts the sensitive values"
        " that it finds: of other values, and of cells without one, they know nothing.",
        "Perturb or suppress before anything recodes the attribute that the requirement is about.",
        bad=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  coarse: {use: generalize, with: {attributes: {disease: {prefix: 1}}}}\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}"
        ),
        good=(
            "attributes: {disease: {role: sensitive, domain: [flu, cold, HIV]}}\n"
            "privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}\n"
            "steps:\n"
            "  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}"
        ),
    ),
    CodePage(
        "PPF784",
        "a template cannot be satisfied",
        "Even with every value of the suppressible attributes suppressed, the confidence is above the bound"
        " (Wang, Fung, Yu, ICDM 2005, Lemma 3.3), or the smallest group has fewer rows than `min_support` or k. Each"
        " requirement that is named fails by itself: on the most suppressed table all of them are at their best at"
        " once, so all the others can be met together, and the lowest confidences that are given can be, too.",
        "Suppression in the channel only merges groups; it cannot make the sensitive value rarer overall.",
        "Raise the template's confidence, let the step suppress more attributes of the channel, or treat the"
        " sensitive attribute itself.",
        bad=(
            "privacy:        # and a third of all rows have flu\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [flu]}, confidence: 0.1}}\n"
            "steps: {suppress: {use: progressive_disclosure}}"
        ),
        good=(
            "privacy:\n"
            "  templates: {t: {channel: [job], sensitive: {disease: [flu]}, confidence: 0.4}}\n"
            "steps: {suppress: {use: progressive_disclosure}}"
        ),
    ),
    CodePage(
        "PPF786",
        "a value is not of the kind that the generalization needs",
        "Intervals, rounding and coding need numbers; `date` needs dates in ISO 8601 or in the given `format`.",
        "A value that cannot be placed would have to be passed on unchanged.",
        "List other spellings of a missing value under `source.missing`, or choose another method.",
        "steps:\n  coarse: {use: generalize, with: {attributes: {job: {round: 10}}}}",
        "steps:\n  coarse: {use: generalize, with: {attributes: {income: {round: 1000}}}}",
    ),
    CodePage(
        "PPF787",
        "a value lies outside of all intervals",
        "Intervals are half-open: the last edge itself belongs to none.",
        "A value without an interval would have to be passed on unchanged.",
        "Widen the edges, or allow values beyond them with `open_ends: below | above | both`.",
        "steps:\n  coarse: {use: generalize, with: {attributes: {age: {intervals: [0, 50]}}}}",
        "steps:\n  coarse: {use: generalize, with: {attributes: {age: {intervals: [0, 50], open_ends: above}}}}",
    ),
    CodePage(
        "PPF788",
        "a hierarchy cannot be used",
        "The file is missing or cannot be read, a line has another number of levels than the others, a value stands"
        " in it twice with different ancestors, the asked level is above the last one, or a label is spelled like a"
        " value that it does not cover.",
        "A hierarchy that is not a tree by levels gives groups that do not contain what they seem to.",
        "One line a value, leaf first, the same number of fields in each, separated by `delimiter`.",
        bad=(
            "attributes:    # there is no such file\n"
            "  city: {role: quasi_identifier, hierarchy: {csv: hierarchies/citty.csv}}"
        ),
        good="attributes:\n  city: {role: quasi_identifier, hierarchy: {csv: hierarchies/city.csv}}",
    ),
    CodePage(
        "PPF789",
        "the hierarchy lacks a value",
        "The data holds a value that stands in no line of the hierarchy.",
        "A value without an ancestor would have to be passed on unchanged.",
        "Add the value to the hierarchy, or list it under `source.missing` if it means that there is none.",
        bad="$ cat hierarchies/city.csv    # and the data has Nantes\nParis;north;France\nLyon;south;France",
        good="$ cat hierarchies/city.csv\nParis;north;France\nLyon;south;France\nNantes;west;France",
    ),
    CodePage(
        "PPF790",
        "the key for pseudonyms is missing or too short",
        "The environment variable is not set, the file cannot be read, or the key has less than 16 bytes.",
        "Whoever can guess the key can try all values and undo every pseudonym.",
        "Make a key once, keep it apart from the policy, and point `key_env` or `key_file` to it.",
        bad="$ PPDM_KEY=secret ppdm-flow run policy.yaml",
        good='$ PPDM_KEY="$(openssl rand -hex 32)" ppdm-flow run policy.yaml',
    ),
    CodePage(
        "PPF791",
        "two values would have one pseudonym",
        "`length` is so short that pseudonyms of different values coincide.",
        "The rows of two persons would be taken for one person's.",
        "Raise `length`.",
        "steps:\n  hide: {use: pseudonymize, with: {attributes: [id], key_env: PPDM_KEY, length: 8}}",
        "steps:\n  hide: {use: pseudonymize, with: {attributes: [id], key_env: PPDM_KEY, length: 24}}",
    ),
    CodePage(
        "PPF792",
        "the sample is larger than the table",
        "`size` asks for more rows than the step receives.",
        "Fewer rows than promised would be a silent surprise.",
        "Lower `size`, or use `fraction`.",
        bad="steps:\n  few: {use: sample, with: {size: 5000}}    # of 3,000 rows",
        good="steps:\n  few: {use: sample, with: {fraction: 0.5}}",
    ),
    CodePage(
        "PPF796",
        "there is no such template",
        "The step names a template that `privacy.templates` does not have.",
        "The template that was meant would not be enforced.",
        "Use a name from `privacy.templates`.",
        bad=(
            "privacy:\n"
            "  templates: {no-hiv: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.4}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {templates: [hiv]}}"
        ),
        good=(
            "privacy:\n"
            "  templates: {no-hiv: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.4}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {templates: [no-hiv]}}"
        ),
    ),
    CodePage(
        "PPF797",
        "two attributes would have one name",
        "After renaming, a name would stand for two attributes.",
        "One of them would vanish silently.",
        "Choose another name for one of them, or drop the other attribute in a step before.",
        bad="steps:\n  names: {use: rename, with: {attributes: {town: place, city: place}}}",
        good="steps:\n  names: {use: rename, with: {attributes: {town: place, city: other_place}}}",
    ),
    CodePage(
        "PPF798",
        "suppressing this attribute serves no template",
        "It belongs to no channel of the templates that the step enforces, and not to what k-anonymity groups by.",
        "Suppressing it would cost data without any gain.",
        "Take it off the list, or add it to the channel.",
        bad=(
            "privacy:\n"
            "  templates: {hiv: {channel: [age], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {attributes: [age, city], k_anonymity: false}}"
        ),
        good=(
            "privacy:\n"
            "  templates: {hiv: {channel: [age], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {attributes: [age], k_anonymity: false}}"
        ),
    ),
    CodePage(
        "PPF799",
        "missing values stand where the step cannot treat them",
        "Under `nulls: wildcard` or `exclude`, a missing value in a channel attribute counts towards several groups or"
        " none; the step suppresses it, but may not suppress this attribute.",
        "The confidence that the step computes and the one that the audit measures would differ.",
        "Let the step suppress the attribute, use `nulls: own_category`, or `incomplete_rows: drop`.",
        bad=(
            "nulls: wildcard\n"
            "privacy:\n"
            "  templates: {hiv: {channel: [age, job], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {attributes: [job]}}"
        ),
        good=(
            "nulls: wildcard\n"
            "privacy:\n"
            "  templates: {hiv: {channel: [age, job], sensitive: {disease: [HIV]}, confidence: 0.2}}\n"
            "steps:\n"
            "  suppress: {use: progressive_disclosure, with: {attributes: [age, job]}}"
        ),
    ),
    *FULL_DOMAIN,
    *PERTURBING,
)
