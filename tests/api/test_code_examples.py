"""Examples of codes: each bad one raises its code, put into a whole policy; the good one is a policy without it.

An example is the part of a policy that matters. What it does not say is completed from one of the whole policies below,
about people or sets: as it stands, or merged into theirs.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import typer
import yaml

from ppdm_flow import api
from ppdm_flow.cli.program import program
from ppdm_flow.core import diagnostics as merged_codes
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.pages import CodePage, fenced, language, pages
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.test import CaseFile

PACKAGE = Path(api.__file__).parents[1]
BAD = Path(__file__).parents[1] / "examples" / "bad"
CHECKED = {file.name[:6] for file in BAD.glob("*.yaml")}
"""Codes that `check` raises of a policy."""
TODAY = date(2026, 11, 21)
"""The day on which waivers are judged."""
POLICY = {field.alias or name for name, field in Policy.model_fields.items()}
TEST = set(CaseFile.model_fields)
NO_MAP = {"PPF104", "PPF105", "PPF106", "PPF111", "PPF112", "PPF113", "PPF116", "PPF117"}
"""Codes of a text that is no policy at all."""
NOT_INSTALLED = {
    "PPF316": "a package with templates",
    "PPF317": "a package with templates",
    "PPF405": "a plugin that cannot check its parameters",
    "PPF554": "a second plugin that randomizes: the built-in refuses by PPF783",
    "PPF851": "a plugin that swaps neighbours",
}
"""Examples that need what is not installed."""
OTHER_FILES = {"PPF313": "a chain of 17 files"}
"""Bad examples that need more files than an example has."""

PEOPLE = """
version: 1
name: example
source: {path: patients.csv}
attributes:
  patient: {role: identifier}
  id: {role: identifier}
  second_id: {role: identifier}
  name: {role: identifier}
  address: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  job: {role: quasi_identifier}
  city: {role: quasi_identifier}
  country: {role: quasi_identifier}
  roll: {role: quasi_identifier}
  postal_code: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  town: {role: quasi_identifier}
  height: {role: quasi_identifier, type: float}
  score: {role: quasi_identifier, type: integer}
  income: {role: sensitive}
  stay: {role: sensitive}
  bankruptcy: {role: sensitive}
  disease: {role: sensitive}
  readmitted: {role: insensitive}
privacy: {k_anonymity: {k: 5}}
releases:
  study: {path: study.csv}
"""
GATED = (
    PEOPLE
    + """
audits: {classifier: {use: classification_error, with: {target: readmitted}}}
gates:
  useful: {metric: classifier.error_increase, max: 0.05}
  still-useful: {metric: classifier.error_increase, max: 0.1}
"""
)
SETS = """
version: 1
name: example
source: {path: orders.txt, format: baskets}
attributes:
  basket: {role: items}
privacy: {km_anonymity: {k: 2, m: 1}}
releases:
  study: {path: study.parquet}
"""
OPERATOR = json.dumps(
    {
        "attribute": "basket",
        "form": "transactions",
        "operator": {"family": "cut_and_paste", "alphabet": 2, "sizes": [{"size": 1, "cutoff": 1, "rho": 0.5}]},
        "items": ["bread", "tea"],
    }
)
"""What clients randomized by, where an example names it."""
OF_ONE_TABLE = {"source", "attributes"}
"""What a policy has in place of `tables`."""
WHOLE: tuple[dict[str, Any], ...] = tuple(yaml.load(text, Loader=yaml.BaseLoader) for text in (PEOPLE, SETS, GATED))


@cache
def read(example: str) -> Any:
    """Parse an example; every value is text, as in a policy."""
    return yaml.load(example, Loader=yaml.BaseLoader)


def mapped(example: str) -> bool:
    """Return whether an example is a map of YAML."""
    try:
        return isinstance(read(example), dict)
    except yaml.YAMLError:
        return False


def merged(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


def written(tree: Mapping[str, Any]) -> str:
    """Return a policy as YAML: a line for each key, with its value as JSON, which takes a tenth of the time."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in tree.items())


def completed(example: str) -> Iterator[str]:
    """Yield whole policies that say what the example says."""
    keys = set(re.findall(r"^([a-z_]+):", example, re.MULTILINE))
    for whole in WHOLE:
        base = {key: value for key, value in whole.items() if "tables" not in keys or key not in OF_ONE_TABLE}
        rest = {key: value for key, value in base.items() if key not in keys}
        yield f"{example}\n{written(rest)}" if keys else example
        if keys and language(example) == "yaml" and mapped(example):
            yield written(merged(base, read(example)))


@cache
def raised(text: str, example: str) -> tuple[Diagnostic, ...]:
    """Return what `check` says of a policy, with the files that the example's comments hold beside it."""
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        for name, held in re.findall(r"^# ([\w./]+\.yaml): (.*)$", example, re.MULTILINE):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(held, encoding="utf-8")
        (folder / "operator.json").write_text(OPERATOR, encoding="utf-8")
        file = folder / "policy.yaml"
        file.write_text(text, encoding="utf-8")
        loaded = load(file)
        return (*loaded.diagnostics, *compile_policy(loaded, clock=lambda: TODAY).diagnostics)


def codes(text: str, example: str) -> set[str]:
    return {each.code for each in raised(text, example)}


def errors(text: str, example: str) -> list[Diagnostic]:
    return [each for each in raised(text, example) if each.severity is Severity.ERROR]


