"""Reading of the fields around `spec`, and the finding about a file that is no manifest.

Source: docs/manifests.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from reconciler.document import ABSENT, Json, Path, day_of, value_at
from reconciler.kinds import BY_NAME
from reconciler.kinds.checks import NO_ITEMS, described, is_mappings, meant_number, wanted_of
from reconciler.kinds.field_traits import MANIFEST, METADATA
from reconciler.kinds.judge_spec import kind_hinted, kind_like
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import EACH, facts_of, places
from reconciler.model import API_VERSION, Exemption, RemoteId
from reconciler.project.levels import has_a_level, why_no_level
from reconciler.runtime.advice import from_export, is_added
from reconciler.syntax.diagnostic import REMOVE, Advice, Finding, Severity, warning
from reconciler.syntax.files import File
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.expression_scope import spelled

EXEMPT = ("metadata", "exempt")
FIELDS = ("reason", "until")


def read_exemptions(
    exempt: Json, rules: Collection[str], today: date, into: dict[str, Exemption]
) -> Iterator[Finding]:
    """Add the exemptions that are valid today to `into`, by code; yield findings about errors.

    `rules` are the names of the project's own rules.
    """
    if not isinstance(exempt, dict):
        message = (
            "`exempt` must be a mapping of codes to reasons, as `L201: it calls no one at night`"
        )
        yield Finding("M210", EXEMPT, message)
        return
    for code, value in exempt.items():
        path = (*EXEMPT, code)
        if not has_a_level(code, rules):
            message, near = why_no_level(code, rules)
            yield Finding("M210", path, message, suggestion=near, at_key=True)
        found = yield from _read_exemption(value, path)
        if found is None:
            continue
        if found.until is not None and found.until < today:
            message = (
                f"this exemption ended with {found.until} and no longer applies: fix what "
                f"{code} reports, or say until when it may stay"
            )
            yield warning("M211", (*path, "until"), message)
        else:
            into[code] = found


def _read_exemption(value: Json, path: Path) -> Generator[Finding, None, Exemption | None]:
    fields = value if isinstance(value, dict) else {"reason": value}
    for key in fields:
        if key not in FIELDS:
            message = f"unknown field `{key}` in an exemption (known: {', '.join(FIELDS)})"
            near = nearest(key, FIELDS)
            yield Finding("M210", (*path, key), message, suggestion=near, at_key=True)
    reason, until = fields.get("reason"), fields.get("until")
    inside = (*path, "reason") if isinstance(value, dict) else path
    if not isinstance(reason, str) or not reason.strip():
        message = "an exemption needs a reason: a text that says why this may be so here"
        yield Finding("M210", inside, message)
        return None
    if until is None:
        return Exemption(reason)
    day = day_of(until)
    if day is None:
        message = "`until` must be the last day that it holds, as 2026-12-31"
        yield Finding("M210", (*path, "until"), message)
        return None
    return Exemption(reason, day)


UNKNOWN = "M208"

REQUIRED_FIELDS = tuple(name for name, field in MANIFEST.items() if field.required)
"""A manifest has at least one of these fields."""

METADATA_FIELDS = tuple(METADATA)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
LONGEST_NAME = 253
_IMPORTED = "; of an export, `reconciler import --from FILE` makes the whole manifest"
ID_SOURCE = Advice(
    "make it in the web interface, and copy its id from there" + _IMPORTED * is_added("import")
)
"""Advice on the id of a resource that the API cannot create."""
COPIED = Advice("copy it from the web interface")
COPIED_OR_NONE = Advice("copy it from the web interface, or remove it for what is new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Inputs for reading an envelope: the environments of the project file and the current one.

    `rules` are the names of the project's own rules.
    """

    environments: Mapping[str, object]
    environment: str
    today: date
    rules: Collection[str] = ()


def read_envelope(document: dict[str, Json], around: Around) -> Envelope:
    """Read a manifest's envelope as it is in one environment."""
    envelope = Envelope(document, around)
    if document.keys().isdisjoint(REQUIRED_FIELDS):
        # Some other YAML, such as a compose file: one complaint is enough.
        message = f"this is not a manifest: it has none of {', '.join(REQUIRED_FIELDS)}"
        envelope.findings.append(Finding("M201", (), message))
    else:
        envelope.read()
    return envelope


