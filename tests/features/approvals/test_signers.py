"""Lists of signers: who is a person, and which signatures are of whom."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from approving import Keys, keygen, needs_openssh
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.features.approvals.approval_file import content_of
from reconciler.features.approvals.signers import (
    Signer,
    Signers,
    fingerprint_of,
    read_signers,
)
from reconciler.features.approvals.ssh_signatures import is_signed, key_in
from reconciler.report.plan.document import ChangeDocument

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEphQWhL6SXbhDbBTAZRLIQVQyz5qpTZnJMzKxyNa0dk"
ALICE = f"alice {KEY}"


@st.composite
def people(draw: st.DrawFn) -> list[tuple[set[str], set[str]]]:
    """Draw people, each with principals that share keys; no two people share any."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=5))
    return [
        ({f"p{at}.{n}" for n in range(principals)}, {f"k{at}.{n}" for n in range(keys)})
        for at, (principals, keys) in enumerate(sizes)
    ]


@given(people(), st.randoms(use_true_random=False))
def test_people_are_counted_once(known: list[tuple[set[str], set[str]]], random: Any) -> None:
    """Whatever principals and keys people have, and in whatever order, each counts once."""
    signers = [
        Signer(principal, key, "")
        for principals, keys in known
        for principal in principals
        for key in keys
    ]
    random.shuffle(signers)
    signing = {one.principal for one in signers if random.random() < 0.5}
    approving = [principals for principals, _ in known if principals & signing]

    found = Signers(signers).people_of(signing)

    assert sorted(map(sorted, found)) == sorted(map(sorted, approving))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# alice " + KEY,
        f"* {KEY}",
        f"team-? {KEY}",
        f"!alice {KEY}",
        f"alice cert-authority {KEY}",
        f'alice valid-before="20990101",CERT-AUTHORITY {KEY}',
        f'alice namespaces="git" {KEY}',
        "alice ssh-ed25519-cert-v01@openssh.com AAAA",
        *(f"# a comment{end}{ALICE}" for end in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"),
    ],
)
def test_no_person(line: str) -> None:
    """Comments, patterns, authorities and keys for another purpose are no person, and no flaw."""
    assert read_signers(f"{line}\n") == Signers([], [])


@pytest.mark.parametrize(
    "line",
    [
        "alice",
        "alice ssh-ed25519",
        "alice ssh-ed25519 AAA",
        f"alice,b/b {KEY}",
        f'"alice b" {KEY}',
        f"älice {KEY}",
        f"{'a' * 101} {KEY}",
    ],
)
def test_unreadable_lines(line: str) -> None:
    """A line that may have been meant to be a person is a flaw, with its number."""
    assert [number for number, _ in read_signers(f"{ALICE}\n{line}\n").flaws] == [2]


@pytest.mark.parametrize(
    "line",
    [
        f"{ALICE} a comment",
        f"  {ALICE}\t\r",
        f'alice namespaces="git,reconciler-*" {KEY}',
        f'alice no-touch-required,valid-after="20200101" {KEY}',
        f"alice,team-* {KEY}",
    ],
)
def test_people(line: str) -> None:
    """A principal whose name is written out is a person, with options and comments too."""
    found = read_signers(line)

    assert [one.principal for one in found.signers] == ["alice"]
    assert found.flaws == []


@needs_openssh
@pytest.mark.parametrize("name", ["alice", "carol", "dave"])
def test_fingerprints(keys: Keys, name: str) -> None:
    """A fingerprint is the one that `ssh-keygen` prints."""
    printed = keygen("-l", "-f", str(keys.of(name))).split()[1].decode()

    assert fingerprint_of(keys.public(name).split()[1]) == printed


def padded(key: str) -> str:
    """Return an RSA key whose numbers begin with a needless zero: the same for `ssh-keygen`."""
    blob, parts = base64.b64decode(key), []
    while blob:
        size = 4 + int.from_bytes(blob[:4])
        parts.append(blob[4:size])
        blob = blob[size:]
    kind, *numbers = parts
    written = (kind, *(b"\0" + number for number in numbers))
    return base64.b64encode(b"".join(struct.pack(">I", len(p)) + p for p in written)).decode()


