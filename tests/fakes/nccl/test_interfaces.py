"""Which interface NCCL takes: its rules as a model of their own, and examples of its manual."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.nccl.interfaces import chosen, matching
from fakes.network.interface import Interface, Medium

NAMES = ("lo", "eth0", "eth1", "eth10", "ens3", "ib0", "ib1", "docker0", "virbr0")


def interface(index: int, name: str, address: str = "10.0.0.1/16") -> Interface:
    return Interface(name, index, Medium.ETHERNET, address, "00:00:00:00:00:01")


MANY = tuple(interface(at, name) for at, name in enumerate(NAMES, 1))

sets = st.lists(st.sampled_from(NAMES), unique=True).map(
    lambda names: tuple(one for one in MANY if one.name in names)
)
lists = st.lists(st.sampled_from((*NAMES, "e", "eth", "ib", "x")), min_size=1, max_size=4)


def names_of(found: tuple[Interface, ...]) -> list[str]:
    return [one.name for one in found]


@given(sets, lists)
def test_a_list_of_names_is_one_of_prefixes(there, names):
    """An interface is taken if its name begins with one of them."""
    expected = [one.name for one in there if any(one.name.startswith(name) for name in names)]
    assert names_of(matching(there, ",".join(names))) == expected


@given(sets, lists)
def test_an_equals_sign_asks_for_the_whole_name(there, names):
    """With it, eth1 is not eth10."""
    expected = [one.name for one in there if one.name in names]
    assert names_of(matching(there, "=" + ",".join(names))) == expected


@given(sets, lists, st.sampled_from(("", "=")))
def test_a_caret_takes_all_the_others(there, names, mark):
    """What is excluded and what is not are all there are, in the kernel's order."""
    text = mark + ",".join(names)
    listed, others = matching(there, text), matching(there, f"^{text}")
    assert not set(listed) & set(others)
    assert sorted((*listed, *others), key=lambda one: one.index) == list(there)


@given(sets, st.one_of(st.none(), st.text(max_size=1)))
def test_without_a_value_the_fabric_comes_first_and_loopback_last(there, value):
    """InfiniBand, then what is neither Docker's nor loopback, then Docker's, then loopback."""
    found = names_of(chosen(there, value))
    ranks = [
        0 if name.startswith("ib") else 2 if name == "docker0" else 3 if name == "lo" else 1
        for name in names_of(there)
    ]
    best = min(ranks, default=None)
    expected = [one.name for one, rank in zip(there, ranks, strict=True) if rank == best]
    assert found == expected


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("eth", ["eth0", "eth1", "eth10"]),
        ("=eth1", ["eth1"]),
        ("^docker,lo", ["eth0", "eth1", "eth10", "ens3", "ib0", "ib1", "virbr0"]),
        ("^=eth1,lo,docker0,virbr0", ["eth0", "eth10", "ens3", "ib0", "ib1"]),
        ("eth1:4000,ib0", ["eth1", "eth10", "ib0"]),
        ("eno1", []),
        ("^", []),
        ("=", list(NAMES)),
    ],
)
def test_values_of_the_variable(value, found):
    """Prefixes, whole names, exclusions, ports, and lists that say nothing."""
    assert names_of(matching(MANY, value)) == found


def test_an_interface_without_an_address_is_none():
    """The kernel lists it, and NCCL cannot use it."""
    assert chosen((interface(2, "eth0", ""), interface(3, "eth1")), "eth")[0].name == "eth1"


def test_whether_an_interface_is_up_is_not_looked_at():
    """NCCL takes one that is down, and fails when it connects."""
    down = interface(2, "eth0")
    down.is_up = False
    assert chosen((down, interface(3, "eth1")), None)[0].name == "eth0"
