"""The settings of reconciler.yaml, and the places of journals, one for each shard of resources.

Source: docs/ci.md for shards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

from pydantic import BaseModel, Field, PrivateAttr, create_model, field_validator, model_validator
from pydantic_core import PydanticCustomError

from reconciler.errors import InvalidInput, UsageError
from reconciler.model.assumptions import STRICT, Assumptions, must
from reconciler.model.guards import GuardLevel, OwnRule
from reconciler.project.levels import Checks
from reconciler.runtime.rows import Rows
from reconciler.syntax.files import ANY_STEPS, LARGEST_WORKSPACE, MOST_FILES, lead_to
from reconciler.syntax.parsed_text import DocumentText

SHARD = "{shard}"
"""The placeholder in `journal:` that each shard replaces, so that it has its own journal."""

MOST_SHARDS = 256
"""The largest number of jobs in a matrix of the forge."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard: part `number` of `count`, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        """Return the shard as people write it, as `2/4`."""
        return f"{self.number}/{self.count}"

    @property
    def key(self) -> str:
        """The shard in names of files, refs and objects, as `2-of-4`."""
        return f"{self.number}-of-{self.count}"


def read_shard(text: str) -> Shard:
    """Read `2/4`. Raises UsageError with what the text must be."""
    found = re.fullmatch(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})", text)
    if found is not None:
        number, count = map(int, found.groups())
        if number <= count <= MOST_SHARDS:
            return Shard(number, count)
    raise UsageError(
        f"`{text}` is no shard: it is NUMBER/COUNT, as 2/4, counted from 1, {MOST_SHARDS} at most"
    )


def check_filled(journal: str) -> None:
    """Raise InvalidInput where a journal needs a shard, and none was selected."""
    if SHARD in journal:
        raise InvalidInput(
            f"`journal: {journal}` is one journal for each shard, and no shard is selected: add "
            "`--select shard:1/4`, or `--shard 1/4` to a command that works with a journal alone"
        )


def first_filled(journal: str) -> str:
    """Return the journal of shard 1/1."""
    return journal.replace(SHARD, Shard(1, 1).key)


_MB = 1 << 20


class _Strict(BaseModel):
    model_config = STRICT


class Extent(_Strict):
    """The largest number of files of a workspace, and their largest total size."""

    files: Annotated[int, Field(ge=1, description="How many files are read in one run.")] = (
        MOST_FILES
    )
    megabytes: Annotated[
        int, Field(ge=1, description="How large they may be together, in MB of 1,048,576 bytes.")
    ] = LARGEST_WORKSPACE // _MB

    @property
    def size(self) -> int:
        """The largest total size, in bytes."""
        return self.megabytes * _MB


class SecretPlace(_Strict):
    """The place of one secret's value: a variable, a file, or the output of a command."""

    environment: Annotated[
        str | None,
        Field(min_length=1, description="The environment variable that holds it."),
    ] = None
    file: Annotated[
        str | None,
        Field(
            min_length=1,
            description="The file that holds it, as /run/secrets/db: below the project file's "
            "folder, or absolute. One line break at its end is no part of it.",
        ),
    ] = None
    command: Annotated[
        list[str] | None,
        Field(
            min_length=1,
            description="A program and its arguments, run without a shell, that prints it. One "
            "line break at its end is no part of it.",
        ),
    ] = None

    @model_validator(mode="after")
    def _is_one(self) -> SecretPlace:
        places = [self.environment, self.file, self.command]
        if sum(place is not None for place in places) != 1:
            words = "a secret has one of `environment`, `file` and `command`"
            raise PydanticCustomError("secret_place", "{said}", {"said": words})
        if any("\0" in value for value in (self.file or "", *(self.command or ()))):
            raise PydanticCustomError("secret_place", "{said}", {"said": "must not hold a NUL"})
        if self.command is not None and not self.command[0]:
            raise PydanticCustomError("secret_place", "{said}", {"said": "names no program"})
        return self


T = TypeVar("T")

ENVIRONMENT_SETTINGS: Final = Rows[object]("environment-settings")
PROJECT_SETTINGS: Final = Rows[object]("project-settings")
"""Settings of features, by their names in YAML: annotations with a default and a description."""


@dataclass(frozen=True, slots=True)
class InFile:
    """A file, for the runs of one machine."""

    store: ClassVar[str] = "file_store"
    is_in_repository: ClassVar[bool] = False
    path: Path

    @property
    def file(self) -> Path | None:
        """The file."""
        return self.path


