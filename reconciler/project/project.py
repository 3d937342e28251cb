"""The project: the environment and the target of a run, and all findings on the project file.

No default replaces a missing setting silently.
"""

from __future__ import annotations

import builtins
import ipaddress
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ValidationError

from reconciler.document import ABSENT, Json, value_at
from reconciler.document import Path as Place
from reconciler.errors import InvalidInput, UsageError
from reconciler.model.assumptions import FileSection
from reconciler.project.levels import level_findings
from reconciler.project.settings import (
    SHARD,
    Environment,
    InFile,
    JournalPlace,
    ProjectFile,
    SecretPlace,
    Shard,
    parse_journal_place,
)
from reconciler.runtime.connection import KEY_VARIABLE, steps_in
from reconciler.syntax.diagnostic import WANTED, Advice, Finding
from reconciler.syntax.suggestions import nearest, shortened

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def unsafe_base_url(url: str) -> str:
    """Return why a base URL is refused, "" for a good URL (docs/security.md)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("https", "http"):
        return "must begin with https://"
    if not host or port == 0 or any(not "!" <= character <= "~" for character in url):
        return "is not a URL: it needs a host, and only ASCII characters that are no blanks"
    return _unsafe_part(url, parts) or _unsafe_host(host, parts.scheme)


def _unsafe_part(url: str, parts: SplitResult) -> str:
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or a password"
    if "?" in url or "#" in url:
        return "must not hold a query or a fragment"
    step = next(steps_in(parts.path), "")
    return f"must not hold the part `{step}`: write the path that it leads to" if step else ""


_HOST = re.compile(r"(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")


def _unsafe_host(host: str, scheme: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # The system's resolver accepts 2852039166 and 0xa9.254.43518 as addresses.
        if _NUMBER.fullmatch(host) or not _HOST.fullmatch(host):
            return "is not a URL: its host is neither a name nor a plain address"
        return "" if scheme == "https" or host == "localhost" else "must begin with https://"
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return ""
    if any(map(_is_nobodys, (address, *_wrapped_in(address)))):
        return f"leads to {host}, which no service should have"
    return "" if scheme == "https" else "must begin with https://"


def _is_nobodys(address: _Address) -> bool:
    odd = address.is_link_local or address.is_multicast or address.is_unspecified
    return odd or (isinstance(address, ipaddress.IPv4Address) and address.is_reserved)


# Prefix of address translation, and two older forms that end in an IPv4 address.
_WRAPPERS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))


def _wrapped_in(address: _Address) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses to which a gateway would translate an IPv6 address."""
    if isinstance(address, ipaddress.IPv6Address):
        if any(address in wrapper for wrapper in _WRAPPERS):
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.sixtofour is not None:
            yield address.sixtofour
        yield from address.teredo or ()


