"""JUnit XML, parsed again: tallies, order of elements, and texts that would break it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite, render

CASES = (
    JUnitCase("p", "holds", properties={"measured": "7"}, text="as it should", file="p.yaml", line=3),
    JUnitCase(
        "p", "fails", JUnitOutcome.FAILED, "too small", "k is 2\nand should be 5", "PPF777", 0.25, {"measured": "2"}
    ),
    JUnitCase("p", "breaks", JUnitOutcome.ERROR, "no such file"),
    JUnitCase("p", "waits", JUnitOutcome.SKIPPED, "not here"),
)


def held_to_the_schema(text):
    """What the usual schema asks: tallies that fit, properties first, at most one outcome, names everywhere."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    cases = root.findall("testsuite/testcase")
    assert int(root.get("tests")) == len(cases)
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.get("name") is not None
        own = suite.findall("testcase")
        assert [c.tag for c in suite] == ["properties"] * (len(suite) - len(own)) + ["testcase"] * len(own)
        assert int(suite.get("tests")) == len(own)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(attribute)) == len(suite.findall(f"testcase/{tag}"))
        assert float(suite.get("time")) >= 0
    for case in cases:
        assert case.get("name") is not None
        assert case.get("classname") is not None
        tags = [child.tag for child in case]
        assert tags == sorted(tags, key=["properties", "skipped", "error", "failure", "system-out"].index)
        assert sum(tag in ("skipped", "error", "failure") for tag in tags) <= 1
        for entry in case.findall("properties/property"):
            assert set(entry.attrib) == {"name", "value"}
    return root


def test_tallies_and_places():
    root = held_to_the_schema(render([Suite("one", CASES, {"version": "1"}), Suite("none", ())]))
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "0.250",
    }
    first = root.find("testsuite/testcase")
    assert (first.get("file"), first.get("line")) == ("p.yaml", "3")
    failure = root.find("testsuite/testcase/failure")
    assert failure.get("type") == "PPF777"
    assert failure.text == "k is 2\nand should be 5"


@given(st.text(), st.text(), st.sampled_from(JUnitOutcome))
def test_any_text_is_well_formed(name, text, outcome):
    case = JUnitCase(name, text, outcome, name, text, name, 0.0, {name: text}, text)
    held_to_the_schema(render([Suite(name, [case], {text: name})], text))


def test_what_xml_lacks_is_replaced():
    root = held_to_the_schema(
        render([Suite("s", [JUnitCase("c", "a\x1b[31m\x00\ud800]]>\n b", JUnitOutcome.FAILED, '<&">', "\x0b]]>")])])
    )
    assert root.find("testsuite/testcase").get("name") == "a\ufffd[31m\ufffd\ufffd]]> b"
    assert root.find("testsuite/testcase/failure").text == "\ufffd]]>"
    assert root.find("testsuite/testcase/failure").get("message") == '<&">'
