"""What reconciler.yaml may say."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from reconciler.assumptions import Assumptions
from reconciler.project.journal_place import parse_journal_place

Variable: TypeAlias = str | int | float | bool


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Limits(_Strict):
    """How much of a kind one apply may change without consent."""

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


class Guards(Limits):
    """What an apply may do without consent; per environment."""

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

    def of(self, kind: str) -> Limits:
        """Give the limits of one kind."""
        own = self.kinds.get(kind)
        if own is None:
            return self
        said = {name: getattr(own, name) for name in own.model_fields_set}
        return self.model_copy(update=said)


class EmbeddedEmulator(_Strict):
    """An emulator in the same process, kept in one SQLite file."""

    data: Annotated[
        str,
        Field(description="The SQLite file: below the project file's folder, or absolute."),
    ]


class Environment(_Strict):
    """One place that manifests are applied to."""

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
            "git:REF of the repository's remote; or s3://, gs:// or az:// with bucket and prefix."
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
        dict[str, Variable], Field(description="Values of `${var:NAME}` in manifests.")
    ] = {}
    guards: Guards = Guards()
    api: Annotated[
        Assumptions, Field(description="What this deployment does otherwise than most.")
    ] = Assumptions()


class ProjectFile(_Strict):
    """The project file, reconciler.yaml."""

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
    trusted_branches: Annotated[
        list[str],
        Field(
            alias="trustedBranches",
            description="Branches beside the default one whose newest commit `ci` believes whole; "
            "read from the default branch alone. Protect them: who may push there decides.",
        ),
    ] = []