def shown_url(url: str) -> str:
    """Return a URL without its user name and password."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


BASE_URL = "RECONCILER_BASE_URL"
NAMELESS = "default"
"""The name of the environment where the project file names none."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project file and the folder that its paths are relative to.

    `unmerged` are the environments that have other settings in the file than those in force, which
    are the default branch's.
    """

    root: Path
    file: Path | None = None
    settings: ProjectFile = field(default_factory=ProjectFile)
    unmerged: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Service:
    """A management API on another machine."""

    base_url: str
    authorization: Literal["raw", "bearer"] = "raw"

    @property
    def name(self) -> str:
        """The name of the target in plans and journals."""
        return self.base_url


@dataclass(frozen=True, slots=True)
class Embedded:
    """The emulator in this process."""

    data: Path
    name: str = "emulator"
    """The name of the target in plans and journals."""


Target: TypeAlias = Service | Embedded


def choose_environment(project: Project, wanted: str | None) -> tuple[str, Environment]:
    """Return the name and the settings of a run's environment.

    Raises UsageError where it is unknown, or where several exist and none is chosen.
    """
    environments = project.settings.environments
    name = wanted or project.settings.default_environment
    if name is None and len(environments) == 1:
        name = next(iter(environments))
    if not environments and name in (None, NAMELESS):
        return NAMELESS, Environment()
    if name is None:
        raise UsageError(f"choose an environment with -e: {', '.join(sorted(environments))}")
    if name not in environments:
        if project.file is None:
            raise UsageError(
                f"there is no project file, so there is no environment but `{NAMELESS}`: "
                "write a reconciler.yaml, or point to one with --project"
            )
        near = shortened(name, environments)
        hint = f"; did you mean `{near}`?" if near else ""
        listed = ", ".join(sorted(environments)) or "none"
        raise UsageError(f"there is no environment `{name}`{hint} (known: {listed})")
    return name, environments[name]


def choose_target(
    project: Project, name: str, environment: Environment, environ: Mapping[str, str]
) -> Target:
    """Return the target of a run. No default replaces a missing setting (docs/commands.md).

    Raises UsageError without a target or with two that disagree, and InvalidInput for an unsafe
    base URL, or for a file behind a link that leads out of the folder.
    """
    given = environ.get(BASE_URL, "").strip().rstrip("/")
    own = (environment.base_url or "").rstrip("/")
    if environment.emulator is not None:
        if given:
            raise UsageError(
                f"environment `{name}` is the embedded emulator, but {BASE_URL} is "
                f"{shown_url(given)}: unset it, or choose another environment"
            )
        return Embedded(place_of(project, environment.emulator.data))
    if given and own and given != own:
        raise UsageError(
            f"environment `{name}` has baseUrl {shown_url(own)}, but {BASE_URL} is "
            f"{shown_url(given)}: "
            "unset it, or choose another environment"
        )
    if why := unsafe_base_url(given or own) if given or own else "":
        raise InvalidInput(f"{BASE_URL if given else 'baseUrl'} {why}")
    if given or own:
        return Service(given or own, environment.authorization)
    if name in project.unmerged:
        raise UsageError(
            f"the project file of the default branch, whose settings bind, has no address for "
            f"environment `{name}`: merge its settings first"
        )
    raise UsageError(
        "there is no service to talk to: give the environment a `baseUrl` in reconciler.yaml, "
        f"or set {BASE_URL}; to try without a service, give it `emulator: {{data: FILE}}`"
    )


def with_target(project: Project) -> set[str]:
    """Return the names of the environments that have a target in the project file."""
    environments = project.settings.environments.items()
    return {
        name
        for name, environment in environments
        if environment.base_url or environment.emulator is not None
    }


def place_of(project: Project, path: str) -> Path:
    """Return the path of a file that the project file names: in its folder, or an absolute path.

    Raises InvalidInput where a link on the way leads out of the folder.
    """
    place = project.root / path
    # A change may bring links, and a write to this path would follow them.
    if not Path(path).is_absolute() and not leads_inside(place, project.root):
        raise InvalidInput(
            f"`{path}` is behind a link that leads out of {project.root}: remove the link, or "
            "write an absolute path if that is meant"
        )
    return place


def leads_inside(place: Path, folder: Path) -> bool:
    """Return whether a path is below a folder, once all links are followed."""
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder))


def in_shard(environment: Environment, shard: Shard | None) -> Environment:
    """Return an environment with the journal of a shard, if `journal:` names one for each shard."""
    if shard is None or environment.journal is None:
        return environment
    return environment.model_copy(update={"journal": environment.journal.replace(SHARD, shard.key)})


def journal_setting(project: Project, name: str, environment: Environment) -> str:
    """Return the journal setting of an environment, as the project file writes it."""
    if environment.journal is not None:
        return environment.journal
    own = f"{name}.journal.jsonl" if project.file is not None else "journal.jsonl"
    return f".reconciler/{own}"


def journal_place(project: Project, name: str, environment: Environment) -> JournalPlace:
    """Return the place of an environment's journal, with an absolute path.

    The setting itself was checked when the project file was read. Raises InvalidInput for a file
    behind a link that leads out of the folder.
    """
    return journal_place_at(project, journal_setting(project, name, environment))


def journal_place_at(project: Project, setting: str) -> JournalPlace:
    """Return the place of a journal that is written as in the project file, with an absolute path.

    Raises ValueError with what the setting must be, and InvalidInput for a file behind a link that
    leads out of the folder.
    """
    place = parse_journal_place(setting)
    return place if place.file is None else InFile(place_of(project, str(place.file)))


ENVIRONMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def nothing_known(own: ProjectFile) -> ProjectFile:
    """Return the settings where the base branch has none: only the default environment's name."""
    return ProjectFile.model_construct(default_environment=own.default_environment)


