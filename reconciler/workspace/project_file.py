"""Reading of reconciler.yaml, and validation of its guards against the kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Final, Protocol, TypeAlias, runtime_checkable

from reconciler.document import Path as Place
from reconciler.kinds import BY_NAME, KINDS
from reconciler.model.guards import EXPLICIT_LEVEL, GUARDS, GuardLevel
from reconciler.project import (
    Environment,
    Project,
    ProjectFile,
    project_findings,
    readable_settings,
)
from reconciler.project.project import Readable
from reconciler.project.settings import ALLOWABLE, Guards
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Complaint, Finding
from reconciler.syntax.files import read_own_file
from reconciler.syntax.parsed_text import DocumentText, complaints_of_text
from reconciler.syntax.read_text import read_text
from reconciler.syntax.suggestions import nearest, shortened

ProjectCheck: TypeAlias = Callable[[ProjectFile, Readable], Iterator[Complaint]]

PROJECT_CHECKS: Final = Rows[ProjectCheck]("project-checks")
"""Further checks of a setting, which is the key; one run reports all mistakes."""


def consents_known() -> tuple[str, ...]:
    """Return what `allow:` may hold, apart from the project's own rules."""
    return (*(code for kind in KINDS for code in kind.consents), *ALLOWABLE)


def guard_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield a finding for each unknown kind and code under `guards:`."""
    for name, environment in settings.environments.items():
        path = ("environments", name, "guards")
        for kind in environment.guards.kinds:
            if kind not in BY_NAME:
                fact, near = f"unknown kind `{kind}`", shortened(kind, BY_NAME)
                yield _unknown(fact, (*path, "kinds", kind), [*BY_NAME], near, at_key=True)
        if environment.guards.allow or environment.guards.levels:
            # A rule for plans is a guard like any other.
            rules = settings.plan_rules
            yield from _allowed_findings(environment.guards, rules, (*path, "allow"))
            known = dict.fromkeys((*GUARDS, *consents_known(), *rules))
            for code in environment.guards.levels:
                if code not in known:
                    yield _unknown_code((*path, "levels", code), code, [*known], at_key=True)


def _allowed_findings(
    guards: Guards, rules: Mapping[str, GuardLevel], path: tuple[str, ...]
) -> Iterator[Finding]:
    """Yield what `allow:` may not hold: guards that need consent each time, and unknown codes."""
    known = (*consents_known(), *rules)
    for index, code in enumerate(guards.allow):
        level = guards.levels.get(code) or rules.get(code)
        if code in known and level == EXPLICIT_LEVEL:
            message = (
                f"`{code}` is of level explicit here: such a guard cannot be allowed permanently"
            )
            yield Finding("P101", (*path, index), message)
        elif code in GUARDS and code not in known:
            message = f"`{code}` cannot be allowed permanently (what can be: {', '.join(known)})"
            yield Finding("P101", (*path, index), message)
        elif code not in known:
            yield _unknown_code((*path, index), code, known)


def _unknown_code(
    path: tuple[str | int, ...], code: str, known: Sequence[str], *, at_key: bool = False
) -> Finding:
    return _unknown(f"unknown code `{code}`", path, known, nearest(code, known), at_key=at_key)


def _unknown(
    fact: str, path: Place, known: Sequence[str], near: str, *, at_key: bool = False
) -> Finding:
    message = f"{fact} (known: {', '.join(known)})"
    return Finding("P101", path, message, suggestion=near, at_key=at_key)


def reads_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield the kinds under `api: reads:` that are unknown, or that the API can read anyway."""
    environments = settings.environments.items()
    if not any(
        environment.api.reads.of_kinds or environment.api.reads.lists
        for _, environment in environments
    ):
        # Most projects do not set this, and a look at a kind loads it.
        return
    unread = [kind.name for kind in KINDS if not kind.readable]
    listed = [kind.name for kind in KINDS if not kind.singleton]
    for name, environment in environments:
        reads, path = environment.api.reads, ("environments", name, "api", "reads")
        for kind in reads.of_kinds:
            if kind in BY_NAME and kind not in unread:
                message = f"the API document has a read of `{kind}`, and that one is used"
                yield Finding("P101", (*path, kind), message, at_key=True)
            elif kind not in unread:
                yield _unknown_kind((*path, kind), kind, [*unread, "lists"])
        for kind in reads.lists:
            if kind not in listed:
                yield _unknown_kind((*path, "lists", kind), kind, listed)


