"""What is taken out of evidence, and what stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.bundle.redaction import Redaction

SECRETS = [
    "HF_TOKEN=hf_abcdefghijklmnop",
    "--api-key sk-abcdef0123456789",
    "password: hunter2222",
    'Authorization: "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"',
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI",
    "Authorization: Bearer abcdef0123456789",
    "--passphrase=opensesame",
    "private_key: 0123456789abc",
    "nvapi-abcdefghijklmnop",
    "glpat-abcdefghijklmnop",
    "ASIAABCDEFGHIJKLMNOP",
]


@pytest.fixture
def redaction():
    return Redaction(hosts=["gpu17.prod.example.com"], users=["mallory", "root"])


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_taken_out(redaction, text):
    """Whatever stands after the name of one, and what looks like one by itself."""
    value = text.replace('"', "").split()[-1].rpartition("=")[2]
    assert value not in redaction.text(text)
    assert redaction.counts["secret"] >= 1


def test_a_password_in_an_address_is_taken_out(redaction):
    """Whom it is of stays."""
    assert redaction.text("postgres://bob:hunter2@db:5432/x") == "postgres://bob:***@db:5432/x"


def test_a_name_is_the_same_word_everywhere(redaction):
    """Texts can still be compared: the host with or without its domain, the user in a path."""
    one = redaction.text("gpu17 kernel: gpu17.prod.example.com said so")
    assert one == "host1 kernel: host1 said so"
    assert redaction.text("/home/mallory/run.py by mallory") == "/home/user1/run.py by user1"
    assert redaction.text("by root") == "by root"
    assert redaction.text("10.1.2.3 and 10.1.2.4 and 10.1.2.3") == (
        "address1 and address2 and address1"
    )


@pytest.mark.parametrize(
    "text",
    ["fe80::1ff:fe23:4567:890a", "2001:db8::7", "aa:bb:cc:dd:ee:ff", "ann@example.org"],
)
def test_addresses_of_every_sort_are_taken_out(redaction, text):
    """IPv6, Ethernet, mail."""
    assert text not in redaction.text(f"from {text} to us")


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.",
        "NVRM: GPU at PCI:00000000:86:00.0: GPU-4984b68a-1209-1110-3b42-6c9b6e6d00f7",
        "driver 570.124.06, VBIOS 96.00.A5.00.01, CUDA 12.8",
        "2026-11-30T18:19:01.123+00:00 at 12:34:56",
        "serial 6347804132744, board mallory2",
        "listens on 127.0.0.1",
        "tokens per second: 3",
    ],
)
def test_what_a_ticket_is_about_stays(redaction, text):
    """PCI addresses, versions, serial numbers and times are no names."""
    assert redaction.text(text) == text


def test_arguments_of_commands_are_counted_not_shown(redaction):
    """A command line may hold anything."""
    assert redaction.command("/home/mallory/bin/train --key abc x") == "train (3 arguments)"
    assert redaction.command("") == ""


@given(st.text(max_size=300))
def test_any_text_can_be_redacted_twice(text):
    """What was taken out stays out, and nothing fails."""
    redaction = Redaction(hosts=["gpu17"], users=["mallory"])
    once = redaction.text(text)
    assert redaction.text(once) == once
    assert "mallory" not in redaction.text("mallory " + text).split()[:1]