@dataclass(slots=True)
class Envelope:
    """The envelope of a document in one environment, as far as it could be read."""

    document: dict[str, Json]
    around: Around
    kind: Kind | None = None
    name: str = ""
    remote_id: RemoteId | None = None
    labels: dict[str, str] = field(default_factory=dict)
    environments: tuple[str, ...] | None = None
    protect: bool = False
    exempt: dict[str, Exemption] = field(default_factory=dict)
    spec: dict[str, Json] | None = None
    findings: list[Finding] = field(default_factory=list)

    def read(self) -> None:
        """Read all fields of the document."""
        document = self.document
        self.findings.extend(_unknown_fields(document, tuple(MANIFEST), ()))
        self._read_version()
        self._read_kind()
        metadata = document.get("metadata")
        if isinstance(metadata, dict):
            self._read_metadata(metadata)
            self._read_identity(metadata)
        elif "metadata" in document:
            message = f"`metadata` must be a mapping with a `name`, not {_shown(metadata)}"
            repair = NO_ITEMS if is_mappings(metadata) else ""
            self._complain("M204", ("metadata",), message, repair)
        elif document.keys().isdisjoint(METADATA):
            message = "`metadata` with a `name` is required"
            self._miss(
                "metadata", "M204", message, f"add `metadata: {{name: {self._better_name}}}`"
            )
        spec = document.get("spec")
        if isinstance(spec, dict):
            self.spec = spec
        elif "spec" in document:
            self._refuse_spec(spec)
        elif value_at(document, ("metadata", "spec")) is ABSENT:
            # A field that was indented too far is already reported.
            repair = "add it after `metadata`, with the fields of the resource below it"
            self._miss("spec", "M302", "`spec` is required", repair)

    def _complain(
        self, code: str, path: Path, message: str, repair: str = "", *, at_key: bool = False
    ) -> None:
        self.findings.append(Finding(code, path, message, suggestion=repair, at_key=at_key))

    def _miss(self, key: str, code: str, message: str, repair: str) -> None:
        """Report that a field is missing, unless it is reported as misspelt."""
        if not self._is_misspelt(key):
            self._complain(code, (), message, Advice(repair))

    def _is_misspelt(self, key: str) -> bool:
        return any(
            finding.code == UNKNOWN and finding.suggestion == key for finding in self.findings
        )

    def _refuse_spec(self, spec: Json) -> None:
        """Report a `spec` that is no mapping; its fields may lack indentation."""
        known = facts_of(self.kind.spec) if self.kind else {}
        unindented = [key for key in self.document if key in known and key not in MANIFEST]
        if spec is None and unindented:
            there = {(key,) for key in unindented}
            self.findings = [finding for finding in self.findings if finding.path not in there]
            names = ", ".join(f"`{key}`" for key in unindented)
            message = f"`spec` is empty, and its fields are next to it: {names}"
            self._complain("M301", ("spec",), message, Advice("indent them by two blanks"))
            return
        wanted = wanted_of(self.kind.spec) if self.kind else "a mapping"
        repair = NO_ITEMS if is_mappings(spec) else ""
        self._complain("M301", ("spec",), f"`spec` must be {wanted}, not {_shown(spec)}", repair)

    def _read_version(self) -> None:
        version = self.document.get("apiVersion")
        if version is None:
            message = f"`apiVersion: {API_VERSION}` is required"
            if "apiVersion" in self.document:
                self._complain("M202", ("apiVersion",), message)
            else:
                self._miss("apiVersion", "M202", message, "add it as the first key")
        elif version != API_VERSION:
            message = f"unknown apiVersion {_shown(version)}"
            self._complain("M202", ("apiVersion",), message, API_VERSION)

    def _read_kind(self) -> None:
        kind = self.document.get("kind")
        if kind is None:
            meant = kind_hinted(self.document.get("spec"))
            repair = f"add `kind: {meant.name}`" if meant else "add the one that is meant"
            self._miss("kind", "M203", f"`kind` is required: one of {', '.join(BY_NAME)}", repair)
        elif isinstance(kind, str) and kind in BY_NAME:
            self.kind = BY_NAME[kind]
        else:
            near = shortened(kind, BY_NAME) if isinstance(kind, str) else ""
            message = f"unknown kind {_shown(kind)} (known: {', '.join(BY_NAME)})"
            self._complain("M203", ("kind",), message, near)

    def _read_metadata(self, metadata: dict[str, Json]) -> None:
        self.findings.extend(_unknown_fields(metadata, METADATA_FIELDS, ("metadata",)))
        if "name" in metadata or not ("name" in self.document or self._is_misspelt("name")):
            self._read_name(metadata.get("name"))
        self._read_labels(metadata.get("labels"))
        self._read_environments(metadata.get("environments"))
        protect = metadata.get("protect", False)
        if isinstance(protect, bool):
            self.protect = protect
        else:
            message = f"`protect` must be true or false, not {_shown(protect)}"
            self._complain("M204", ("metadata", "protect"), message, _TRUTHS.get(str(protect), ""))
        exempt, around = metadata.get("exempt"), self.around
        if exempt is not None:
            found = read_exemptions(exempt, around.rules, around.today, self.exempt)
            self.findings.extend(found)

    @property
    def _better_name(self) -> str:
        """A name for a manifest that has none, from what it declares."""
        name = value_at(self.document, ("spec", "name"))
        return ("" if name is ABSENT else better_name(name)) or "NAME"

    def _read_name(self, name: Json) -> None:
        if name is None:
            repair = Advice(f"add `name: {self._better_name}`")
            self._complain("M205", ("metadata",), "`metadata.name` is required", repair)
        elif isinstance(name, str) and len(name) <= LONGEST_NAME and NAME.fullmatch(name):
            self.name = name
        else:
            message = (
                f"{_shown(name)} is not a name: lower-case letters, digits and `.`, `_`, `-`, "
                f"a letter or digit first, at most {LONGEST_NAME}"
            )
            self._complain("M205", ("metadata", "name"), message, better_name(name))

    def _read_identity(self, metadata: dict[str, Json]) -> None:
        """Read `id`, or this environment's id in `ids`; all ids are checked."""
        kind, environment = self.kind, self.around.environment
        value, ids = metadata.get("id"), metadata.get("ids")
        if kind is None:
            return
        if value is not None:
            self.remote_id = self._id_of(kind, value, ("metadata", "id"))
        if value is not None and ids is not None:
            message = (
                "`id` and `ids` exclude each other: `id` is for all environments, `ids` for each"
            )
            self._complain("M206", _IDS, message, Advice("remove one of them"), at_key=True)
        elif isinstance(ids, dict):
            self._read_ids(ids, kind, environment)
        elif ids is not None:
            message = f"`ids` must be a mapping of environments to ids, not {_shown(ids)}"
            self._complain("M204", _IDS, message)
        elif value is None and kind.id_form.required:
            message = f"`metadata.id` is required: {kind.id_form.words}. {kind.limits}"
            self._complain("M206", ("metadata",), message, ID_SOURCE)

    def _read_ids(self, ids: dict[str, Json], kind: Kind, environment: str) -> None:
        for name, value in ids.items():
            self._check_environment(name, (*_IDS, name), at_key=True)
            remote_id = self._id_of(kind, value, (*_IDS, name))
            self.remote_id = remote_id if name == environment else self.remote_id
        is_here = self.environments is None or environment in self.environments
        if environment not in ids and kind.id_form.required and is_here:
            message = (
                f"`metadata.ids` has no id for `{environment}`, and one is required: "
                f"{kind.id_form.words}. Add it, or limit the manifest by `metadata.environments`"
            )
            self._complain("M206", _IDS, message, at_key=True)

    def _id_of(self, kind: Kind, value: Json, path: Path) -> RemoteId | None:
        """Return an id; report a value that is none."""
        remote_id = kind.id_form.parse(value)
        if remote_id is None:
            near = meant_number(value, is_whole=True) if isinstance(value, str) else ""
            meant = near if near and kind.id_form.parse(int(near)) is not None else ""
            given = f"the text {_shown(value)}" if meant else _shown(value)
            message = f"the id of this {kind.name} must be {kind.id_form.words}; it is {given}"
            copied = COPIED if kind.id_form.required else COPIED_OR_NONE
            remedy = REMOVE if kind.singleton else copied
            self._complain("M206", path, message, meant or remedy)
        return remote_id

    def _read_labels(self, labels: Json) -> None:
        path = ("metadata", "labels")
        if labels is not None and not isinstance(labels, dict):
            message = f"`labels` must be a mapping of text, not {_shown(labels)}"
            self._complain("M204", path, message, _meant_labels(labels))
            return
        for key, value in (labels or {}).items():
            if isinstance(value, str):
                self.labels[key] = value
            else:
                message = f"the label `{key}` must be text, not {_shown(value)}"
                scalar = "null" if value is None else spelled(value)
                quoted = "" if isinstance(value, list | dict) else f'"{scalar}"'
                self._complain("M204", (*path, key), message, quoted)

    def _read_environments(self, names: Json) -> None:
        path = ("metadata", "environments")
        if names is None:
            return
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            meant = f"[{names}]" if isinstance(names, str) and NAME.fullmatch(names.lower()) else ""
            repair = meant or Advice("write it as `[NAME, NAME]`")
            self._complain("M204", path, "`environments` must be a list of names", repair)
            return
        self.environments = tuple(map(str, names))
        for index, name in enumerate(self.environments):
            self._check_environment(name, (*path, index))

    def _check_environment(self, name: str, path: Path, *, at_key: bool = False) -> None:
        known = self.around.environments
        if known and name not in known:
            message = f"`{name}` is not an environment of reconciler.yaml"
            message += f" (known: {', '.join(sorted(known))})"
            near = shortened(name, known) or NO_ENVIRONMENT
            self._complain("M207", path, message, near, at_key=at_key)


