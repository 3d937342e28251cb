"""Expressions of a manifest: their scope, their values, and the secrets that it never sends.

Such secrets are the API key, credentials of the CI system, and their values. The values of all
other expressions are filled in, with the places where they are written. Source: docs/manifests.md,
docs/reuse.md, docs/security.md.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache, cached_property, lru_cache
from itertools import groupby
from pathlib import Path as File
from typing import Final, NamedTuple, assert_never

from reconciler.document import Json, Path, texts_at, texts_in
from reconciler.kinds.checks import described, name_of
from reconciler.kinds.judge_spec import SpecReport
from reconciler.model import Member, Ref
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import RefHole, SecretHole, Template, named_values, seal
from reconciler.runtime.connection import is_key, keys_in
from reconciler.syntax.diagnostic import REMOVE, Advice, Complaint, Finding, Severity
from reconciler.syntax.expressions import (
    LITERAL,
    OPEN,
    Expression,
    ExpressionKind,
    Malformed,
    NearMiss,
    Spot,
    TextPart,
    expression,
    form_of,
    parts_of,
)
from reconciler.syntax.files import LARGEST_MADE, MOST_MADE, SUFFIXES, display_name
from reconciler.syntax.parsed_text import DocumentText, Graft, Reading, complaints_of_text
from reconciler.syntax.read_text import DEEPEST, Sources
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.selection import EVERYTHING, Selection

# A variable that each system sets, and the prefixes of the names of all its variables.
_SYSTEMS = {
    "GITHUB_ACTIONS": ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"),
    "GITLAB_CI": ("CI_", "GITLAB_"),
    "CIRCLECI": ("CIRCLE_",),
    "BUILDKITE": ("BUILDKITE_",),
    "BITBUCKET_BUILD_NUMBER": ("BITBUCKET_",),
    "TF_BUILD": ("SYSTEM_", "BUILD_", "AGENT_"),
    "JENKINS_URL": ("JENKINS_", "BUILD_", "HUDSON_"),
}

# Refused everywhere, so that a manifest refused in a job is not valid on a desk.
_CREDENTIALS = frozenset(
    (
        *("INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
        *("CI_JOB_TOKEN", "CI_JOB_JWT", "CI_JOB_JWT_V1", "CI_JOB_JWT_V2", "CI_REPOSITORY_URL"),
        *("CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD"),
        *("CIRCLE_OIDC_TOKEN", "CIRCLE_OIDC_TOKEN_V2", "BUILDKITE_AGENT_ACCESS_TOKEN"),
        *("BITBUCKET_STEP_OIDC_TOKEN", "SYSTEM_ACCESSTOKEN"),
    )
)
_SECRET_WORDS = ("TOKEN", "PASSWORD", "SECRET", "JWT", "KEY", "CREDENTIAL")

SHORTEST_FOUND_INSIDE = 8
WITHHELD = "M505"


@dataclass(frozen=True)
class Withheld:
    """Secrets that no manifest may send to the service: prefixes of names, and values by name.

    A value shorter than eight characters is not searched for inside other texts. Texts derived from
    the values are kept here, so that none is in memory after the run.
    """

    prefixes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    _asked: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _forms(self) -> Mapping[str, tuple[str, ...]]:
        """Return the forms of each long value, by its name."""
        return {name: _forms(value) for name, value in self.values.items() if _is_long(value)}

    def why(self, name: str, value: str) -> str:
        """Return why `${secret:NAME}` is refused, or "" if it is not.

        `value` is "" where no secrets are read.
        """
        if is_key(name):
            return "is the API key, which must never be in what the service stores and shows"
        if name in _CREDENTIALS or name.startswith(self.prefixes):
            return "is a credential of the CI system, and must not be sent to the service"
        return self.why_text(value) or self._why_equal(value)

    def why_text(self, text: str) -> str:
        """Return why a text that would be sent is refused, or "" if it is not."""
        for name, forms in self._forms.items():
            if any(form in text for form in forms):
                return f"holds the value of {name}, which must not be sent to the service in a body"
        return ""

    def _why_equal(self, value: str) -> str:
        for name, secret in self.values.items():
            if value == secret:
                return f"has the value of {name}, which must not be sent to the service in a body"
        return ""

    def lies_in(self, text: str) -> bool:
        """Return whether one of the values is in the text of a whole file."""
        if text not in self._asked:
            # A file is checked once for each document in it and each item that makes one.
            self._asked.clear()
            self._asked[text] = bool(self.why_text(text))
        return self._asked[text]

    def findings(self, document: Json, path: Path = ()) -> Iterator[Finding]:
        """Yield the texts of a document that would send such a value, whatever its origin."""
        # Most documents hold none, and are not walked with their places.
        if self._forms and self.why_text("\n".join(map(_sent, texts_in(document)))):
            for place, text in texts_at(document, path):
                if why := self.why_text(_sent(text)):
                    yield Finding(WITHHELD, place, f"{name_of(place)} {why}", suggestion=REMOVE)


def _forms(secret: str) -> tuple[str, ...]:
    """Return a secret and its base64 forms at every position in an encoded text."""
    forms = [secret]
    content = secret.encode("utf-8", "surrogateescape")
    for before in range(3):
        # The first and the last letters also encode bits of the neighbouring text.
        bits = 8 * (before + len(content))
        letters = b64encode(bytes(before) + content).decode()[(8 * before + 5) // 6 : bits // 6]
        if _is_long(letters):
            forms += [letters, letters.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(forms))


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_FOUND_INSIDE


def _sent(text: str) -> str:
    """Return the text that will be sent, without references."""
    if not isinstance(text, Template):
        return text
    values = (part.value if isinstance(part, SecretHole) else part for part in text.parts)
    return "".join(value for value in values if isinstance(value, str))


def withheld_from(environ: Mapping[str, str]) -> Withheld:
    """Return what is withheld in a process with these variables."""
    systems = (prefixes for marker, prefixes in _SYSTEMS.items() if environ.get(marker))
    prefixes = tuple(prefix for group in systems for prefix in group)
    names = [
        name
        for name in sorted(environ)
        if name in _CREDENTIALS
        or (name.startswith(prefixes) and any(word in name for word in _SECRET_WORDS))
    ]
    found = {**keys_in(environ), **{name: environ.get(name, "").strip() for name in names}}
    return Withheld(prefixes, {name: value for name, value in found.items() if value})


def along(values: Mapping[str, Json], name: str) -> tuple[Path, Json] | None:
    """Return the value of a name and the steps to it: a key, or keys joined by dots.

    The longest key that leads on is used. Returns None if there is no value.
    """
    steps: list[str] = []
    while name not in values:
        at = name.rfind(".")
        while at > 0 and not isinstance(values.get(name[:at]), dict):
            at = name.rfind(".", 0, at)
        inner = values.get(name[:at]) if at > 0 else None
        if not isinstance(inner, dict):
            return None
        steps.append(name[:at])
        name, values = name[at + 1 :], inner
    return (*steps, name), values[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One item of a `forEach`: its values and its place.

    `keys` are the keys of all items. Keys that a manifest uses are added to `used`; `named` are the
    keys that were used before.
    """

    values: Mapping[str, Json]
    text: DocumentText
    path: Path
    member: Member
    keys: frozenset[str]
    used: set[str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that expressions may use in one environment.

    `secrets` is None where no secret is needed, as in `validate`: then any name is accepted and no
    value is read. `salt` returns the salt of the seals. `withheld` lists what no manifest may use
    as a secret. `today` is the date for exemptions and rules. With `ruled`, the project's own rules
    are checked. Resources outside `selection` need no secrets, and the secrets in `unread` are not
    needed. `why_unset` returns why the value of a secret is not available. With `may_lack`, for
    runs that send nothing, a secret that is not set counts as different from every live value.
    """

    environment: str
    variables: Mapping[str, ProjectVariable] = field(default_factory=dict)
    secrets: Mapping[str, str] | None = None
    salt: Callable[[], str] = lambda: ""
    withheld: Withheld = field(default_factory=Withheld)
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    ruled: bool = True
    selection: Selection = EVERYTHING
    unread: frozenset[str] = frozenset()
    why_unset: Callable[[str], str] = lambda _: ""
    may_lack: bool = False

    @property
    def without_secrets(self) -> Scope:
        """Return the same scope, in which no secret is needed."""
        return replace(self, secrets=None)


@dataclass(frozen=True, slots=True)
class Reference:
    """A `${ref:}` expression and its place."""

    path: Path
    ref: Ref
    spot: Spot


@dataclass(slots=True)
class Filled:
    """A document after its expressions were read.

    The paths in `unfilled` still hold an expression; the reason is reported at a `forEach` item.
    """

    document: Json
    findings: list[Finding] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    grafts: dict[Path, Graft] = field(default_factory=dict)
    unfilled: set[Path] = field(default_factory=set)


def spelled(value: Json) -> str:
    """Return a variable as text for use inside a longer text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NOT_SET: Final = "\0"
"""Prefix that marks a secret as not set: no text of a service holds this character."""


def lacking(document: Json) -> list[str]:
    """Return the names of the secrets in a document that are not set (see `Scope.may_lack`)."""
    found = named_values(document)
    return sorted(name for name, value in found.items() if value.startswith(NOT_SET))


UNSET: Final = "not set"
"""The seal of a secret that is not set."""


def value_of_secret(name: str, scope: Scope) -> SecretHole:
    """Return the hole of a secret with its value in this run, even if it may not be used."""
    # Test for None only: a mapping that looks up values on request has the length 0.
    if scope.secrets is None or name in scope.unread:
        return SecretHole(name, "", "not read")
    value = "" if scope.withheld.why(name, "") else scope.secrets.get(name, "")
    if value == "" and scope.may_lack:
        value = f"{NOT_SET}{name}"
    return SecretHole(name, value, seal(value, name, scope.salt()) if value else UNSET)


NOT_DECLARED = Advice("declare it, or write the id of the one that the service has")
LOST_REFERENCE: Final = "M503"


def reference_findings(
    references: Sequence[Reference],
    known: Mapping[Ref, bool],
    environment: str,
    error_around: Callable[[Ref], Complaint | None],
) -> Iterator[Finding]:
    """Yield a finding for each reference without a target; `known` says which refs are here.

    `error_around` returns the error of a file that may declare a resource, and cannot be read.
    """
    for reference in references:
        path, ref, spot = reference.path, reference.ref, reference.spot
        if known.get(ref):
            continue
        if ref in known:
            message = (
                f"`{ref}` is limited to other environments than `{environment}` "
                "by its metadata.environments"
            )
            yield Finding(LOST_REFERENCE, path, message, spot=spot)
            continue
        error = error_around(ref)
        if error is not None:
            place = f"{error.file}:{error.line}" if error.line else error.file
            message = (
                f"`{ref}` may be declared in `{error.file}`, which cannot be read: {error.message}"
            )
            advice = Advice(f"correct {place} first")
            yield Finding(LOST_REFERENCE, path, message, suggestion=advice, spot=spot)
            continue
        near = nearest(str(ref), map(str, known))
        message = f"there is no `{ref}` in the manifests that were read"
        meant = expression(ExpressionKind.REFERENCE, near) if near else NOT_DECLARED
        yield Finding(LOST_REFERENCE, path, message, suggestion=meant, spot=spot)


OF_ITEM = "M511"
UNUSABLE = "M512"
IN_TEXT = "M513"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The place of a document in which expressions are filled in, and what it may insert.

    `trail` is the chain of files that include each other, the file of the document last.
    """

    text: DocumentText
    trail: tuple[File, ...]
    each: Each | None
    files: Includes


def fill(document: Json, scope: Scope, inside: Inside | None = None) -> Filled:
    """Insert variables, items and files, seal secrets, and leave references open.

    Errors are recorded at their place, and `grafts` has the origin of inserted parts.
    """
    filled = Filled(document)
    filled.document = _Filler(scope, filled, inside).walk(document, ())
    filled.findings.extend(scope.withheld.findings(filled.document))
    return filled


@lru_cache(maxsize=1024)
def _parts_of(text: str) -> tuple[TextPart, ...]:
    """Return the parts of a text, computed once for all items of a `forEach`."""
    return tuple(parts_of(text))


@dataclass(frozen=True, slots=True)
class _Filler:
    """Filler of a document that is written `inside`; the other results are added to `filled`."""

    scope: Scope
    filled: Filled
    inside: Inside | None

    def walk(self, document: Json, path: Path) -> Json:
        if isinstance(document, dict):
            return {key: self.walk(value, (*path, key)) for key, value in document.items()}
        if isinstance(document, list):
            return [self.walk(item, (*path, index)) for index, item in enumerate(document)]
        if isinstance(document, str) and OPEN in document:
            return self._text(document, path)
        return document

    def _text(self, text: str, path: Path) -> Json:
        parts: list[str | SecretHole | RefHole] = []
        for part in _parts_of(text):
            match part:
                case str():
                    parts.append(part)
                case Expression(word=ExpressionKind.SECRET | ExpressionKind.REFERENCE):
                    parts.append(self._hole(part, path))
                case Expression():
                    is_whole = part.spot.written == text
                    value = self._value(part, path, is_whole=is_whole)
                    if is_whole:
                        return value
                    parts.extend(value.parts if isinstance(value, Template) else [spelled(value)])
                case Malformed() | NearMiss():
                    parts.append(self._left_as_written(part, _wrong(part, path)))
                case _:
                    assert_never(part)
        if all(isinstance(part, str) for part in parts):
            return "".join(map(str, parts))
        return Template(tuple(_joined(parts)))

    def _left_as_written(self, part: Expression | Malformed | NearMiss, finding: Finding) -> str:
        self.filled.findings.append(finding)
        return part.spot.written

    def _refused(
        self, part: Expression, code: str, path: Path, message: str, suggestion: str = ""
    ) -> str:
        finding = Finding(code, path, message, suggestion=suggestion, spot=part.spot)
        return self._left_as_written(part, finding)

    def _value(self, part: Expression, path: Path, *, is_whole: bool) -> Json:
        """Return the value that replaces an expression, or the expression after an error."""
        written = part.spot.written
        if part.word is ExpressionKind.FILE:
            if is_whole:
                return self._included(part, path)
            message = f"`{written}` is inside a text: it must be all of a value"
            return self._refused(part, IN_TEXT, path, message)
        value = (
            self._variable(part, path)
            if part.word is ExpressionKind.VARIABLE
            else self._of_item(part, path, is_whole=is_whole)
        )
        if not is_whole and isinstance(value, Template):
            return value
        if not is_whole and (isinstance(value, dict | list) or value is None):
            message = f"`{written}` is {described(value)}, and is inside a text"
            advice = Advice(
                "let it be all of the value, or name a text inside of it, as in NAME.key"
            )
            return self._refused(part, IN_TEXT, path, message, advice)
        is_large = isinstance(value, dict | list) or (isinstance(value, str) and len(value) > SHORT)
        unfit = _unfit(part, value, path, self.inside) if is_large and self.inside else None
        return value if unfit is None else self._left_as_written(part, unfit)

    def _variable(self, part: Expression, path: Path) -> Json:
        name, scope = part.name, self.scope
        found = along(scope.variables, name)
        if found is not None:
            return found[1]
        near = shortened(name, scope.variables)
        if scope.variables:
            known = ", ".join(sorted(scope.variables))
            message = f"there is no variable `{name}`: known are {known}"
        else:
            message = f"environment `{scope.environment}` has no variable `{name}`"
        declare = f"declare it in reconciler.yaml, environments.{scope.environment}.variables"
        meant = expression(ExpressionKind.VARIABLE, near) if near else Advice(declare)
        return self._refused(part, "M501", path, message, meant)

    def _of_item(self, part: Expression, path: Path, *, is_whole: bool) -> Json:
        item = self.inside.each if self.inside is not None else None
        if item is None:
            message = f"`{part.spot.written}` is in a manifest without `forEach`"
            advice = Advice(f"write ${part.spot.written} for a literal, or add `forEach`")
            return self._refused(part, OF_ITEM, path, message, advice)
        found = along(item.values, part.name)
        if found is None:
            self.filled.unfilled.add(path)
            return self._left_as_written(part, _not_in_item(part, item, path))
        steps, value = found
        item.used.add(str(steps[0]))
        if is_whole:
            self.filled.grafts[path] = Graft(item.text, (*item.path, *steps))
        return value

    def _included(self, part: Expression, path: Path) -> Json:
        """Return the content of a file, with its expressions filled in where it is included."""
        inside = self.inside
        if inside is None:
            message = f"`{part.spot.written}` is not allowed here: an export is taken as it is"
            return self._refused(part, UNUSABLE, path, message)
        content = inside.files.content(part.name, inside, path)
        if content is None:
            return part.spot.written
        if isinstance(content, Finding):
            return self._left_as_written(part, replace(content, spot=part.spot))
        file, text = content
        unfit = _unfit(part, text.document.value, path, inside)
        if unfit is not None:
            return self._left_as_written(part, unfit)
        line, _ = inside.text.document.locate(path if len(inside.trail) == 1 else ())
        text = replace(text, note=f", included by {inside.text.file}:{line}")
        self.filled.grafts[path] = Graft(text, ())
        there = replace(inside, text=text, trail=(*inside.trail, file))
        return replace(self, inside=there).walk(text.document.value, path)

    def _hole(self, part: Expression, path: Path) -> SecretHole | RefHole:
        """Return the hole of a reference or a secret; record findings about a secret."""
        if part.word is ExpressionKind.REFERENCE:
            ref = Ref(*part.name.split("/", 1))
            self.filled.references.append(Reference(path, ref, part.spot))
            return RefHole(ref)
        name, scope = part.name, self.scope
        hole = value_of_secret(name, scope)
        if why := scope.withheld.why(name, hole.value):
            code, repair = WITHHELD, "remove it, or name a secret of your own"
            hole = SecretHole(name, "", "withheld")
        elif hole.seal == UNSET:
            needed = f"needs the environment variable {name}, which is not set"
            why = scope.why_unset(name) or needed
            code = "M502"
            repair = f"set it, or say under `secrets:` in the project file where {name} is"
        else:
            return hole
        message = f"`{part.spot.written}` {why}"
        self._refused(part, code, path, message, Advice(repair))
        return hole


def _joined(
    parts: list[str | SecretHole | RefHole],
) -> Iterator[str | SecretHole | RefHole]:
    """Yield the parts of a text, with adjacent plain texts joined.

    A piece alone would not show that the text reads as an expression when it is written again.
    """
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if not is_text:
            yield from group
        elif text := "".join(map(str, group)):
            yield text


def _not_in_item(part: Expression, item: Each, path: Path) -> Finding:
    name = part.name
    if name in item.keys:
        message = f"this item has no `{name}`, which others have and the manifest names"
        near = nearest(name, item.values.keys() - item.named)
        if not near:
            return Finding(OF_ITEM, item.path, message)
        # A misspelt key is reported as such, and not as unused too.
        item.used.add(near)
        return Finding(OF_ITEM, (*item.path, near), message, suggestion=name, at_key=True)
    near = nearest(name, item.keys)
    message = f"no item of `forEach` has `{name}` (they have {', '.join(sorted(item.keys))})"
    meant = near and expression(ExpressionKind.EACH, near)
    return Finding(OF_ITEM, path, message, suggestion=meant, spot=part.spot)


SHORT = 256
"""Characters of a text: many longer values could exceed the limit of one run."""


def _unfit(part: Expression, value: Json, path: Path, inside: Inside) -> Finding | None:
    """Return the finding that a value is too much to insert, or None if it is not."""
    size = inside.files.size_of(value)
    if len(path) + size.levels > DEEPEST:
        message = (
            f"what `{part.spot.written}` gives would be nested deeper than {DEEPEST} levels here"
        )
        return Finding("M109", path, message, spot=part.spot)
    return None if inside.files.spend(size) else too_much(path)


def too_much(path: Path) -> Finding:
    """Return the finding that the limit of a run is reached."""
    message = (
        f"`forEach`, variables and included files make more than {MOST_MADE:,} values or "
        f"{LARGEST_MADE >> 20} MB of text in this run: from here, nothing more is made"
    )
    return Finding("M115", path, message, suggestion=LESS)


LESS = Advice("use fewer items, environments or includes, or divide the project")


def _wrong(part: Malformed | NearMiss, path: Path) -> Finding:
    written = part.spot.written
    match part:
        case Malformed(word=word):
            message = f"`{written}` is malformed: write {form_of(word)}, or {LITERAL} for a literal"
            return Finding("M504", path, message, spot=part.spot)
        case NearMiss(meant=meant, sure=sure):
            literal = f"${written}"
            message = (
                f"`{written}` is no expression, though near one: write `{literal}` for a literal"
                if sure
                else f"`{written}` is sent as text; `{literal}` says that this is meant"
            )
            severity = Severity.ERROR if sure else Severity.WARNING
            return Finding("M504", path, message, severity, meant, spot=part.spot)
        case _:
            assert_never(part)


MOST_TRAILED = 8
"""Limit for the depth of files that include each other."""
MOST_INCLUDED = 50_000
"""Limit of inclusions in one run: a few files that include each other can make millions."""
_LESS = Advice("include fewer files, or one that holds what several of them hold")


class Size(NamedTuple):
    """The size of a value: its nodes, the characters of its keys and texts, and its levels."""

    nodes: int
    text: int
    levels: int


_SCALAR = Size(1, 0, 0)


@dataclass(slots=True)
class Includes:
    """Reader of included files that reads each file once and counts how much is made.

    `keep` receives the complaints about the text of a file, once for each file. The sizes of values
    are remembered by the identity of each value.
    """

    root: File
    sources: Sources[SpecReport]
    keep: Callable[[Complaint], bool]
    readings: dict[File, Reading | Complaint] = field(default_factory=dict)
    real: set[File] = field(default_factory=set)
    sizes: dict[int, tuple[Json, Size]] = field(default_factory=dict)
    real_of: Callable[[File], File] = field(default_factory=lambda: cache(_real))
    targets: dict[tuple[File, str], tuple[File, str, str]] = field(default_factory=dict)

    def size_of(self, value: Json) -> Size:
        """Return the size of a value."""
        if isinstance(value, str):
            return Size(1, len(value), 0)
        if not isinstance(value, dict | list):
            return _SCALAR
        known = self.sizes.get(id(value))
        if known is None:
            inner = [
                self.size_of(member)
                for member in (value.values() if isinstance(value, dict) else value)
            ]
            size = Size(
                1 + sum(size.nodes for size in inner),
                sum(size.text for size in inner)
                + (sum(map(len, value)) if isinstance(value, dict) else 0),
                1 + max((size.levels for size in inner), default=0),
            )
            # The value is kept too, so that no other value gets its id.
            known = value, size
            self.sizes[id(value)] = known
        return known[1]

    def spend(self, size: Size) -> bool:
        """Add a size to what is made; return whether the total is within the limits."""
        self.sources.nodes_made += size.nodes
        self.sources.text_made += size.text
        return self.sources.nodes_made <= MOST_MADE and self.sources.text_made <= LARGEST_MADE

    def content(
        self, named: str, inside: Inside, path: Path
    ) -> tuple[File, DocumentText] | Finding | None:
        """Return the content of a file or the reason against it; None if it is already reported."""
        self.sources.included += 1
        if self.sources.included > MOST_INCLUDED:
            message = f"files are included more than {MOST_INCLUDED:,} times in this run"
            is_first = self.sources.included == MOST_INCLUDED + 1
            return _unusable(path, named, message, _LESS) if is_first else None
        file, name, why_never = self._target(named, inside)
        why_not = why_never or self._why_not(file, inside)
        if why_not:
            return _unusable(path, named, why_not)
        reading = self._reading(file, name, inside)
        if isinstance(reading, Complaint):
            near = reading.suggestion and str(File(named).with_name(reading.suggestion))
            repair = near and expression(ExpressionKind.FILE, near)
            return _unusable(path, named, reading.message, repair)
        self.real.add(self.real_of(file))
        if reading.has_errors:
            return None
        documents = [document for document in reading.documents if document.value is not None]
        if len(documents) == 1:
            return file, DocumentText(name, documents[0])
        return _unusable(path, named, f"it holds {len(documents) or 'no'} documents, and not one")

    def _target(self, named: str, inside: Inside) -> tuple[File, str, str]:
        """Return a file, its name, and why it is never read; once for each including file."""
        key = inside.trail[-1], named
        if key not in self.targets:
            file = key[0].parent / named
            why_never = _why_never(named, file, self.real_of(file), self.sources.roots)
            self.targets[key] = file, display_name(file, self.root), why_never
        return self.targets[key]

    def _why_not(self, file: File, inside: Inside) -> str:
        """Return why a file is not read in this chain of inclusions, or "" if it is."""
        if self.real_of(file) in map(self.real_of, inside.trail):
            names = (display_name(path, self.root) for path in (*inside.trail, file))
            return f"files include each other: {' → '.join(names)}"
        if len(inside.trail) > MOST_TRAILED:
            return f"files include one another deeper than {MOST_TRAILED}"
        return ""

    def _reading(self, file: File, name: str, inside: Inside) -> Reading | Complaint:
        """Read a file, and report the errors of its text once."""
        known = self.readings.get(file)
        if known is None:
            known = self.sources.read(file, name, is_json=file.suffix == ".json")
            self.readings[file] = known
            if isinstance(known, Reading):
                note = f", included by {inside.text.file}"
                for complaint in complaints_of_text(name, known):
                    self.keep(replace(complaint, message=complaint.message + note))
        return known


def _why_never(named: str, file: File, real: File, roots: tuple[File, ...]) -> str:
    """Return why a file is never read, or "" if it may be."""
    if named.startswith(("/", "~")):
        return "it must be relative to the file that includes it"
    if file.suffix not in SUFFIXES:
        return "only YAML and JSON are included: write its text as YAML, after `|`"
    if not any(real.is_relative_to(root) for root in roots):
        return "this file leads out of the project folder"
    return ""


def _real(file: File) -> File:
    try:
        return file.resolve()
    except (OSError, RuntimeError, ValueError):
        # A path that cannot be resolved cannot be read either, and the read reports that.
        return file


def _unusable(path: Path, named: str, reason: str, repair: str = "") -> Finding:
    return Finding(UNUSABLE, path, f"`{named}` cannot be included: {reason}", suggestion=repair)