@dataclass(frozen=True, slots=True)
class InGit:
    """A ref of the repository's remote; `remote` is "" for the default remote."""

    store: ClassVar[str] = "git_store"
    is_in_repository: ClassVar[bool] = True
    file: ClassVar[Path | None] = None
    ref: str
    remote: str


@dataclass(frozen=True, slots=True)
class InObjects:
    """A prefix of a bucket, as `s3://BUCKET/PREFIX`."""

    store: ClassVar[str] = "object_store"
    is_in_repository: ClassVar[bool] = False
    file: ClassVar[Path | None] = None
    url: str

    def __str__(self) -> str:
        """Return its address."""
        return self.url


JournalPlace: TypeAlias = InFile | InGit | InObjects
"""`store` is the module of `reconciler.journal` that opens it, by its function `opened`.

Two attributes decide in CI whether it may be used: `file` is its file on this machine, None for
none; `is_in_repository` is true if the git settings of the checkout say where it is.
"""

FORMS = "a path, `git:REF`, `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`"

_OBJECTS = re.compile(r"(s3|gs|az)://[A-Za-z0-9][A-Za-z0-9._-]{1,254}(/[A-Za-z0-9._=-]+)*/?")
# Git's own rules for names (git-check-ref-format), with fewer allowed characters.
_REF = re.compile(r"refs(/(?!\.)[A-Za-z0-9._-]+(?<!\.)(?<!\.lock)){2,}")
_TAKEN = {"heads", "tags", "remotes", "notes", "replace", "stash", "bisect", "worktree"}
_OF_FORGES = {"changes", "for", "keep-around", "merge-requests", "pull"}


def parse_journal_place(text: str) -> JournalPlace:
    """Read a `journal:` setting; a path stays as it was written.

    Raises ValueError with what the setting must be.
    """
    for prefix, read in _READERS.items():
        if text.startswith(prefix):
            return read(text)
    if not text.strip() or "\0" in text:
        raise ValueError(f"must be {FORMS}")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
        raise ValueError(f"must be {FORMS}; `{text}` is none of these")
    return InFile(Path(text))


def _in_objects(text: str) -> InObjects:
    if not _OBJECTS.fullmatch(first_filled(text)) or "/.." in text:
        raise ValueError("must be like s3://BUCKET/PREFIX, of letters, digits and `._=-`")
    return InObjects(text.rstrip("/"))


def _in_git(text: str) -> InGit:
    ref, at, remote = text.removeprefix("git:").partition("@")
    if not _REF.fullmatch(first_filled(ref)) or ".." in ref:
        raise ValueError("must be like git:refs/reconciler/production, or with @REMOTE at its end")
    namespace = ref.split("/")[1]
    if namespace in _TAKEN | _OF_FORGES:
        reason = f"a journal needs a ref of its own: refs/{namespace} belongs to git or the forge"
        raise ValueError(f"must not be there: {reason}, so take refs/reconciler/production")
    if at and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._/-]*", remote):
        raise ValueError("must name a remote of the repository after the @")
    return InGit(ref, remote)


_READERS: Final[Mapping[str, Callable[[str], JournalPlace]]] = {
    "git:": _in_git,
    **dict.fromkeys(("s3://", "gs://", "az://"), _in_objects),
}
"""Readers of a `journal:` setting that is no path, by its beginning. They raise ValueError."""


ProjectVariable: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any]


class Limits(_Strict):
    """The largest change of a kind that one apply may make without consent."""

    max_change_percent: Annotated[
        int,
        Field(
            ge=0,
            le=100,
            alias="maxChangePercent",
            description="The share of a kind's resources that one apply may update, destroy, "
            "disable or lower in priority, once `minimum` of them are known.",
        ),
    ] = 30
    minimum: Annotated[
        int, Field(ge=0, description="Below this many known resources of a kind, no share counts.")
    ] = 10
    max_changes: Annotated[
        int | None,
        Field(
            ge=0,
            alias="maxChanges",
            description="How many of a kind's resources one apply may so change, however many "
            "are known; left out, only the share counts.",
        ),
    ] = None


OVERWRITES_EDIT = "overwrites-edit"
TAKES_OVER = "takes-over"
POLICY_SAMPLES = "policy-samples"
UNDOES_ROLLBACK = "undoes-rollback"
ALLOWABLE = (OVERWRITES_EDIT, TAKES_OVER, POLICY_SAMPLES, UNDOES_ROLLBACK)
"""Values of `allow` besides the codes of kinds and of rules."""