def shown(page: CodePage) -> bool:
    """Return whether `check` can be asked about the page's bad example: it is about a policy, and in YAML."""
    return language(page.bad) == "yaml" and not of_tests(page.bad)


def of_tests(example: str) -> bool:
    """Return whether an example is of a file with policy tests."""
    return mapped(example) and "tests" in read(example)


def first_words(text: str) -> bool:
    return bool(text.strip()) and not text.startswith((" ", "\n"))


def gaps(page: CodePage) -> Iterator[str]:
    parts = ("title", "what", "why", "fix", "bad", "good")
    yield from (f"its `{part}` is empty or indented" for part in parts if not first_words(getattr(page, part)))
    if page.bad == page.good:
        yield "both examples are the same"
    drawn = api.explain(page.code)
    headings = ("# ", "## What it means\n", "## Why it matters\n", "## What to do\n", "## Example\n", "## Better\n")
    wanted = (*headings, fenced(page.bad), fenced(page.good))
    yield from (f"`explain` does not show {text!r}" for text in wanted if text not in drawn)


def test_every_page_is_whole() -> None:
    """What happened, why it matters, what to do, an example of each side, and the heading of each on the page."""
    faults = [f"{page.code}: {gap}" for page in pages().values() for gap in gaps(page)]
    assert not faults, "\n".join(faults)


def test_examples_are_parts_of_a_file_from_its_top() -> None:
    faults = []
    for page in pages().values():
        for example in (page.bad, page.good):
            if language(example) != "yaml" or (example == page.bad and page.code in NO_MAP):
                continue
            if not mapped(example):
                faults.append(f"{page.code}: no map:\n{example}")
            elif not (set(read(example)) <= POLICY or set(read(example)) <= TEST):
                faults.append(f"{page.code}: neither keys of a policy nor of tests:\n{example}")
    assert not faults, "\n".join(faults)


def commands(example: str) -> Iterator[tuple[str, list[str]]]:
    """Yield verb and options of every call of the program in what was typed."""
    for line in example.splitlines():
        if not line.startswith("$ "):
            continue
        words = shlex.split(line[2:], comments=True)
        for i, word in enumerate(words):
            if word == "ppdm-flow":
                rest = list(takewhile(lambda w: w not in {"&&", "|", ">", ">>", "2>"}, words[i + 1 :]))
                yield rest[0], [w.partition("=")[0] for w in rest[1:] if re.match(r"-{1,2}[a-zA-Z]", w)]


def test_what_is_typed_names_verbs_and_options_that_there_are() -> None:
    whole = typer.main.get_command(program([]))
    assert isinstance(whole, typer.core.TyperGroup)
    verbs = {
        name: {option for p in verb.params for option in (*p.opts, *p.secondary_opts)}
        for name, verb in whole.commands.items()
    }
    typed = [each for page in pages().values() for example in (page.bad, page.good) for each in commands(example)]
    assert len(typed) > 100
    assert [each for each in typed if not set(each[1]) <= verbs.get(each[0], set())] == []


def test_the_bad_example_raises_the_code_and_the_good_one_does_not() -> None:
    faults = []
    for page in pages().values():
        if page.code not in CHECKED or not shown(page):
            continue
        good = list(completed(page.good)) if language(page.good) == "yaml" else [PEOPLE]
        if not any(
            page.code in codes(text, page.bad) and page.code not in codes(good[i % len(good)], page.good)
            for i, text in enumerate(completed(page.bad))
        ):
            faults.append(
                f"{page.code}: completed in each way, the bad example raises "
                f"{[sorted(codes(text, page.bad)) for text in completed(page.bad)]}, "
                f"the good one {[sorted(codes(text, page.good)) for text in good]}"
            )
    assert not faults, "\n".join(faults)


def refused(code: str, example: str) -> Iterator[str]:
    """Yield what is wrong with an example, unless one policy that it is completed to has no error."""
    found = []
    for text in completed(example):
        found.append(errors(text, example))
        if not found[-1]:
            return
    yield f"{code}: {'; '.join(f'{each.code} {each.message}' for each in min(found, key=len))}"


def test_the_good_example_is_accepted() -> None:
    faults = [
        fault
        for page in pages().values()
        if language(page.good) == "yaml" and not of_tests(page.good) and page.code not in NOT_INSTALLED
        for fault in refused(page.code, page.good)
    ]
    assert not faults, "\n".join(faults)


def test_where_the_data_are_at_fault_the_policy_is_not() -> None:
    faults = [
        fault
        for page in pages().values()
        if shown(page) and page.code not in {*CHECKED, *NOT_INSTALLED, *OTHER_FILES}
        for fault in refused(page.code, page.bad)
    ]
    assert not faults, "\n".join(faults)


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    used = {
        code
        for file in PACKAGE.rglob("*.py")
        if file != Path(merged_codes.__file__)
        for code in re.findall(r'"(PPF\d{3})"', file.read_text(encoding="utf-8"))
    }
    assert used == set(pages())


def test_every_code_that_a_plugin_raises_of_a_policy_has_a_bad_example() -> None:
    told = re.compile(r'Problem\(\s*"(PPF\d{3})"')
    problems = {code for file in PACKAGE.rglob("*.py") for code in told.findall(file.read_text(encoding="utf-8"))}
    assert problems <= CHECKED
