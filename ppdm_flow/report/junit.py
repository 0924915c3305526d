"""JUnit XML: what CI systems show as tests. Cases and suites as values, and the one writer of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from xml.etree import ElementTree as ET

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2
_LINE = re.compile(r"\s+")


class JUnitOutcome(StrEnum):
    """How a case ended; the value is the element that says so. ERROR: it could not be told."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One test case.

    ``message`` is one line, ``text`` the details, ``kind`` a short name of what went wrong (a diagnostic code, say),
    ``seconds`` how long it took, ``file`` and ``line`` where it is written.
    """

    classname: str
    name: str
    outcome: JUnitOutcome = JUnitOutcome.PASSED
    message: str = ""
    text: str = ""
    kind: str = ""
    seconds: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that belong together. ``timestamp`` is an ISO 8601 time, or empty."""

    name: str
    cases: Sequence[JUnitCase]
    properties: Mapping[str, str] = field(default_factory=dict)
    timestamp: str = ""

    def count(self, outcome: JUnitOutcome) -> int:
        """Return how many cases ended like this."""
        return sum(case.outcome is outcome for case in self.cases)

    @property
    def seconds(self) -> float:
        """The sum over the cases."""
        return sum(case.seconds for case in self.cases)


def render(suites: Iterable[Suite], name: str = "ppdm-flow") -> str:
    """Return the suites as an XML document. Characters that XML 1.0 does not have become U+FFFD."""
    every = list(suites)
    root = ET.Element("testsuites", {"name": _safe(name), **_numbers(every)})
    root.extend(_suite(suite) for suite in every)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _numbers(suites: Sequence[Suite]) -> dict[str, str]:
    """Return the tallies that a suite, and the whole, carry."""
    return {
        "tests": str(sum(len(suite.cases) for suite in suites)),
        "failures": str(sum(suite.count(JUnitOutcome.FAILED) for suite in suites)),
        "errors": str(sum(suite.count(JUnitOutcome.ERROR) for suite in suites)),
        "skipped": str(sum(suite.count(JUnitOutcome.SKIPPED) for suite in suites)),
        "time": f"{sum(suite.seconds for suite in suites):.3f}",
    }


def _suite(suite: Suite) -> ET.Element:
    more = {"timestamp": suite.timestamp} if suite.timestamp else {}
    element = ET.Element("testsuite", {"name": _safe(suite.name), **_numbers([suite]), **more})
    _properties(element, suite.properties)
    element.extend(_case(case) for case in suite.cases)
    return element


def _case(case: JUnitCase) -> ET.Element:
    about = {"classname": _safe(case.classname), "name": _safe(case.name), "time": f"{case.seconds:.3f}"}
    if case.file:
        about["file"] = _safe(case.file)
    if case.line is not None:
        about["line"] = str(case.line)
    element = ET.Element("testcase", about)
    _properties(element, case.properties)
    if case.outcome is not JUnitOutcome.PASSED:
        attributes = {"message": _safe(case.message), **({"type": _safe(case.kind)} if case.kind else {})}
        ET.SubElement(element, case.outcome.value, attributes).text = _text(case.text) or None
    elif case.text:
        ET.SubElement(element, "system-out").text = _text(case.text)
    return element


def _properties(element: ET.Element, properties: Mapping[str, str]) -> None:
    if properties:
        inside = ET.SubElement(element, "properties")
        for name, value in properties.items():
            ET.SubElement(inside, "property", {"name": _safe(name), "value": _safe(value)})


def _safe(text: str) -> str:
    """Return text for an attribute, on one line."""
    return _text(_LINE.sub(" ", text).strip())


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
