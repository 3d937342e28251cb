"""The environment and the target of a run. No default replaces a missing setting silently."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, assert_never
from urllib.parse import SplitResult, urlsplit

from reconciler.errors import InvalidInput, UsageError
from reconciler.project.settings import (
    SHARD,
    Environment,
    InFile,
    InGit,
    InObjects,
    JournalPlace,
    ProjectFile,
    Shard,
    parse_journal_place,
)
from reconciler.runtime.connection import steps_in
from reconciler.syntax.suggestions import shortened

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
    """A project file and the folder that its paths are relative to."""

    root: Path
    file: Path | None = None
    settings: ProjectFile = field(default_factory=ProjectFile)


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
    match parse_journal_place(setting):
        case InFile(path=path):
            return InFile(place_of(project, str(path)))
        case InGit() | InObjects() as place:
            return place
        case other:
            assert_never(other)