class Guards(Limits):
    """The changes that an apply may make without consent, for each environment."""

    kinds: Annotated[
        dict[str, Limits],
        Field(description="Limits of single kinds; what one leaves out is as for all kinds."),
    ] = {}
    allow: Annotated[
        list[str],
        Field(
            description="What needs no consent here, by the codes of docs/guards.md, "
            "as slo-target-lowered."
        ),
    ] = []
    levels: Annotated[
        dict[str, Literal["explicit"]],
        Field(
            description="Codes that a review of the plan does not consent to here, as "
            "`alert-deleted: explicit`; no level can be lowered."
        ),
    ] = {}

    def of(self, kind: str) -> Limits:
        """Return the limits of one kind."""
        own = self.kinds.get(kind)
        if own is None:
            return self
        own_limits = {name: getattr(own, name) for name in own.model_fields_set}
        return self.model_copy(update=own_limits)


def _with_added_settings(name: str, core: type[_Extended]) -> type[_Extended]:
    fields: dict[str, Any] = {key: core.added.load(key) for key in core.added}
    return create_model(name, __base__=core, __doc__=core.__doc__, __module__=__name__, **fields)


class EmbeddedEmulator(_Strict):
    """An emulator in the same process, stored in one SQLite file."""

    data: Annotated[
        str,
        Field(description="The SQLite file: below the project file's folder, or absolute."),
    ]


@runtime_checkable
class OfflineSetting(Protocol):
    """A setting of a feature that differs for a plan on an emulator, which no person uses."""

    def offline(self) -> object:
        """Return the setting without what concerns people."""


class _Extended(_Strict):
    """A part of the project file that features add settings to."""

    added: ClassVar[Rows[object]]

    def setting(self, name: str, sort: type[T]) -> T | None:
        """Return a setting of a feature by its name in YAML; None if it has another type.

        Without the feature, it is None too.
        """
        value = getattr(self, name, None)
        return value if isinstance(value, sort) else None

    def settings_given(self, sort: type[T]) -> Iterator[tuple[str, T]]:
        for name in self.added:
            if name in self.model_fields_set and isinstance(value := getattr(self, name), sort):
                yield name, value

    def settings_offline(self) -> dict[str, object]:
        """Return the given settings of features, as they are for a plan without a service."""
        return {
            name: value.offline() if isinstance(value, OfflineSetting) else value
            for name, value in self.settings_given(object)
        }


class CoreEnvironment(_Extended):
    """An environment: a place that manifests are applied to."""

    added = ENVIRONMENT_SETTINGS

    base_url: Annotated[
        str | None,
        Field(alias="baseUrl", description="Where the management API is; https, or loopback."),
    ] = None
    emulator: Annotated[
        EmbeddedEmulator | None, Field(description="Instead of baseUrl: the embedded emulator.")
    ] = None
    authorization: Annotated[
        Literal["raw", "bearer"],
        Field(description='raw: the key as it is; bearer: "Bearer KEY".'),
    ] = "raw"
    journal: Annotated[
        str | None,
        Field(
            description="Where the journal is kept: a file below the project file's folder, or an "
            "absolute path; "
            "git:REF of the repository's remote; or s3://, gs:// or az:// with bucket and prefix. "
            "`{shard}` in it is a journal for each shard, as 2-of-4."
        ),
    ] = None

    @field_validator("journal")
    @classmethod
    def _is_a_place(cls, journal: str | None) -> str | None:
        try:
            if journal is not None:
                parse_journal_place(journal)
        except ValueError as error:
            raise PydanticCustomError("journal_place", "{said}", {"said": str(error)}) from error
        return journal

    variables: Annotated[
        dict[str, ProjectVariable],
        Field(
            description="Values of `${var:NAME}` in manifests: text, numbers, true or false, and "
            "lists and mappings, which replace a whole value."
        ),
    ] = {}
    secrets: Annotated[
        dict[str, SecretPlace],
        Field(description="Where secrets are in this environment; wins over those at the top."),
    ] = {}
    guards: Guards = Guards()
    """The changes that an apply of this environment may make without consent."""
    api: Annotated[
        Assumptions, Field(description="What this deployment does otherwise than most.")
    ] = Assumptions()


if TYPE_CHECKING:

    class Environment(CoreEnvironment):
        """An environment, with the settings of features."""

        def __init__(self, **settings: Any) -> None: ...

else:
    Environment = _with_added_settings("Environment", CoreEnvironment)


