"""The tables of facts: complete, sourced, and open to a site's own rows."""

import csv

import pytest

from gputui.facts import nvlink74
from gputui.facts.compat import Confidence, compat_table, cuda_release, torch_release, version
from gputui.facts.nvlink5 import Layout, decode, nvlink5_table
from gputui.facts.nvlink74 import nvlink74_table
from gputui.facts.sxid import sxid_fact, sxid_table
from gputui.facts.table import HERE, load, site_files
from gputui.facts.vendors import vendors
from gputui.facts.xid import _fact as make_xid
from gputui.facts.xid import xid_fact, xid_table
from gputui.model import Action, Severity


def own_rows(name):
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_xid_from_1_to_176_is_known():
    """The catalogue has no holes."""
    assert {fact.code for fact in xid_table().facts.values()} == set(range(1, 177))


@pytest.mark.parametrize("name", ["xid", "sxid", "nvlink5", "nvlink74", "compat", "vendors"])
def test_every_row_names_its_source(name):
    """A fact without a source is hearsay."""
    rows = own_rows(name)
    assert rows
    assert [row for row in rows if not row["source"].strip()] == []


@pytest.mark.parametrize(
    "table", [xid_table, sxid_table, nvlink5_table, nvlink74_table, compat_table]
)
def test_the_projects_own_rows_are_all_good(table):
    """Reading a table as it is shipped has nothing to complain of."""
    assert table().problems == ()


def test_an_unknown_code_is_not_guessed_at():
    """It keeps its number, has no name, and is nobody's fault."""
    for fact in (xid_fact(999), sxid_fact(99999)):
        assert (fact.known, fact.name, fact.cause, fact.verdicts) == (False, "", "unknown", ())


def test_vendors_that_differ_are_told_side_by_side():
    """Xid 63: NVIDIA ignores it, gpud reboots for it, Kubernetes takes the GPU out."""
    fact = xid_fact(63)
    said = {one.vendor: one.word for one in fact.verdicts}
    assert said["NVIDIA"] == "IGNORE"
    assert said["gpud"] == "Fatal"
    assert said["Kubernetes device plugin"] == "unhealthy"
    assert fact.disputed
    assert not xid_fact(79).disputed


def test_every_word_of_a_vendor_that_judges_has_a_gravity():
    """A word that nobody weighed would count as no opinion."""
    silent = {"not watched", "InfoROM (Volta only)", ""}
    for table in (xid_table(), sxid_table()):
        for fact in table.facts.values():
            for one in fact.verdicts:
                column = next(v.column for v in vendors() if v.name == one.vendor)
                workflows = one.word.startswith(("WORKFLOW_", "XID_")) or one.word in silent
                if column in ("gpud", "nvsentinel", "k8s_device_plugin", "dcgm", "aws_eks"):
                    assert workflows or one.gravity is not None, one


RLW = "RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x00000000)"


def test_an_nvlink5_line_is_read_in_the_layout_of_its_driver():
    """Before branch 575 ten bits name the unit, from it on seven."""
    old = decode(145, RLW, version("570.124.06"))
    assert [one.layout for one in old.readings] == [Layout.BEFORE_R575]
    assert (old.unit, old.link, old.is_fatal, old.error_status) == ("RLW_SRC_TRACK", 3, False, 8)
    assert old.readings[0].fits
    assert old.nvidia_action == "XID_154_EVAL"
    new = decode(145, RLW.replace("0x040868e2", "0x04000007"), version("580.65.06"))
    assert [(one.layout, one.fits) for one in new.readings] == [(Layout.FROM_R575, True)]
    assert new.nvidia_action == "XID_154_EVAL"


def test_an_nvlink5_line_of_an_unknown_driver_is_read_both_ways():
    """Nothing is chosen for the reader, but which one names the line's own unit is said."""
    both = decode(145, RLW)
    assert [(one.layout, one.fits) for one in both.readings] == [
        (Layout.BEFORE_R575, True),
        (Layout.FROM_R575, False),
    ]


def test_several_bits_of_an_error_status_are_several_errors():
    """Each bit that the sheet explains is told."""
    found = decode(144, "SAW_MVB Fatal XC0 i1 Link -1 (0x00000001 0x00000003)", (580,))
    assert [fact.error_status for fact in found.readings[0].facts] == [1, 2]
    assert (found.link, found.injected) == (None, True)


def test_a_link_that_went_down_because_of_its_peer_blames_the_other_end():
    """Sub-code 0x20 of NETIR_LINK_DOWN: the source is at the other end."""
    first = 0x20 << 20 | 0b0010001
    found = decode(149, f"NETIR_LINK_DOWN Fatal XC0 i0 Link 5 ({first:#010x} 0x00000000)", (580,))
    assert found.sub_code == 0x20
    assert found.blames_peer


@pytest.mark.parametrize("detail", ["", "RLW_CTRL", "Link 3 (0x1)", "RLW_CTRL Fatal XC0 i0 Link 1"])
def test_other_texts_are_no_nvlink5_error(detail):
    """A line of another form is left as it is."""
    assert decode(145, detail) is None


