"""Attacks on approvals, each tried by every way to apply a plan, and the checks that refuse them.

The second law removes a check: then exactly the attacks that name it go through.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import pytest
from approving import Keys, Repository, needs_openssh, signed, statement_of
from harness.repositories import ISOLATED

from reconciler.api.client import Api
from reconciler.errors import ReconcilerError
from reconciler.features.approvals import (
    approval_file,
    approval_guard,
    signers,
    ssh_signatures,
)
from reconciler.features.approvals.approval_file import (
    LONGEST,
    ApprovalDocument,
    PlanToApprove,
    Statement,
    content_of,
    shown_guards,
    shown_moment,
)
from reconciler.features.approvals.approval_settings import Approvals, Approvers
from reconciler.features.approvals.signers import Signer, Signers
from reconciler.model import BREAK_GLASS, GUARDS, NOT_APPROVED, GuardViolation, Plan, Ref
from reconciler.operations.apply_plan import (
    Consent,
    check,
    part_of_reviewed,
    with_added_consent,
)
from reconciler.operations.open_project import Options, Reporter
from reconciler.operations.open_session import Session, begin_session
from reconciler.operations.plan_and_drift import plan_now
from reconciler.planning import guards
from reconciler.planning.guards import OverrideReasons, PlanUnderGuard
from reconciler.project import ProjectFile
from reconciler.report.changes.document import LabelDocument
from reconciler.report.plan.document import PlanDocument, plan_document
from reconciler.workspace.selection import read_selection

pytestmark = needs_openssh

REFUSED, STALE = 11, 6
DIGEST = f"sha256:{'0' * 64}"
PEOPLE = ("alice", "bob", "carol", "dave")
LISTED = (
    *PEOPLE,
    "erin",
    "erin {erin2}",
    "frank,fred {frank}",
    'gina namespaces="git,file" {gina}',
    "hugo cert-authority {hugo}",
    'ines valid-before="20200101" {marvin}',
    'igor valid-after="20990101" {erin2}',
    "team-*,*@example.com,?,!x {mallory}",
)
"""The list of the default branch: four people, and lines that are worth less than they seem."""


@dataclass(frozen=True)
class Scene:
    """A plan for an environment that needs two approvals, made once for all attacks."""

    keys: Keys
    session: Session
    made: Plan
    document: PlanDocument
    folder: Path

    def by(self, *people: str, **other: Any) -> list[ApprovalDocument]:
        """Return an approval by each person; fields of the statement are as given."""
        statement = statement_of(self.document, **other)
        return [signed(statement, self.keys.of(person)) for person in people]


@pytest.fixture(scope="module")
def scene(template: Path, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    root = template / "clone"
    repository = Repository(root, keys)
    with mock.patch.dict(os.environ, ISOLATED):
        os.environ.pop("RECONCILER_BASE_URL", None)
        options = Options(
            paths=(root,),
            environment="production",
            project=repository.root / "reconciler.yaml",
            verbose=False,
            quiet=True,
        )
        session = begin_session(options)
        made = asyncio.run(plan_now(session, session.journal().history))
    return Scene(keys, session, made, plan_document(made), tmp_path_factory.mktemp("given"))


def as_planned(document: PlanDocument) -> PlanDocument:
    """Return a plan file as it was written."""
    return document


@dataclass(frozen=True)
class Attack:
    """Approvals that must not be enough, and the checks that refuse them.

    `held_by` are alternatives, each the checks that must all be gone for the attack to go through;
    none if it never does. `listed` are the lines of the newest list and `needed` the settings of
    the newest commit. `flags` and `override` are other consent, `guarded` is what else guards
    the plan, and `doctored` changes the plan file.
    """

    approvals: Callable[[Scene], Sequence[ApprovalDocument | str]]
    held_by: tuple[str, ...]
    listed: tuple[str, ...] = LISTED
    needed: Approvals = Approvals(count=2)  # noqa: RUF009 - no code changes it
    flags: Mapping[str, str] = field(default_factory=dict)
    override: Collection[str] = ()
    guarded: tuple[GuardViolation, ...] = ()
    doctored: Callable[[PlanDocument], PlanDocument] = as_planned


def moment(**since: float) -> str:
    """Return a moment so long from now, as statements have it."""
    return shown_moment(datetime.now(UTC) + timedelta(**since))


def after_signing(scene: Scene, **other: Any) -> list[ApprovalDocument]:
    """Return approvals with fields that were changed after they were signed."""
    return [
        {**approval, "statement": {**approval["statement"], **other}}  # type: ignore[typeddict-item]  # fields by name
        for approval in scene.by("alice", "bob")
    ]


def in_namespace(scene: Scene, namespace: str) -> list[ApprovalDocument]:
    """Return signatures of the statement for another purpose."""
    statement = statement_of(scene.document)
    return [signed(statement, scene.keys.of(name), namespace) for name in ("alice", "bob")]


def with_signature(scene: Scene, change: Callable[[str, str], str]) -> list[ApprovalDocument]:
    """Return approvals whose signature was changed; `change` gets it and the name."""
    return [
        {**approval, "signature": change(approval["signature"], name)}
        for name, approval in zip(("alice", "bob"), scene.by("alice", "bob"), strict=True)
    ]


HEAD, FOOT = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


def blob_of(signature: str) -> bytes:
    """Return the bytes of a signature."""
    return base64.b64decode("".join(signature.splitlines()[1:-1]))


def armoured(blob: bytes) -> str:
    """Return a signature of bytes."""
    text = base64.b64encode(blob).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    return "\n".join((HEAD, *lines, FOOT, ""))


def last_byte_changed(signature: str, _: str) -> str:
    """Return a signature whose last byte is another."""
    blob = blob_of(signature)
    return armoured(blob[:-1] + bytes([blob[-1] ^ 1]))


def of_another_key(scene: Scene) -> list[ApprovalDocument]:
    """Return signatures by a stranger that name the keys of Alice and Bob."""
    found = []
    for approval, own in zip(scene.by("mallory", "marvin"), scene.by("alice", "bob"), strict=True):
        # The key is at the same place in both, as both are of the same type.
        forged = bytearray(blob_of(approval["signature"]))
        start, end = 10, 10 + 4 + 51
        forged[start:end] = blob_of(own["signature"])[start:end]
        found.append({**approval, "signature": armoured(bytes(forged))})
    return found  # type: ignore[return-value]  # a dict of them


def hidden(document: PlanDocument) -> PlanDocument:
    """Return a plan file in which one change looks like a resource that is kept."""
    first, *rest = document["changes"]
    return {**document, "changes": [{**first, "action": "keep", "fields": []}, *rest]}


def renamed(document: PlanDocument) -> PlanDocument:
    """Return a plan file in which one value is a harmless one."""
    text = json.dumps(document).replace("99.9", "99.99")
    made: PlanDocument = json.loads(text)
    return made


def relabelled(document: PlanDocument) -> PlanDocument:
    """Return a plan file in which a field has the words of a harmless one."""
    first, *rest = document["changes"]
    field, *fields = first["fields"]
    label: LabelDocument = {"subject": "", "field": "description", "place": ""}
    return {
        **document,
        "changes": [{**first, "fields": [{**field, "label": label}, *fields]}, *rest],
    }


def of_doctored(change: Callable[[PlanDocument], PlanDocument]) -> Attack:
    """Return an attack with a plan file that was changed before people saw and signed it."""

    def approvals(scene: Scene) -> list[ApprovalDocument]:
        return scene.by("alice", "bob", content=content_of(change(scene.document)["changes"]))

    return Attack(approvals, ("content",), doctored=change)


CLOCK = GuardViolation(said="", remedies=(), code=NOT_APPROVED, figures="clock")
EVERY_FLAG = dict.fromkeys(
    {guard.flag for guard in GUARDS.values()} - {"", "approval", BREAK_GLASS}, "now"
)

ATTACKS: dict[str, Attack] = {
    "nothing": Attack(lambda _: (), ()),
    "every other flag": Attack(
        lambda _: (), ("flag_of",), flags=EVERY_FLAG, override=("", NOT_APPROVED)
    ),
    "break-glass without permission": Attack(
        lambda _: (), ("break_glass",), flags={BREAK_GLASS: "it burns"}
    ),
    # People.
    "one of two": Attack(lambda scene: scene.by("bob"), ("count",)),
    "one person twice": Attack(lambda scene: scene.by("alice", "alice"), ("count",)),
    "two keys of one person": Attack(
        lambda scene: scene.by("erin", "erin2"),
        ("count", "people_of"),
        listed=("alice", "bob", "erin", "erin {erin2}"),
    ),
    "two principals of one key": Attack(
        lambda scene: scene.by("frank", "frank"), ("count", "people_of")
    ),
    "three approvals needed by now": Attack(
        lambda scene: scene.by("alice", "bob"), ("count",), needed=Approvals(count=3)
    ),
    "strangers": Attack(
        lambda scene: scene.by("mallory", "marvin"), ("of_key+is_signed",), listed=PEOPLE
    ),
    "signers that were removed": Attack(
        lambda scene: scene.by("alice", "bob"), ("of_key+is_signed",), listed=("carol", "dave")
    ),
    "patterns": Attack(
        lambda scene: scene.by("mallory", "marvin"),
        ("_PATTERN+_PRINCIPAL", "of_key+is_signed"),
        listed=(*PEOPLE, "team-* {mallory}", "* {marvin}"),
    ),
    "authorities": Attack(
        lambda scene: scene.by("hugo", "marvin"),
        ("_is_for_us+is_signed", "of_key+is_signed"),
        listed=(*PEOPLE, "hugo cert-authority {hugo}", "ida CERT-AUTHORITY {marvin}"),
    ),
    "keys for other purposes": Attack(
        lambda scene: scene.by("gina", "hugo"),
        ("_is_for_us+is_signed", "of_key+is_signed"),
        listed=(*PEOPLE, 'gina namespaces="git" {gina}', 'hugo NAMESPACES="file,git" {hugo}'),
    ),
    "keys that have expired": Attack(
        lambda scene: scene.by("gina", "hugo"),
        ("is_signed",),
        listed=(
            *PEOPLE,
            'gina valid-before="20200101" {gina}',
            'hugo valid-after="20200101",valid-before="20210101" {hugo}',
        ),
    ),
    "keys that do not hold yet": Attack(
        lambda scene: scene.by("gina", "hugo"),
        ("is_signed",),
        listed=(
            *PEOPLE,
            *(f'{name} valid-after="20990101" {{{name}}}' for name in ("gina", "hugo")),
        ),
    ),
    # Replays.
    "of another environment": Attack(
        lambda scene: scene.by("alice", "bob", environment="staging"), ("environment",)
    ),
    "of another target": Attack(
        lambda scene: scene.by("alice", "bob", target="https://api.example.com"), ("target",)
    ),
    "of an older plan": Attack(lambda scene: scene.by("alice", "bob", digest=DIGEST), ("digest",)),
    "of other changes": Attack(
        lambda scene: scene.by("alice", "bob", content=DIGEST), ("content",)
    ),
    "of a plan file that hides a change": of_doctored(hidden),
    "of a plan file with another value": of_doctored(renamed),
    "of a plan file with the words of another field": of_doctored(relabelled),
    # Times.
    "expired": Attack(
        lambda scene: scene.by("alice", "carol", until=moment(seconds=-1)), ("expired",)
    ),
    "expired while clocks are apart": Attack(
        lambda scene: scene.by("alice", "carol"), ("clock",), guarded=(CLOCK,)
    ),
    "signed in the future": Attack(
        lambda scene: scene.by("alice", "dave", at=moment(hours=1)), ("future",)
    ),
    "for too long": Attack(
        lambda scene: scene.by("alice", "bob", until=moment(days=8)), ("LONGEST",)
    ),
    "for too long from an old moment": Attack(
        lambda scene: scene.by("alice", "bob", at="1970-01-01T00:00:00Z"), ("LONGEST",)
    ),
    "without a time zone": Attack(
        lambda scene: scene.by("alice", "bob", until=moment(hours=1).removesuffix("Z")),
        ("_moment",),
    ),
    "until no time": Attack(lambda scene: scene.by("alice", "bob", until="forever"), ("_moment",)),
    # Forgeries.
    "prolonged after signing": Attack(
        lambda scene: after_signing(scene, until=moment(hours=9)), ("is_signed",)
    ),
    "with guards added after signing": Attack(
        lambda scene: after_signing(
            scene, guards=[{"code": "destroys", "ref": None, "figures": "", "message": "all"}]
        ),
        ("is_signed",),
    ),
    "for commits of git": Attack(lambda scene: in_namespace(scene, "git"), ("is_signed",)),
    "for files": Attack(lambda scene: in_namespace(scene, "file"), ("is_signed",)),
    "with another byte": Attack(
        lambda scene: with_signature(scene, last_byte_changed), ("is_signed",)
    ),
    "by strangers, naming the keys of people": Attack(of_another_key, ("is_signed",)),
    "without a signature": Attack(
        lambda scene: with_signature(scene, lambda _, name: name), ("key_in+is_signed",)
    ),
    "with a PGP signature": Attack(
        lambda scene: with_signature(
            scene, lambda text, name: f"{name}\n{text.replace('SSH SIGNATURE', 'PGP SIGNATURE')}"
        ),
        ("key_in+is_signed",),
    ),
    "with words around the signature": Attack(
        lambda scene: with_signature(scene, lambda text, name: f"{name}\n{text}"),
        ("key_in+is_signed",),
    ),
    "with half a signature": Attack(
        lambda scene: with_signature(scene, lambda text, _: armoured(blob_of(text)[:90])),
        ("is_signed",),
    ),
    # Files.
    "no JSON": Attack(lambda _: ("", "{", "[]", "\ud83d".encode("utf-8", "replace").decode()), ()),
    "with more fields": Attack(
        lambda scene: [json.dumps({**approval, "more": 1}) for approval in scene.by(*PEOPLE)], ()
    ),
    "of another format": Attack(lambda scene: scene.by(*PEOPLE, formatVersion=2), ()),
}

Give = Callable[[Scene, Attack], Consent]


def consent_to(scene: Scene, attack: Attack, **way: Any) -> Consent:
    """Return the consent of an apply: what was typed, and the approvals."""
    files = []
    for number, approval in enumerate(attack.approvals(scene)):
        file = scene.folder / f"{number}.approval"
        text = approval if isinstance(approval, str) else json.dumps(approval)
        file.write_text(text, encoding="utf-8")
        files.append(file)
    reason = "now" if "" in attack.override else None
    return Consent(
        files={"approvals": files},
        flags=attack.flags,
        overridden=OverrideReasons(
            reason=reason, codes=dict.fromkeys(filter(None, attack.override), "now")
        ),
        **way,
    )


def of_file(scene: Scene, attack: Attack, **way: Any) -> Consent:
    """Return the consent of `--plan`."""
    return consent_to(scene, attack, reviewed=attack.doctored(scene.document), **way)


PART = read_selection(["SLO/checkout"], [], ["SLO"])
WAYS: dict[str, Give] = {
    "--plan": of_file,
    "--expect": lambda scene, attack: consent_to(scene, attack, expect=scene.made.digest),
    "--yes": partial(consent_to, yes=True),
    "on a terminal": consent_to,
    "--plan --select": partial(of_file, part=PART),
}


@dataclass(frozen=True)
class Newest:
    """The newest commit of the default branch, without git."""

    settings: ProjectFile
    signers: str

    def text(self, name: str) -> str:
        """Return the list of signers."""
        assert name == "approvers"
        return self.signers


def code_of(scene: Scene, attack: Attack, way: str) -> int:
    """Return the exit code of an apply that would begin to write next; 0 where it would."""
    consent = WAYS[way](scene, attack)
    made = replace(scene.made, guarded=(*scene.made.guarded, *attack.guarded))
    settings = scene.session.project.settings
    bound = settings.environments["production"].model_copy(
        update={"approvals": attack.needed, "approvers": Approvers("approvers")}
    )
    newest = settings.model_copy(update={"environments": {"production": bound}})
    listed = Newest(newest, scene.keys.listed(*attack.listed))
    with mock.patch.object(approval_guard, "newest_commit", return_value=listed):
        try:
            if consent.part is not None and consent.reviewed is not None:
                guards_here = scene.session.environment.guards
                made, _ = part_of_reviewed(made, consent.reviewed, consent.part, guards_here)
            made, consent = with_added_consent(scene.session, made, consent)
            check(made, consent, Reporter())
        except ReconcilerError as error:
            return error.exit_code
    return 0


@pytest.fixture(scope="module")
def attacks(scene: Scene) -> dict[str, Attack]:
    """Return the attacks, with approvals that are signed once."""
    made = {name: attack.approvals(scene) for name, attack in ATTACKS.items()}
    return {
        name: replace(attack, approvals=lambda _, found=made[name]: found)  # type: ignore[misc]  # a default
        for name, attack in ATTACKS.items()
    }


VALID = Attack(lambda scene: scene.by("alice", "bob"), ())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("people", [("alice", "bob"), ("carol", "dave"), ("erin2", "frank", "bob")])
def test_valid_approvals(scene: Scene, people: tuple[str, ...], way: str) -> None:
    """Approvals of two people lift the guard, with ed25519, RSA and ECDSA keys, in each way."""
    assert code_of(scene, replace(VALID, approvals=lambda scene: scene.by(*people)), way) == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(scene: Scene, attacks: dict[str, Attack], name: str, way: str) -> None:
    """No attack goes through in any way to apply a plan."""
    is_file = name.startswith("of a plan file") and "--select" in way

    assert code_of(scene, attacks[name], way) == (STALE if is_file else REFUSED)


OBJECTION = GuardViolation(said="lowers a target", remedies=(), code="slo-target-lowered")
CONSENTS: dict[str, tuple[GuardViolation, tuple[GuardViolation, ...], bool]] = {
    "the guard": (OBJECTION, (OBJECTION,), True),
    "none": (OBJECTION, (), False),
    "another code": (OBJECTION, (replace(OBJECTION, code="alert-deleted"),), False),
    "another sentence": (OBJECTION, (replace(OBJECTION, said="is harmless"),), False),
    "other figures": (OBJECTION, (replace(OBJECTION, figures="1"),), False),
    "another resource": (OBJECTION, (replace(OBJECTION, ref=Ref("SLO", "other")),), False),
    "an explicit guard": (
        replace(OBJECTION, code="destroys"),
        (replace(OBJECTION, code="destroys"),),
        False,
    ),
    "a guard that is explicit here": (
        replace(OBJECTION, own_level="explicit"),
        (replace(OBJECTION, own_level="explicit"),),
        False,
    ),
}
"""A guard of a plan, the guards that were shown to its approvers, and whether they consent."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CONSENTS)
def test_consent_to_guards(scene: Scene, case: str, way: str) -> None:
    """Approvals consent to exactly the guards of level review that were shown to all signers."""
    guard, others, is_consent = CONSENTS[case]
    shown = shown_guards(plan_document(replace(scene.made, guarded=others))["guards"])
    both, one = scene.by("alice", "bob", guards=shown), scene.by("bob", guards=[])
    of_all = Attack(lambda _: both, (), guarded=(guard,))
    of_some = replace(of_all, approvals=lambda _: (both[0], *one))

    assert (code_of(scene, of_all, way) == 0) == is_consent
    assert code_of(scene, of_some, way) == REFUSED


