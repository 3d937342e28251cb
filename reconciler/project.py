"""reconciler.yaml: environments, variables, guards, and where each leads.

Source: design.md, part 5; failure-cases.md, N2.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reconciler.assumptions import Assumptions, ParameterNames
from reconciler.document import Json
from reconciler.errors import InvalidInput, UsageError
from reconciler.finding import Finding, nearest

BASE_URL = "RECONCILER_BASE_URL"
ENVIRONMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

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


@dataclass(frozen=True, slots=True)
class Project:
    """A project file and the folder that paths in it are relative to."""

    root: Path
    file: Path | None = None
    settings: ProjectFile = field(default_factory=ProjectFile)


@dataclass(frozen=True, slots=True)
class Service:
    """A management API somewhere else."""

    base_url: str
    authorization: Literal["raw", "bearer"] = "raw"

    @property
    def name(self) -> str:
        """What plans and journals call the target."""
        return self.base_url


@dataclass(frozen=True, slots=True)
class Embedded:
    """The emulator in this process."""

    data: Path

    @property
    def name(self) -> str:
        """What plans and journals call the target."""
        return "emulator"


Target: TypeAlias = Service | Embedded


def project_findings(document: Json) -> Iterator[Finding]:
    """Yield what is wrong with the document of a project file."""
    if not isinstance(document, dict):
        yield Finding("P101", (), "a project file is a mapping, as `manifests: [.]`")
        return
    try:
        settings = ProjectFile.model_validate(document)
    except ValidationError as invalid:
        yield from _setting_findings(invalid)
        return
    default = settings.default_environment
    if default is not None and default not in settings.environments:
        near = nearest(default, settings.environments)
        listed = ", ".join(sorted(settings.environments)) or "none"
        said = f"there is no environment `{default}` (known: {listed})"
        yield Finding("P101", ("defaultEnvironment",), said, suggestion=near)
    for index, path in enumerate(settings.manifests):
        if leads_out(path):
            said = f"`{path}` leads out of the folder of the project file"
            yield Finding("P101", ("manifests", index), said)
    for name, environment in settings.environments.items():
        yield from _environment_findings(name, environment)


def leads_out(path: str) -> bool:
    """Tell whether a relative path climbs above where it starts, or is not relative."""
    return path.startswith("/") or os.path.normpath(path).split("/")[0] == ".."


def _environment_findings(name: str, environment: Environment) -> Iterator[Finding]:
    path = ("environments", name)
    if not ENVIRONMENT_NAME.fullmatch(name):
        said = f"`{name}` is no name of an environment: letters, digits and `.`, `_`, `-`"
        yield Finding("P101", path, said, at_key=True)
    if environment.base_url is not None and environment.emulator is not None:
        said = f"environment `{name}` has both `baseUrl` and `emulator`: remove one"
        yield Finding("P101", (*path, "emulator"), said, at_key=True)
    if environment.base_url is not None and (why := unsafe_base_url(environment.base_url)):
        yield Finding("P102", (*path, "baseUrl"), f"`baseUrl` {why}")


_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): ProjectFile,
    ("environments",): Environment,
    ("environments", "emulator"): EmbeddedEmulator,
    ("environments", "guards"): Guards,
    ("environments", "api"): Assumptions,
    ("environments", "api", "parameterNames"): ParameterNames,
}


_WANTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}


def _setting_findings(invalid: ValidationError) -> Iterator[Finding]:
    """Yield what is wrong with single settings, a variable of no type only once."""
    said: set[tuple[str | int, ...]] = set()
    for error in invalid.errors(include_url=False):
        path = error["loc"]
        if "variables" in path[2:3] and len(path) > _VARIABLE_DEPTH:
            path = path[:_VARIABLE_DEPTH]
            if path not in said:
                words = f"the variable `{path[-1]}` must be text, a number, true or false"
                yield Finding("P101", path, words)
        else:
            yield _finding(error["type"], error["msg"], path)
        said.add(path)


_VARIABLE_DEPTH = len(("environments", "local", "variables", "team"))


_SHOULD = re.compile("^(Input|String) should")


def _finding(kind: str, message: str, path: tuple[str | int, ...]) -> Finding:
    if kind == "extra_forbidden":
        place = tuple(map(str, path[:1] + path[2:-1] if len(path) > 1 else ()))
        model = _MODELS.get(place, ProjectFile)
        names = [info.alias or name for name, info in model.model_fields.items()]
        said = f"unknown setting `{path[-1]}` (known: {', '.join(names)})"
        near = nearest(str(path[-1]), names)
        return Finding("P101", path, said, suggestion=near, at_key=True)
    if kind == "missing":
        return Finding("P101", path[:-1], f"`{path[-1]}` is required")
    what = f"item {path[-1] + 1}" if isinstance(path[-1], int) else f"`{path[-1]}`"
    said = f"must be {_WANTED[kind]}" if kind in _WANTED else _SHOULD.sub("must", message)
    return Finding("P101", path, f"{what} {said}")


def unsafe_base_url(url: str) -> str:
    """Say why a base URL is refused, or give "" for a good one (failure-cases.md, N2)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("https", "http"):
        return "must begin with https://"
    if not host or port == 0 or any(not "!" <= character <= "~" for character in url):
        return "is not a URL: it needs a host, and only ASCII characters that are no blanks"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or a password"
    if "?" in url or "#" in url:
        return "must not hold a query or a fragment"
    return _unsafe_host(host, parts.scheme)


