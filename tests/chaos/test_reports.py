"""Reports on verdicts, each read again by something that knows its form."""

import gzip
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chaos.cli import main
from chaos.expectation import Written
from chaos.format.loader import load
from chaos.journal import Journal, Record
from chaos.journal_file import read_journal
from chaos.judging.told import told_by
from chaos.reports import FORMS, Reported, report
from chaos.reports import reported as from_journal
from chaos.reports.text import lines
from chaos.virtual.drill import drill_of

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


def test_a_journal_alone_gives_the_same_reports(reported, tmp_path):
    """Whoever has the file, and not the scenario, is told the same in every form."""
    path = tmp_path / "journal.jsonl"
    path.write_text("".join(f"{one.line()}\n" for one in reported.records), encoding="utf-8")
    again = from_journal(told_by(read_journal(path)))
    assert replace(again, real_s=1.5).result == replace(
        reported.result,
        judged=tuple(_as_told(one) for one in reported.result.judged),
    )
    for form in FORMS:
        text = report(form).write([replace(again, real_s=1.5)])
        wanted = report(form).write([reported]).replace(str(tmp_path), "")
        assert text == wanted.replace(
            reported.result.judged[0].expectation.place.file, "drill.yaml"
        )


def _as_told(one):
    """A journal has no folders, and of an expectation only what was written."""
    written = one.expectation
    place = replace(written.place, file="drill.yaml")
    return replace(one, expectation=Written(written.position, place, written.text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the journal is empty: nothing was noted."),
        ('{"t":0,"event":"sample"}\n', "this is no journal of a run"),
        (
            '{"t":0,"event":"start","scenario":"a"}\n',
            ":1:1: is no line of a journal of this version",
        ),
        ("not json\n", ":1:1: is no line of a journal."),
        ("not json", ":1:1: is no line of a journal."),
        ('{"t":0,"event":"st', "ends within its first line"),
        (b"\xff\n", ":1:1: is no line of a journal."),
        (bytes(range(256)) * 40, ":1:1: is no line of a journal."),
        (gzip.compress(b"{}", mtime=0), "is compressed: unpack it first (gunzip)."),
        ('{"level":"info","msg":"up"}\n' * 3, ":1:1: is no line of a journal of this version: t: "),
        ('{"t":1e999,"event":"start"}\n', ":1:1: is no line of a journal of this version: t: "),
        ("[" * 100_000 + "\n", ":1:1: is no line of a journal."),
    ],
)
def test_what_is_no_journal_is_one_sentence(text, said, tmp_path, capsys):
    """Empty, foreign, broken: the file, what is wrong, and exit status 254."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for command in ("report", "merge"):
        assert main([command, str(path)]) == 254
        error = capsys.readouterr().err
        assert str(path) in error
        assert said in error
        assert error.count("\n") == 1


@pytest.fixture(scope="module")
def written(reported):
    """The bytes of that run's journal, with a log line of letters beyond ASCII in it."""
    records = list(reported.records)
    facts = {"node": "n0", "source": "kernel", "text": "Lüfter \u2028 \x1b[2J"}
    records.insert(7, Record(8, records[6].at_us, "log", facts))
    return "".join(f"{one.line()}\n" for one in records).encode()


@pytest.mark.parametrize("missing", [1, 5, 60])
def test_a_journal_that_ends_within_a_line_says_so(written, tmp_path, capsys, missing):
    """Its verdict is unknown, whatever the last line was, and what is whole is told."""
    path = tmp_path / "journal.jsonl"
    lines = written.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:8])[: -missing - 1])
    assert main(["report", str(path), "--html", str(tmp_path / "page.html")]) == 2
    said = capsys.readouterr().out
    assert said.startswith("UNKNOWN drill")
    assert "the journal was cut short: it ends within line 8," in said
    assert "{incident: GpuLost, gpu: n0/3, within: 10s}" in said
    path.write_bytes(written[:-3])
    assert main(["merge", str(path)]) == 2
    assert f"it ends within line {len(lines)}," in capsys.readouterr().out


def test_a_journal_without_its_last_line_is_unknown(written, tmp_path, capsys):
    """The outcomes that were written are told; without a verdict there is none."""
    path = tmp_path / "journal.jsonl"
    lines = written.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert main(["report", str(path)]) == 2
    said = capsys.readouterr().out
    assert f"it ends with line {len(lines) - 1}," in said
    assert "1 of 3 expectations met" in said


def test_a_journal_without_its_last_line_feed_is_whole(written, tmp_path, capsys):
    """An editor may take it; nothing of the run is missing."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(written[:-1])
    assert main(["report", str(path)]) == 1
    assert "cut short" not in capsys.readouterr().out


def test_whatever_is_lost_of_a_journal_no_report_breaks(written, tmp_path, capsys):
    """Each cut, and each fact that is missing or of another type, is a verdict or one sentence."""
    path = tmp_path / "journal.jsonl"
    broken = [written[:end] for end in range(0, len(written), 131)]
    lines = written.splitlines(keepends=True)
    for number, line in enumerate(lines):
        facts = json.loads(line)
        for name in facts:
            without = {key: facts[key] for key in facts if key != name}
            for others in ({**facts, name: [{}]}, without):
                changed = json.dumps(others).encode() + b"\n"
                broken.append(b"".join([*lines[:number], changed, *lines[number + 1 :]]))
    forms = [word for form in FORMS for word in (f"--{form}", str(tmp_path / form))]
    for content in broken:
        path.write_bytes(content)
        status = main(["report", str(path), *forms])
        error = capsys.readouterr().err
        assert status in (1, 2, 254)
        assert error.count("\n") == (status == 254), error


def test_journals_of_shards_are_one_report(reported, tmp_path, capsys):
    """In the order of their names, with the worst of their exit statuses."""
    names = [tmp_path / f"{name}.jsonl" for name in "ba"]
    for path in names:
        path.write_text("".join(f"{one.line()}\n" for one in reported.records), encoding="utf-8")
    assert main(["merge", *map(str, names), "--junit", str(tmp_path / "all.xml")]) == 1
    assert capsys.readouterr().out.count("FAIL ") == 2
    suites = ElementTree.parse(tmp_path / "all.xml").getroot()
    assert len(suites.findall("testsuite")) == 2


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
    drawn = [attrs["class"] for tag, attrs in page.tags if tag in ("rect", "polyline", "path")]
    assert {one: drawn.count(one) for one in drawn} == {
        "fault": 1, "incident warning": 1, "panel": 2, "curve c0": 2, "met": 1, "never": 2,
    }  # fmt: skip
    assert sum(attrs.get("class") == "deadline" for tag, attrs in page.tags if tag == "line") == 3


def test_every_line_that_decided_something_can_be_gone_to(reported):
    """The page holds the journal, and each reference leads into it."""
    page = Page(report("html").write([reported]))
    there = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    wanted = {attrs["href"][1:] for _, attrs in page.tags if "href" in attrs}
    assert wanted
    assert wanted <= there


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