def ignored_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield the rules under `driftIgnore:` that match no kind."""
    for index, rule in enumerate(settings.drift_ignore):
        if not any(fnmatchcase(kind, rule.kind) for kind in BY_NAME):
            yield _no_kind(("driftIgnore", index, "kind"), rule.kind)


def rule_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield the rules with the name of another rule, and those for unknown kinds."""
    names: set[str] = set()
    for index, rule in enumerate(settings.own_rules):
        if rule.name in names:
            message = f"another rule is called `{rule.name}` already"
            yield Finding("P101", ("rules", index, "name"), message)
        names.add(rule.name)
        for place, kind in enumerate(rule.kinds):
            if kind not in BY_NAME:
                yield _no_kind(("rules", index, "kinds", place), kind)


def _no_kind(path: tuple[str | int, ...], kind: str) -> Finding:
    return _unknown(f"there is no kind `{kind}`", path, [*BY_NAME], shortened(kind, BY_NAME))


def _unknown_kind(path: tuple[str, ...], kind: str, known: Sequence[str]) -> Finding:
    fact = f"there is nothing of `{kind}` to be read so"
    return _unknown(fact, path, known, nearest(kind, known), at_key=True)


@runtime_checkable
class CheckedSetting(Protocol):
    """A setting of a feature that is checked with the rest of its environment."""

    def findings(self, environment: Environment, path: tuple[str, ...]) -> Iterator[Finding]:
        """Yield what is wrong with the setting at a path."""


def added_findings(settings: ProjectFile, gone: Collection[Place] = ()) -> Iterator[Finding]:
    """Yield the findings of the settings of features in each environment.

    An environment with an invalid setting of a feature yields none, as settings may depend on each
    other. `gone` has the places of invalid settings.
    """
    for name, environment in settings.environments.items():
        if any(
            ("environments", name, key) == place[:3] for place in gone for key in environment.added
        ):
            continue
        for key, setting in environment.settings_given(object):
            if not isinstance(setting, CheckedSetting):
                continue
            yield from setting.findings(environment, ("environments", name, key))


def load_project(file: Path) -> tuple[Project | None, list[Complaint]]:
    """Read a project file; return None if it is not valid, and every complaint about it.

    The file is opened without following a link, and its folder is the root of the project.
    """
    root = file.parent.resolve()
    text = read_own_file(file, file.name)
    if isinstance(text, Complaint):
        return None, [text]
    reading = read_text(text)
    complaints = list(complaints_of_text(file.name, reading))
    if any(complaint.is_error for complaint in complaints):
        return None, complaints
    if len(reading.documents) != 1:
        message = "a project file holds one mapping, as `manifests: [.]`"
        return None, [*complaints, Complaint(file.name, 1, 1, code="P101", message=message)]
    document = reading.documents[0]
    place = DocumentText(file.name, document)
    findings = list(project_findings(document.value))
    made = readable_settings(document.value)
    settings = made.settings
    if settings is not None:
        settings.note_text(place)
        checks = guard_findings, reads_findings, ignored_findings, rule_findings
        found = chain(*(check(settings) for check in checks), added_findings(settings, made.gone))
        findings.extend(map(made.as_written, found))
    complaints.extend(place.complaint(finding) for finding in findings)
    if settings is None or findings:
        wrong = {finding.path[0] for finding in findings if finding.path}
        for key in PROJECT_CHECKS:
            if settings is not None and key in wrong:
                complaints.extend(PROJECT_CHECKS.load(key)(settings, made))
        return None, complaints
    return Project(root, file, settings), complaints