def with_settings_of(base: ProjectFile, own: ProjectFile) -> ProjectFile:
    """Return `manifests:` and `variables:` of the change, and all else of the base branch.

    An environment that only the change has gets no target, or the embedded emulator, which sends
    nothing out of the process.
    """
    environments = dict(base.environments)
    for name, mine in own.environments.items():
        reviewed = base.environments.get(name) or Environment(emulator=mine.emulator)
        environments[name] = reviewed.model_copy(update={"variables": mine.variables})
    return base.model_copy(update={"manifests": own.manifests, "environments": environments})


def project_findings(document: Json) -> Iterator[Finding]:
    """Yield the findings on the document of a project file."""
    if not isinstance(document, dict):
        yield Finding("P101", (), "a project file is a mapping, as `manifests: [.]`")
        return
    made = readable_settings(document)
    yield from made.findings
    if made.settings is not None:
        yield from map(made.as_written, _agreeing_findings(made.settings))


@dataclass(frozen=True, slots=True)
class Readable:
    """The settings without the invalid settings, so that one run finds all errors.

    `gone` are the places that were left out. `settings` is None where nothing is left.
    """

    settings: ProjectFile | None
    findings: Sequence[Finding]
    gone: frozenset[Place] = frozenset()

    def as_written(self, finding: Finding) -> Finding:
        """Return a finding about these settings at its place in the file, which has more items."""
        return replace(finding, path=_as_written(finding.path, self.gone))


def readable_settings(document: Json) -> Readable:
    """Read the document of a project file as far as it is valid."""
    gone: frozenset[Place] = frozenset()
    findings: list[Finding] = []
    for _ in range(MOST_ROUNDS if isinstance(document, dict) else 0):
        rest = _without(document, gone, ())
        try:
            return Readable(ProjectFile.model_validate(rest), findings, gone)
        except ValidationError as invalid:
            findings += _setting_findings(invalid) if not gone else ()
            wrong = {
                _taken_with(error["type"], error["loc"], rest)
                for error in invalid.errors(include_url=False)
            }
            if () in wrong:
                # It is no mapping, or nothing can be left out.
                break
            gone |= {_as_written(path, gone) for path in wrong}
    return Readable(None, findings, gone)


MOST_ROUNDS = 4


def _taken_with(kind: str, path: Place, document: Json) -> Place:
    """Return the place to leave out for an invalid setting: the whole item, if it is in a list.

    Where a setting is missing, its parent is left out.
    """
    first_index = next((nth for nth, step in enumerate(path) if isinstance(step, int)), None)
    if first_index is not None:
        return path[: first_index + 1]
    path = path[:-1] if kind == "missing" else path
    # The last steps may name the type that did not match.
    places = (path[:length] for length in range(len(path), 0, -1))
    return next((place for place in places if value_at(document, place) is not ABSENT), ())


def _as_written(path: Place, gone: Collection[Place]) -> Place:
    """Return a path with the item numbers of the file, in which no item is left out."""
    written: Place = ()
    for step in path:
        written_step = step
        if isinstance(step, int):
            left = (nth for nth in count() if (*written, nth) not in gone)
            written_step = next(islice(left, step, None))
        written = (*written, written_step)
    return written


def _without(value: Json, gone: Collection[Place], path: Place) -> Json:
    if isinstance(value, dict):
        fields = [(key, member) for key, member in value.items() if (*path, key) not in gone]
        return {key: _without(value, gone, (*path, key)) for key, value in fields}
    if isinstance(value, list):
        items = [(nth, element) for nth, element in enumerate(value) if (*path, nth) not in gone]
        return [_without(value, gone, (*path, nth)) for nth, value in items]
    return value


def _agreeing_findings(settings: ProjectFile) -> Iterator[Finding]:
    """Yield findings on settings that are valid alone but contradict each other."""
    default = settings.default_environment
    if default is not None and default not in settings.environments:
        near = shortened(default, settings.environments)
        listed = ", ".join(sorted(settings.environments)) or "none"
        message = f"there is no environment `{default}` (known: {listed})"
        yield Finding("P101", ("defaultEnvironment",), message, suggestion=near)
    yield from _list_findings(settings)
    yield from level_findings(settings.checks, [rule.name for rule in settings.own_rules])
    yield from _secret_findings(settings.secrets, ("secrets",))
    for name, environment in settings.environments.items():
        yield from _environment_findings(name, environment)