def of_statement(name: str) -> AbstractContextManager[Any]:
    """Return a patch after which a field of the statement need not agree with the plan."""
    real = approval_file._mismatch

    def mismatch(statement: Statement, plan: PlanToApprove) -> str:
        given: dict[str, Any] = {name: dict(statement)[name]}
        return real(statement, replace(plan, **given))

    return mock.patch.object(approval_file, "_mismatch", mismatch)


def at_another_time(now: Callable[[Statement, datetime], datetime]) -> AbstractContextManager[Any]:
    """Return a patch after which an approval is judged at another moment."""
    real = approval_file._untimely
    untimely = lambda statement, at: real(statement, now(statement, at))  # noqa: E731 - it is patched in
    return mock.patch.object(approval_file, "_untimely", untimely)


def read_moment(text: str) -> datetime:
    """Return a moment of any text."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC) + timedelta(hours=1)


def signer_of_any_key(real: Callable[..., list[Signer]]) -> Callable[..., list[Signer]]:
    """Return a lookup in which a stranger is everyone."""
    return lambda listed, key: real(listed, key) or list(listed.signers)


def line_is_person(listed: Signers, names: set[str]) -> list[frozenset[str]]:
    """Return a person for each line of a list."""
    return [frozenset({one.principal}) for one in listed.signers if one.principal in names]


def key_of_words(keys: Keys) -> Callable[[str], str | None]:
    """Return a reader of keys that believes the first word of what is no signature."""
    real = ssh_signatures.key_in

    def key_in(signature: str) -> str | None:
        name = signature.partition("\n")[0]
        is_named = name in PEOPLE
        return signers.fingerprint_of(keys.public(name).split()[1]) if is_named else real(signature)

    return key_in


def with_needed(change: Callable[[Approvals], Approvals]) -> AbstractContextManager[Any]:
    """Return a patch of how many approvals are needed."""
    real = approval_guard.binding_settings

    def binding(*about: Any) -> approval_guard.BindingSettings:
        found = real(*about)
        return replace(found, needed=change(found.needed))

    return mock.patch.object(approval_guard, "binding_settings", binding)


def begins(statement: Statement, at: datetime) -> datetime:
    """Return the moment of a signature, or the present if that is later."""
    with suppress(ValueError):
        return max(at, approval_file._moment(statement["at"]))
    return at


def before_the_end(statement: Statement, at: datetime) -> datetime:
    """Return a moment before an approval expires, the present if that is earlier."""
    with suppress(ValueError):
        return min(at, approval_file._moment(statement["until"]) - timedelta(seconds=1))
    return at


Removal = Callable[[Keys], AbstractContextManager[Any]]
CHECKS: dict[str, Removal] = {
    "environment": lambda _: of_statement("environment"),
    "target": lambda _: of_statement("target"),
    "digest": lambda _: of_statement("digest"),
    "content": lambda _: of_statement("content"),
    "expired": lambda _: at_another_time(before_the_end),
    "future": lambda _: at_another_time(begins),
    "LONGEST": lambda _: mock.patch.object(approval_file, "LONGEST", LONGEST * 9_999),
    "_moment": lambda _: mock.patch.object(approval_file, "_moment", read_moment),
    "key_in": lambda keys: mock.patch.object(approval_file, "key_in", key_of_words(keys)),
    "of_key": lambda _: mock.patch.object(Signers, "of_key", signer_of_any_key(Signers.of_key)),
    "is_signed": lambda _: mock.patch.object(approval_file, "is_signed", return_value=True),
    "people_of": lambda _: mock.patch.object(Signers, "people_of", line_is_person),
    "_PATTERN": lambda _: mock.patch.object(signers, "_PATTERN", re.compile(r"\0")),
    "_PRINCIPAL": lambda _: mock.patch.object(signers, "_PRINCIPAL", re.compile(r".*")),
    "_is_for_us": lambda _: mock.patch.object(signers, "_is_for_us", return_value=True),
    "count": lambda _: with_needed(
        lambda needed: needed.model_copy(update={"count": needed.count - 1})
    ),
    "break_glass": lambda _: with_needed(
        lambda needed: needed.model_copy(update={"break_glass": True})
    ),
    "clock": lambda _: mock.patch.object(approval_guard, "_CLOCK", "another"),
    "flag_of": lambda _: mock.patch.object(guards, "flag_of", return_value=""),
}
"""Each check that an attack names, and how to remove it."""
REMOVALS = sorted(
    {*CHECKS} | {group for attack in ATTACKS.values() for group in attack.held_by if "+" in group}
)


@pytest.fixture(scope="module", autouse=True)
def _verified_once() -> Iterator[None]:
    """Run `ssh-keygen` once for each signature, text and signer."""
    with mock.patch.object(approval_file, "is_signed", cache(ssh_signatures.is_signed)):
        yield


@pytest.mark.parametrize("removed", REMOVALS)
def test_a_removed_check(scene: Scene, attacks: dict[str, Attack], removed: str) -> None:
    """Without a check exactly the attacks that name it go through."""
    gone = {*removed.split("+")}
    opened = {
        name
        for name, attack in attacks.items()
        if any(gone >= {*group.split("+")} for group in attack.held_by)
    }
    with ExitStack() as patches:
        for check_name in gone:
            patches.enter_context(CHECKS[check_name](scene.keys))
        passed = {name for name, attack in attacks.items() if not code_of(scene, attack, "--plan")}

    assert passed == opened


def test_every_attack_is_refused_by_a_check() -> None:
    """Each check is named by an attack."""
    named = {
        name for attack in ATTACKS.values() for group in attack.held_by for name in group.split("+")
    }

    assert named == CHECKS.keys()


@pytest.mark.parametrize(
    ("apart", "same_clock", "is_unknown"),
    [
        (None, False, False),
        (300.0, False, False),
        (-300.0, False, False),
        (301.0, False, True),
        (3600.0, False, True),
        (-3600.0, False, True),
        (3600.0, True, False),
    ],
)
def test_clocks(scene: Scene, apart: float | None, *, same_clock: bool, is_unknown: bool) -> None:
    """A clock more than five minutes from the service's is a violation that no approval lifts."""
    asked = PlanUnderGuard(
        api=cast("Api", SimpleNamespace(clock_difference=apart)),
        plan=replace(scene.made, guarded=()),
        environment=scene.session.environment,
        settings=scene.session.project.settings,
        now=datetime.now(UTC),
        same_clock=same_clock,
    )

    made = asyncio.run(approval_guard.with_approvals_needed(asked))

    assert {guard.code for guard in made.guarded} == {NOT_APPROVED}
    assert ("clock" in {guard.figures for guard in made.guarded}) == is_unknown