_HOST = re.compile(r"(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")


def _unsafe_host(host: str, scheme: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # The system's resolver takes 2852039166 and 0xa9.254.43518 for addresses.
        if _NUMBER.fullmatch(host) or not _HOST.fullmatch(host):
            return "is not a URL: its host is neither a name nor a plain address"
        return "" if scheme == "https" or host == "localhost" else "must begin with https://"
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return ""
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return f"leads to {host}, which no service should have"
    if address.version == 4 and address.is_reserved:  # noqa: PLR2004 - IPv4
        return f"leads to {host}, which no service should have"
    return "" if scheme == "https" else "must begin with https://"


def choose_environment(project: Project, wanted: str | None) -> tuple[str, Environment]:
    """Give the environment of a run and its name.

    Raises UsageError where it is unknown, or where none can be told.
    """
    environments = project.settings.environments
    name = wanted or project.settings.default_environment
    if name is None and len(environments) == 1:
        name = next(iter(environments))
    if name is None and not environments:
        return "default", Environment()
    if name is None:
        raise UsageError(f"choose an environment with -e: {', '.join(sorted(environments))}")
    if name not in environments:
        if project.file is None:
            raise UsageError(
                f"there is no project file, so there is no environment `{name}`: "
                "write a reconciler.yaml, or point to one with --project"
            )
        near = nearest(name, environments)
        hint = f"; did you mean `{near}`?" if near else ""
        listed = ", ".join(sorted(environments)) or "none"
        raise UsageError(f"there is no environment `{name}`{hint} (known: {listed})")
    return name, environments[name]


def choose_target(
    project: Project, name: str, environment: Environment, environ: Mapping[str, str]
) -> Target:
    """Give where a run leads. Nothing falls back silently (design.md, part 5).

    Raises UsageError without a target or with two that disagree, and
    InvalidInput for a base URL that is not safe.
    """
    given = environ.get(BASE_URL, "").strip().rstrip("/")
    own = (environment.base_url or "").rstrip("/")
    if environment.emulator is not None:
        if given:
            raise UsageError(
                f"environment `{name}` is the embedded emulator, but {BASE_URL} is "
                f"{_shown(given)}: unset it, or choose another environment"
            )
        return Embedded(project.root / environment.emulator.data)
    if given and own and given != own:
        raise UsageError(
            f"environment `{name}` has baseUrl {_shown(own)}, but {BASE_URL} is {_shown(given)}: "
            "unset it, or choose another environment"
        )
    if why := unsafe_base_url(given or own) if given or own else "":
        raise InvalidInput(f"{BASE_URL if given else 'baseUrl'} {why}")
    if given or own:
        return Service(given or own, environment.authorization)
    raise UsageError(
        "there is no service to talk to: give the environment a `baseUrl` in reconciler.yaml, "
        f"or set {BASE_URL}; to try without a service, give it `emulator: {{data: FILE}}`"
    )


def _shown(url: str) -> str:
    """Give a URL without the user name and password it may hold."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


_STORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def journal_path(project: Project, name: str, environment: Environment) -> Path:
    """Give where the journal of an environment is kept.

    Raises InvalidInput for a store that is not a file.
    """
    place = environment.journal
    if place is None:
        own = f"{name}.journal.jsonl" if project.file is not None else "journal.jsonl"
        return project.root / ".reconciler" / own
    if _STORE.match(place):
        raise InvalidInput(
            f"environment `{name}`: journal `{place}` is not a file; this version keeps "
            "journals in files only"
        )
    return project.root / place