def _list_findings(settings: ProjectFile) -> Iterator[Finding]:
    for index, path in enumerate(settings.manifests):
        if leads_out(path):
            message = f"`{path}` leads out of the folder of the project file"
            yield Finding("P101", ("manifests", index), message)
    for index, pattern in enumerate(settings.exclude):
        if leads_out(pattern) or not pattern.strip("./ "):
            message = (
                f"`{pattern}` must be a glob that is relative to the folder of the project file"
            )
            yield Finding("P101", ("exclude", index), message)
    for index, branch in enumerate(settings.trusted_branches):
        if not branch or re.search(r"[*?\[\s~^:\\]", branch):
            message = f"`{branch}` is no branch: name each one whole, as anyone may make another"
            yield Finding("P101", ("trustedBranches", index), message)


def leads_out(path: str) -> bool:
    """Return whether a relative path climbs above its start, or a path is absolute."""
    return path.startswith("/") or os.path.normpath(path).split("/")[0] == ".."


def _path_findings(setting: str, path: str, place: tuple[str, ...]) -> Iterator[Finding]:
    """Yield a finding on a relative path that leads outside, or on `..` in an absolute path."""
    if path.startswith("/"):
        if ".." in path.split("/"):
            message = f"`{setting}` must not hold `..`: write the path that it leads to"
            yield Finding("P101", place, message)
    elif leads_out(path):
        message = (
            f"`{setting}` leads out of the folder of the project file: keep it inside, or write "
            "an absolute path"
        )
        yield Finding("P101", place, message)


def _secret_findings(
    secrets: Mapping[str, SecretPlace], path: tuple[str, ...]
) -> Iterator[Finding]:
    for name, place in secrets.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            message = f"`{name}` is no name of a secret: letters, digits and `_`"
            yield Finding("P101", (*path, name), message, at_key=True)
        if place.file is not None:
            yield from _path_findings("file", place.file, (*path, name, "file"))


def _environment_findings(name: str, environment: Environment) -> Iterator[Finding]:
    path = ("environments", name)
    if not ENVIRONMENT_NAME.fullmatch(name):
        message = f"`{name}` is no name of an environment: letters, digits and `.`, `_`, `-`"
        yield Finding("P101", path, message, at_key=True)
    if environment.base_url is not None and environment.emulator is not None:
        message = f"environment `{name}` has both `baseUrl` and `emulator`: remove one"
        yield Finding("P101", (*path, "emulator"), message, at_key=True)
    if environment.base_url is not None and (why := unsafe_base_url(environment.base_url)):
        near = f"https://{environment.base_url.removeprefix('http://')}"
        meant = "" if "://" in near[8:] or unsafe_base_url(near) else near
        yield Finding("P102", (*path, "baseUrl"), f"`baseUrl` {why}", suggestion=meant)
    if environment.emulator is not None:
        yield from _path_findings("data", environment.emulator.data, (*path, "emulator", "data"))
    yield from _secret_findings(environment.secrets, (*path, "secrets"))
    for setting, section in environment.settings_given(FileSection):
        yield from _file_findings(setting, section.file, (*path, setting))
    kept = parse_journal_place(environment.journal).file if environment.journal else None
    if kept is not None:
        yield from _path_findings("journal", str(kept), (*path, "journal"))


def _file_findings(name: str, file: str, path: tuple[str, ...]) -> Iterator[Finding]:
    """Yield a finding on a setting with a file outside the project, or neither YAML nor JSON."""
    message = ""
    if leads_out(file):
        message = f"`{name}` must be inside the folder of the project file: `{file}` is not"
    elif not file.endswith((".yaml", ".yml", ".json")):
        message = f"`{name}` must be YAML or JSON: `{file}` ends with none of .yaml, .yml, .json"
    if message:
        yield Finding("P101", path, message)


def _model_at(path: Place) -> type[BaseModel] | None:
    """Return the model of the mapping at a place of the project file, None for any other value.

    A step that names no field is the name of a type, where a setting may have several types.
    """
    found: Any = ProjectFile
    for step in path:
        found = _inside(found, step)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _inside(annotation: Any, step: str | int) -> Any:
    """Return the type of a member, without `Annotated` and without None."""
    match get_origin(annotation):
        case builtins.dict | builtins.list:
            return _bare(get_args(annotation)[-1])
        case None if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            fields = annotation.model_fields.items()
            found = (info.annotation for name, info in fields if step == (info.alias or name))
            free = get_type_hints(annotation).get("__pydantic_extra__")
            return _bare(next(found, annotation if free is None else get_args(free)[-1]))
        case _:
            return annotation


