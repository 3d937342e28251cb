"""What reconciler.yaml may say."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from reconciler.assumptions import Assumptions

Variable: TypeAlias = str | int | float | bool


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Guards(_Strict):
    """What an apply may do without consent; per environment."""

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


class EmbeddedEmulator(_Strict):
    """An emulator in the same process, kept in one SQLite file."""

    data: Annotated[str, Field(description="The SQLite file, relative to the project file.")]


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
        str | None, Field(description="The journal's file, relative to the project file.")
    ] = None
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
    default_environment: Annotated[
        str | None, Field(alias="defaultEnvironment", description="Used where -e is not given.")
    ] = None
    environments: dict[str, Environment] = {}