@needs_openssh
def test_one_key_is_not_two(keys: Keys) -> None:
    """An RSA key in another spelling is a flaw of the list: it would be a second person."""
    kind, key = keys.public("carol").split()

    found = read_signers(f"carol {kind} {key}\nkarl {kind} {padded(key)}\n")

    assert [one.principal for one in found.signers] == ["carol"]
    assert [number for number, _ in found.flaws] == [2]


@pytest.fixture(scope="module", params=["alice", "carol", "dave"])
def signature(keys: Keys, request: pytest.FixtureRequest) -> tuple[Signer, str]:
    """Return a signer, and its signature of TEXT."""
    name = request.param
    command = ("-q", "-Y", "sign", "-f", str(keys.of(name)), "-n", "reconciler-plan")
    signed = keygen(*command, given=TEXT).decode()
    (signer,) = read_signers(f"{name} {keys.public(name)}").signers
    return signer, signed


TEXT = b'{"digest":"sha256:00","environment":"production"}'


@needs_openssh
@settings(max_examples=8)
@given(at=st.integers(0, 10_000), by=st.integers(1, 255), is_text=st.booleans())
def test_any_byte(signature: tuple[Signer, str], at: int, by: int, *, is_text: bool) -> None:
    """A signature holds for its bytes, and with any byte of either changed it does not."""
    signer, signed = signature
    head, *lines, foot = signed.splitlines()
    blob = base64.b64decode("".join(lines))
    changed = bytearray(TEXT if is_text else blob)
    changed[at % len(changed)] ^= by
    text = base64.b64encode(changed).decode()
    forged = "\n".join((head, *(text[n : n + 70] for n in range(0, len(text), 70)), foot, ""))

    is_held = (
        is_signed(bytes(changed), signed, signer)
        if is_text
        else (key_in(forged) == signer.fingerprint and is_signed(TEXT, forged, signer))
    )

    assert not is_held
    assert is_signed(TEXT, signed, signer)


CHANGE: ChangeDocument = {
    "ref": "SLO/checkout",
    "kind": "SLO",
    "name": "checkout",
    "action": "update",
    "evidence": "live",
    "remoteId": "1",
    "source": {"file": "slo.yaml", "line": 1},
    "fields": [{"path": ["name"], "operation": "change", "before": "a", "after": "b"}],
    "destroys": [],
    "notes": [],
    "reasons": [],
}


@pytest.mark.parametrize(
    "other",
    [
        {"ref": "SLO/other"},
        {"action": "assert"},
        {"evidence": "journal"},
        {"remoteId": "2"},
        {"remoteId": None},
        {"fields": []},
        {"fields": [{"path": ["name"], "operation": "change", "before": "a", "after": "c"}]},
        {"fields": [{"path": ["name"], "operation": "change", "before": "c", "after": "b"}]},
        {"fields": [{"path": ["title"], "operation": "change", "before": "a", "after": "b"}]},
        {"fields": [{"path": ["name"], "operation": "move", "before": "a", "after": "b"}]},
        {"fields": [*CHANGE["fields"], *CHANGE["fields"]]},
        {"destroys": ["a policy"]},
        {"action": "keep"},
    ],
)
def test_content(other: dict[str, Any]) -> None:
    """What is signed differs with each field that an apply would write; kept resources aside."""
    changed: ChangeDocument = {**CHANGE, **other}  # type: ignore[typeddict-item]  # fields by name
    kept: ChangeDocument = {**CHANGE, "action": "keep", "ref": "SLO/kept"}

    assert content_of([CHANGE]) == content_of([CHANGE, kept])
    assert content_of([changed]) != content_of([CHANGE])
    assert content_of([CHANGE, changed]) != content_of([CHANGE]) or changed["action"] == "keep"