NO_ENVIRONMENT = Advice("choose one of these, or add it under `environments:` in reconciler.yaml")
_IDS = ("metadata", "ids")
_TRUTHS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def _unknown_fields(
    document: dict[str, Json], known: tuple[str, ...], path: tuple[str, ...]
) -> Iterator[Finding]:
    place = "metadata" if path else "a manifest"
    for key in document:
        if path and key in MANIFEST:
            message = f"`{key}` is inside `metadata`: unindent it, to the column of `metadata`"
            yield Finding(UNKNOWN, (*path, key), message, at_key=True)
        elif not path and key in METADATA and key not in known:
            yield _beside_metadata(document, key)
        elif key not in known:
            near = nearest(key, known)
            message = f"unknown field `{key}` in {place} (known: {', '.join(known)})"
            yield Finding(UNKNOWN, (*path, key), message, suggestion=near, at_key=True)


def _beside_metadata(document: dict[str, Json], key: str) -> Finding:
    """Return the finding about a field that is one level too high."""
    message = f"`{key}` is next to `metadata`, and belongs inside"
    repair = "move it there, indented by two blanks"
    if "metadata" not in document:
        message = f"`{key}` belongs inside `metadata`, which is missing"
        repair = "write a line `metadata:` above it, and indent it by two blanks"
    return Finding(UNKNOWN, (key,), message, suggestion=Advice(repair), at_key=True)