def test_every_row_of_the_sheet_is_found_by_its_own_pattern():
    """A register made of a row's bits, in either layout, gives that row."""
    for fact in nvlink5_table().facts.values():
        for layout, _, value in fact.patterns:
            line = f"{fact.units[0]} Fatal XC0 i0 Link 1 ({value:#010x} {fact.error_status:#010x})"
            readings = [one for one in decode(fact.xid, line).readings if one.layout is layout]
            assert fact in readings[0].facts


def test_what_is_only_recalled_is_not_sure():
    """A check may warn because of it, and must not fail."""
    assert cuda_release((12, 4)).confidence is Confidence.RECALLED
    assert not cuda_release((12, 4)).confidence.is_sure
    assert torch_release((2, 8, 0)).confidence.is_sure


def test_versions_compare_as_people_mean():
    """12.10 comes after 12.9."""
    assert version("12.10") > version("12.9.1+x")
    assert version("none") is None
    assert cuda_release((12, 4, 1)).driver_min == (550, 54, 14)
    assert torch_release((2, 5, 0)).item == "2.5.1"


def loaded(tmp_path, text, name="xid.csv"):
    folder = tmp_path / "facts.d"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return load("xid", ["code"], make_xid, folders=[folder])


def test_a_site_overrides_and_adds_rows(tmp_path):
    """Cells that the site leaves empty stay as they were; the source says who changed it."""
    table = loaded(
        tmp_path,
        "code,meaning,severity,action,source\n#ours\n"
        "63,Row remap: our nodes are drained,critical,drain_and_reset,runbook 12\n"
        "900,Ours,warning,restart_app,\n",
    )
    changed, added = table.facts["63",], table.facts["900",]
    assert (changed.severity, changed.action) == (Severity.CRITICAL, Action.DRAIN_AND_RESET)
    assert changed.name == xid_fact(63).name
    assert changed.source.endswith("; runbook 12")
    assert added.source.endswith("xid.csv:4")
    assert table.problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("code,action\n13,restart_ap\n", 'xid.csv:2: action is "restart_ap", expected one of'),
        ("code,action\n13,restart_ap\n", 'did you mean "restart_app"?'),
        ("code,meaning\nx,y\n", 'xid.csv:2: code is "x", expected a whole number'),
        ("code,meaning\n,y\n", "xid.csv:2: code is empty"),
        ("meaning\ny\n", "xid.csv:1: no column code"),
        ("code,meanin\n13,y\n", 'xid.csv:1: unknown column "meanin"; did you mean meaning?'),
        ("code,meaning\n13,a,b\n", "xid.csv:2: more cells than the 2 columns"),
    ],
)
def test_a_bad_row_of_a_site_is_told_and_passed_over(tmp_path, text, problem):
    """What the project knows stays as it is."""
    table = loaded(tmp_path, text)
    assert any(problem in one for one in table.problems), table.problems
    assert table.facts["13",].action is Action.RESTART_APP
    assert set(table.facts) == set(xid_table().facts)


def test_only_files_named_after_a_table_belong_to_it(tmp_path):
    """``xid-site.csv`` does, ``sxid.csv`` and an editor's copy do not."""
    for name in ("xid-site.csv", "sxid.csv", "xid.csv~", "xid.csv", ".xid.csv.swp"):
        (tmp_path / name).write_text("code\n")
    assert [path.name for path in site_files("xid", [tmp_path])] == ["xid-site.csv", "xid.csv"]


def test_a_file_that_is_no_text_is_told(tmp_path):
    """Rubbish costs nothing but itself."""
    folder = tmp_path / "facts.d"
    folder.mkdir()
    (folder / "xid.csv").write_bytes(b"\xff\xfe\x00code")
    table = load("xid", ["code"], make_xid, folders=[folder])
    assert "cannot be read" in table.problems[0]
    assert len(table.facts) == 176


NVLINK = "NVLink: fatal error detected on link 14({}, 0x0, {}, 0x0, {}, 0x0, {})"


def test_the_registers_of_xid_74_are_read_bit_by_bit():
    """Each bit with what NVIDIA says of it; what nobody explains stays as it is."""
    error = nvlink74.decode(NVLINK.format("0x200000", "0x10001", "0x100000", "0x10000"))
    assert error is not None
    assert error.link == 14
    found = {(one.register, one.bits): one.fact.sort if one.fact else None for one in error.found}
    assert found == {
        (1, (21,)): "signal",
        (3, (0,)): "ecc",
        (3, (16,)): "repeated",
        (5, (20,)): "threshold",
        (7, (16,)): None,
    }


def test_what_is_harmless_or_secondary_does_not_stand_for_the_error():
    """Bits that mostly follow from another error give way to those that explain it."""
    error = nvlink74.decode(NVLINK.format("0x400012", "0x0", "0x0", "0x0"))
    assert error is not None
    assert [one.fact.sort for one in error.telling if one.fact] == ["ecc", "signal"]
    alone = nvlink74.decode(NVLINK.format("0x800002", "0x0", "0x0", "0x0"))
    assert alone is not None
    assert [one.fact.sort for one in alone.telling if one.fact] == ["secondary"]


@pytest.mark.parametrize("detail", ["", "NVLink: fatal error", "link 3(0x0, 0x0)"])
def test_other_texts_have_no_registers(detail):
    """Older drivers print fewer words, or none."""
    assert nvlink74.decode(detail) is None