def _bare(annotation: Any) -> Any:
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _bare(arguments[0])
    if get_origin(annotation) in (Union, UnionType):
        return _bare(next(of for of in arguments if of is not NoneType))
    return annotation


def _setting_findings(invalid: ValidationError) -> Iterator[Finding]:
    """Yield findings on single settings; a variable without a valid type has only one finding.

    A setting that is missing because its name is misspelled is reported only as misspelled.
    """
    reported: set[Place] = set()
    misspelled: set[Place] = set()
    found: list[tuple[Place, str, Finding]] = []
    for error in invalid.errors(include_url=False):
        path = error["loc"]
        if "variables" in path[2:3] and len(path) > _VARIABLE_DEPTH:
            path = path[:_VARIABLE_DEPTH]
            if path not in reported:
                words = f"the variable `{path[-1]}` must not be null"
                found.append((path, "", Finding("P101", path, words)))
        else:
            finding = _finding(error["type"], error["msg"], path)
            near = error.get("ctx", {}).get("near")
            meant = near or _meant_by(error["type"], path, error["input"])
            finding = replace(finding, suggestion=meant) if meant else finding
            if finding.at_key and finding.suggestion:
                misspelled.add((*path[:-1], finding.suggestion))
            found.append((path, error["type"], finding))
        reported.add(path)
    yield from (
        finding for path, kind, finding in found if kind != "missing" or path not in misspelled
    )


def _meant_by(kind: str, path: Place, value: object) -> str:
    """Return the likely correction of a setting of the wrong form, or advice; "" for neither."""
    match kind, value:
        case "list_type", str():
            return f"[{value}]"
        case "literal_error", "no" | "No" | "NO" | "Off" | "OFF" | False if path[0] == "checks":
            return "off"
        case "dict_type", list() if path == ("environments",):
            return Advice("write `NAME:` for each in place of `- `, and its settings below that")
        case _ if path[-1:] == ("emulator",) and value is True:
            return "{data: .reconciler/local.db}"
        case (("model_type" | "model_attributes_type" | "dict_type"), _):
            advice: str = getattr(_model_at(path), "advice", "")
            return Advice(advice) if advice else ""
        case _:
            return ""


def _named_so(name: str, known: Sequence[str]) -> str:
    """Return the setting that was likely meant; a singular means its plural (`severities`)."""
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return plural if plural in known else nearest(name, known)


_VARIABLE_DEPTH = len(("environments", "local", "variables", "team"))


_KEYS = frozenset(("apikey", "key", "token", "apitoken", "secret"))
_NO_KEY = Advice(f"remove it: the key is read from {KEY_VARIABLE}, and is in no file")
_SHOULD = re.compile("^(Input|String) should")
_OF_ENVIRONMENTS = frozenset(info.alias or name for name, info in Environment.model_fields.items())


def _finding(kind: str, message: str, path: tuple[str | int, ...]) -> Finding:
    if kind == "extra_forbidden":
        model = _model_at(path[:-1]) or ProjectFile
        names = [info.alias or name for name, info in model.model_fields.items()]
        predicate = f"unknown setting `{path[-1]}` (known: {', '.join(names)})"
        is_key = model is Environment and str(path[-1]).casefold().replace("_", "") in _KEYS
        near = _NO_KEY if is_key else _named_so(str(path[-1]), names)
        if model is ProjectFile and path[-1] in _OF_ENVIRONMENTS:
            near = Advice("it is a setting of an environment: write it in each of `environments`")
        return Finding("P101", path, predicate, suggestion=near, at_key=True)
    if kind == "missing":
        return Finding("P101", path[:-1], f"`{path[-1]}` is required")
    what = f"item {path[-1] + 1}" if isinstance(path[-1], int) else f"`{path[-1]}`"
    predicate = f"must be {WANTED[kind]}" if kind in WANTED else _SHOULD.sub("must", message)
    return Finding("P101", path, f"{what} {predicate}")