def better_name(name: Json) -> str:
    """Return the name that was probably meant, or "" if none can be guessed."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        return ""
    better = re.sub(r"[^a-z0-9._-]+", "-", str(name)[:LONGEST_NAME].lower()).strip("-._")
    return f'"{better}"' if isinstance(name, int) else better


def has_id(document: dict[str, Json]) -> bool:
    """Return whether a manifest has the id of an object of the service."""
    ids = (value_at(document, ("metadata", name)) for name in ("id", "ids"))
    return any(value not in (None, ABSENT) for value in ids)


_PAIRS = re.compile(
    r"[A-Za-z0-9_.-]+[=:][A-Za-z0-9_.-]+(?: *, *[A-Za-z0-9_.-]+[=:][A-Za-z0-9_.-]+)*"
)


def _meant_labels(labels: Json) -> str:
    """Return the repair of labels written as a list, or as `team=payments,tier=one`."""
    if isinstance(labels, str) and _PAIRS.fullmatch(labels):
        pairs = [re.split("[=:]", part.strip(), maxsplit=1) for part in labels.split(",")]
        return "{" + ", ".join(f"{key}: {plain(value)}" for key, value in pairs) + "}"
    return NO_ITEMS if is_mappings(labels) else Advice("write each as `KEY: VALUE`")


def _shown(value: Json) -> str:
    return f"`{value}`" if isinstance(value, str) else described(value)


def plain(text: str) -> str:
    """Return a text as a YAML scalar on one line, quoted where necessary."""
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._/-]*", text) is not None
    return text if is_plain else json.dumps(text, ensure_ascii=False)


RESOURCE: Final = "monitoring.coreos.com/"


def is_openslo(document: Json) -> bool:
    """Return whether a document is of OpenSLO, of any version and kind."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    return isinstance(version, str) and version.startswith("openslo")


