"""PPF120 to PPF129: what a sweep goes over, and what it looks at."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF120",
        "`--over` in a wrong form",
        "`--over` needs a place in the policy and values, each place once, and no param that `--set` sets too.",
        "A guess would measure another policy than the one that was meant.",
        "Write `--over steps.NAME.PARAM=1,5,20`. Values may be ranges: `2..5` are whole numbers, `0.1..0.9:5` five"
        " numbers evenly apart. Lists and maps go in brackets, texts with commas in quotes.",
        bad="$ ppdm-flow sweep policy.yaml --over params.k",
        good="$ ppdm-flow sweep policy.yaml --over params.k=2,5,10",
    ),
    CodePage(
        "PPF121",
        "a place that the policy does not have",
        "The place of an `--over` is no param, and nothing in the policy after inheritance.",
        "A value put where nothing reads it would make all points the same.",
        "Write `params.NAME`, `privacy.k_anonymity.k`, `steps.NAME.PARAM` or `audits.NAME.PARAM` (`with` may be left"
        " out). `ppdm-flow show policy.yaml` prints the policy as it is resolved.",
        bad="$ ppdm-flow sweep policy.yaml --over steps.pertub.method=best,uniform",
        good="$ ppdm-flow sweep policy.yaml --over steps.perturb.method=best,uniform",
    ),
    CodePage(
        "PPF122",
        "too many points",
        "All combinations of the values are more than 1,000.",
        "Each of them is a run of its own; and the best of very many points is good by chance.",
        "Give fewer values, or vary one place after the other.",
        bad="$ ppdm-flow sweep policy.yaml --over params.a=1..50 --over params.b=1..50",
        good="$ ppdm-flow sweep policy.yaml --over params.a=1..50:5 --over params.b=1..50:5",
    ),
    CodePage(
        "PPF123",
        "a figure of nothing in the policy",
        "No audit, step or requirement of the policy has the name that a metric begins with.",
        "The sweep would run for long, and have no figure to show.",
        "Name figures as `metrics` of a run's `report.json` does, or a requirement by its place in the policy.",
        bad="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics classifer.error_increase",
        good="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics classifier.error_increase",
    ),
    CodePage(
        "PPF124",
        "`--metrics` in a wrong form",
        "A metric is empty, named twice, or has something other than `:min` or `:max` behind it.",
        "The frontier depends on which side of a figure is the better one.",
        "Write `--metrics NAME,NAME:max`.",
        bad="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics classes:high",
        good="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics classes:max",
    ),
    CodePage(
        "PPF125",
        "a figure that no point has",
        "The audit, step or requirement is there, but measured no figure of this name at any point.",
        "A column without a number says nothing.",
        "Take a name from `metrics` of a run's `report.json`.",
        bad="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics sizes.groups",
        good="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics sizes.classes:max",
    ),
    CodePage(
        "PPF126",
        "a figure without a better side",
        "It is not known whether more or less of the figure is better, so no point is preferred for it.",
        "The frontier then compares the other figures only.",
        "Say it: `NAME:min` or `NAME:max`.",
        bad="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics privacy.k_anonymity,sizes.classes",
        good="$ ppdm-flow sweep policy.yaml --over params.k=2,5 --metrics privacy.k_anonymity,sizes.classes:max",
    ),
)
