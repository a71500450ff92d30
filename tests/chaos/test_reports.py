"""Reports on verdicts, each read again by something that knows its form."""

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chaos.drill import drill_of
from chaos.journal import Journal
from chaos.loader import load
from chaos.reports import FORMS, Reported, report
from chaos.reports.text import lines

SCENARIO = """\
scenario: drill
why: A burst of Xids, <b>and</b> "what" | is expected of it.
timeline:
  - {at: 5s, xid: {gpu: n0/3, code: 13, times: 3, every: 1s}}
expect:
  - {incident: GpuXid, gpu: n0/3, within: 10s, times: 1}
  - {incident: GpuLost, gpu: n0/3, within: 10s}
  - {log: "*<no such | line>*", within: 10s}
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A run that fails at two of three expectations."""
    path = tmp_path_factory.mktemp("drill") / "drill.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    scenario = load(path)
    journal = Journal()
    result = drill_of(scenario, journal).run()
    return Reported(result, Path("drill.yaml"), scenario.why, tuple(journal.records), 1.5)


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_junit_tells_what_failed_and_how_to_run_it_again(reported):
    """A suite a scenario, a case an expectation, with its file and line."""
    (suite,) = ElementTree.fromstring(report("junit").write([reported]))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    failed = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert [case.get("line") for case in failed] == ["7", "8"]
    again = {one.get("name"): one.get("value") for one in suite.iter("property")}["again"]
    assert again == "gpuchaos test drill.yaml"


def test_json_has_the_measured_times(reported):
    """A line a scenario."""
    (line,) = report("json").write([reported]).splitlines()
    told = json.loads(line)
    assert told["verdict"] == "fail"
    assert [one["ok"] for one in told["expectations"]] == [True, False, False]
    assert told["expectations"][0]["deadline_s"] == 10
    assert told["expectations"][0]["measured_s"] < 2
    assert {one["kind"] for one in told["incidents"]} == {"GpuXid"}


def test_markdown_is_a_table_that_holds(reported):
    """Every row has as many cells as its head, whatever was written in a scenario."""
    text = report("md").write([reported])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in rows[3:]}
    assert widths == {7}
    assert "**not met**" in text


def test_html_is_one_page_that_needs_nothing_else(reported):
    """No script, no address; what was written in a scenario is text."""
    text = report("html").write([reported])
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "link", "iframe", "b"}
    assert not any({"src", "href"} & set(attrs) and not attrs.get("href", "").startswith("#")
                   for _, attrs in page.tags)  # fmt: skip
    assert "<b>and</b>" in page.text
    drawn = [attrs["class"] for tag, attrs in page.tags if tag == "rect"]
    assert sorted(drawn) == ["fault", "incident"]
    assert sum(attrs.get("class") == "deadline" for tag, attrs in page.tags if tag == "line") == 3


def test_the_terminal_shows_each_expectation_of_what_did_not_pass(reported):
    """With the place in the file of each that was not met."""
    text = "\n".join(lines(reported))
    assert text.startswith("FAIL    drill  1 of 3 expectations met")
    assert text.count("NOT MET") == 2
    assert "drill.yaml:7:5" in text
    assert "again: gpuchaos test drill.yaml" in text


@pytest.mark.parametrize("form", FORMS)
def test_a_report_on_nothing_is_a_report(form):
    """Whoever reads it finds what they expect."""
    assert isinstance(report(form).write([]), str)