def is_rule_file(document: Json) -> bool:
    """Return whether a document is a rule file of Prometheus or a Kubernetes PrometheusRule."""
    version = value_at(document, ("apiVersion",))
    # Kubernetes has the groups below `spec`.
    head = ("spec",) if isinstance(version, str) and version.startswith(RESOURCE) else ()
    return any(
        isinstance(rule, dict)
        and isinstance(rule.get("expr"), str)
        and ("alert" in rule or "record" in rule)
        for _, rule in places(document, *head, "groups", EACH, "rules", EACH)
    )


def is_grafana(document: Json) -> bool:
    """Return whether a document is a Grafana dashboard, as exported or as its API returns it."""
    inner = document.get("dashboard") if isinstance(document, dict) else None
    for value in (document, inner):
        if isinstance(value, dict) and isinstance(value.get("schemaVersion"), int):
            return isinstance(value.get("panels"), list) or isinstance(value.get("rows"), list)
    return False


STRANGERS: Final[tuple[tuple[str, Callable[[Json], bool]], ...]] = (
    ("a document of OpenSLO", is_openslo),
    ("a rule file of Prometheus", is_rule_file),
    ("a dashboard of Grafana", is_grafana),
)


def stranger_in(document: Json) -> str:
    """Return the description of a document of another tool, or "" if it is of no known tool."""
    return next((description for description, is_match in STRANGERS if is_match(document)), "")


_VERSION_OF_KUBERNETES = re.compile(r"(?:[a-z0-9.-]+/)?v[0-9]+(?:(?:alpha|beta)[0-9]+)?")
ELSEWHERE = Advice("leave it out with `exclude:` in reconciler.yaml, or move it away")


def is_of_kubernetes(document: dict[str, Json]) -> bool:
    """Return whether a document is a Kubernetes resource of a kind that resembles none of ours."""
    version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str) or version == API_VERSION:
        return False
    is_version = _VERSION_OF_KUBERNETES.fullmatch(version) is not None
    return is_version and kind not in BY_NAME and not shortened(kind, BY_NAME)


def record_finding(file: File, value: Json, code: str, severity: Severity) -> Finding | None:
    """Return what a bare record is and how to make a manifest of it; None if it is not known."""
    can_import = is_added("import")
    if stranger := stranger_in(value):
        message = f"this is {stranger}, and no manifest"
        remedy = f"make manifests of it with `{from_export(file.name)}`"
        if can_import:
            message += f": import it, and {ELSEWHERE}"
        return Finding(code, (), message, severity, Advice(remedy) if can_import else ELSEWHERE)
    if isinstance(value, dict) and is_of_kubernetes(value):
        message = f"this is a `{value['kind']}` of Kubernetes, and no manifest of this tool"
        return Finding(code, (), message, severity, ELSEWHERE)
    kind = kind_like(value)
    if kind is None:
        return None
    message = f"this looks like an exported {kind.name}, and is no manifest"
    if kind.from_export is not None and file.is_json:
        name = better_name(file.path.stem) or "NAME"
        head = f"apiVersion: {API_VERSION}, kind: {kind.name}, metadata: {{name: {plain(name)}}}"
        manifest = f"{{{head}, spec: {{file: {plain(file.path.name)}}}}}"
        return Finding(
            code, (), message, severity, Advice(f"write a manifest next to it: {manifest}")
        )
    remedy = f"make a manifest of it with `{from_export(file.name)}`, then remove it here"
    return Finding(code, (), message, severity, Advice(remedy) if can_import else ELSEWHERE)