class DriftIgnore(_Strict):
    """A difference that is expected: it raises no alarm in drift, and stays in plans."""

    kind: Annotated[str, Field(description="A kind, or a glob of kinds.")] = "*"
    name: Annotated[str, Field(description="A metadata.name, or a glob of names.")] = "*"
    path: Annotated[
        str | list[str],
        Field(
            description="The field, as description or dashboard.layout.**: its steps joined by "
            "dots, or a list of them. Each step is a glob; ** is any number of steps. What is "
            "inside a field goes with it."
        ),
    ]
    reason: Annotated[
        str,
        Field(description="Why it may differ."),
        must("reason", "must say why this may differ", str.strip),
    ]

    @field_validator("path", mode="before")
    @classmethod
    def _leads_somewhere(cls, path: object) -> object:
        steps = path.split(".") if isinstance(path, str) else path
        if not isinstance(steps, list) or not steps or not all(map(_is_step, steps)):
            problem = "must be steps joined by dots, as dashboard.description, or a list of them"
            raise PydanticCustomError("ignored_path", "{said}", {"said": problem})
        return path

    @property
    def shown(self) -> str:
        """The rule as reports show it, as `SLO/* description`."""
        return f"{self.kind}/{self.name} {'.'.join(_steps(self.path))}"

    def is_about(self, kind: str, name: str) -> bool:
        """Return whether the rule covers a resource."""
        return fnmatchcase(kind, self.kind) and fnmatchcase(name, self.name)

    def covers(self, path: Sequence[str | int]) -> bool:
        """Return whether the rule covers a field, or a field that contains it."""
        globs = _steps(self.path)
        while globs[-1:] == [ANY_STEPS]:
            # What is inside a field goes with it anyway.
            globs = globs[:-1]
        return lead_to(tuple(map(str, path)), tuple(globs))


def _is_step(step: object) -> bool:
    return isinstance(step, str) and step != ""


def _steps(path: str | list[str]) -> list[str]:
    return path.split(".") if isinstance(path, str) else path


class CoreProjectFile(_Extended):
    """The project file, reconciler.yaml."""

    added = PROJECT_SETTINGS
    _written: DocumentText | None = PrivateAttr(default=None)

    manifests: Annotated[
        list[str], Field(description="Files and folders of manifests, relative to this file.")
    ] = ["."]
    exclude: Annotated[
        list[str],
        Field(
            description="Globs of files and folders that hold no manifests, relative to this file, "
            "as charts or **/*.tpl.yaml; `*` stays within a folder."
        ),
    ] = []
    default_environment: Annotated[
        str | None, Field(alias="defaultEnvironment", description="Used where -e is not given.")
    ] = None
    environments: dict[str, Environment] = {}
    """The places that manifests are applied to, by their names."""
    secrets: Annotated[
        dict[str, SecretPlace],
        Field(
            description="Where the values of `${secret:NAME}` are; what is not listed is the "
            "environment variable of its name."
        ),
    ] = {}
    drift_ignore: Annotated[
        list[DriftIgnore],
        Field(
            alias="driftIgnore",
            description="What may differ from what was applied without an alarm of `drift`.",
        ),
    ] = []
    trusted_branches: Annotated[
        list[str],
        Field(
            alias="trustedBranches",
            description="Branches next to the default one. `ci` trusts their newest commit whole. "
            "Read from the default branch alone. Protect them: who may push there decides.",
        ),
    ] = []
    mention_owners: Annotated[
        bool,
        Field(
            alias="mentionOwners",
            description="Whether the comment of `ci plan` notifies the code owners of what it "
            "changes; read from the base branch.",
        ),
    ] = False
    checks: Checks = {}
    limits: Annotated[
        Extent,
        Field(description="How much one run reads; `ci` takes it from the base branch."),
    ] = Extent()

    @property
    def written(self) -> DocumentText | None:
        """The text of the project file, None where the settings were not read from one."""
        return self._written

    def note_text(self, text: DocumentText) -> None:
        """Store the text that the settings were read from."""
        self._written = text

    @property
    def own_rules(self) -> Sequence[OwnRule]:
        """The team's own rules."""
        return self.setting("rules", list) or ()

    @property
    def plan_rules(self) -> Mapping[str, GuardLevel]:
        """The level of each rule of plans, by its code."""
        return {rule.code: rule.level for rule in self.own_rules if rule.on == "plan"}


if TYPE_CHECKING:

    class ProjectFile(CoreProjectFile):
        """The project file, with the settings of features."""

        def __init__(self, **settings: Any) -> None: ...

else:
    ProjectFile = _with_added_settings("ProjectFile", CoreProjectFile)


def project_schema() -> dict[str, Any]:
    """Return the JSON Schema of a project file, for editors."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    from reconciler.model.assumptions import DescribedSchema  # noqa: PLC0415 - for schemas alone

    schema = ProjectFile.model_json_schema(schema_generator=DescribedSchema)
    return {"$schema": dialect, **schema, "title": "reconciler.yaml"}
