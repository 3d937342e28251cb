"""Secrets from their sources: a variable, a file or a command, each read only when needed."""

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory, gettempdir

from reconciler.errors import InvalidInput
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import Environment, Project
from reconciler.project.project import place_of
from reconciler.project.settings import SecretPlace
from reconciler.report.safe import safe
from reconciler.runtime import regular_files
from reconciler.syntax.expressions import secrets_in
from reconciler.syntax.files import find_files, read_file
from reconciler.workspace.expression_scope import Withheld, withheld_from

# Names of variables that hold lists of folders: PYTHONPATH, LD_LIBRARY_PATH, XDG_DATA_DIRS.
_LIST = re.compile(r"(PATHS?|LIB|DIRS)$", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s:;,=|\"'`@<>()\[\]{}&?#]+")


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """Folders with content from a change. Relative paths are resolved from each of them."""

    folders: tuple[Path, ...]

    def holds(self, path: Path) -> bool:
        """Return whether a path leads into one of the folders, as written or through links."""
        places = Path(os.path.normpath(path)), Path(os.path.realpath(path))
        return any(place.is_relative_to(folder) for place in places for folder in self.folders)

    def without(self, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return the variables without paths into the folders, and the names that changed.

        A list of folders loses single entries. It also loses relative and empty entries, as they
        mean the folder in which a program runs. Any other variable is removed whole.
        """
        remaining, lost = dict[str, str](), list[str]()
        for name, value in environ.items():
            left = self._left_of(name, value, environ)
            if left != value:
                lost.append(name)
            if left:
                remaining[name] = left
            elif left == value:
                remaining[name] = value
        return remaining, sorted(lost)

    def _left_of(self, name: str, value: str, environ: Mapping[str, str]) -> str:
        if _LIST.search(name):
            folders = value.split(os.pathsep) if value else []
            return os.pathsep.join(filter(self._may_be_searched, folders))
        # Variables inside the value are expanded, as a shell does for BASH_ENV.
        expanded = Template(value).safe_substitute(defaultdict(str, environ))
        return "" if any(map(self._leads_in, _paths_in(expanded))) else value

    def _may_be_searched(self, path: str) -> bool:
        # From a parent folder, a program would find the unreviewed folder as a package.
        is_above = any(folder.is_relative_to(os.path.realpath(path)) for folder in self.folders)
        return path.startswith("/") and not is_above and not self.holds(Path(path))

    def _leads_in(self, path: str) -> bool:
        if path.startswith("/"):
            return self.holds(Path(path))
        return any(os.path.lexists(folder / path) for folder in self.folders)


def _paths_in(value: str) -> Iterator[str]:
    """Yield possible paths in a value: the rest from the first slash on, and parts with a slash."""
    if "/" in value:
        yield value[value.index("/") :]
    for part in _BETWEEN.split(value):
        if "/" in part:
            yield part
            yield part[part.index("/") :]


LARGEST = 64 << 10
LIMIT = 10.0
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - only a fresh folder in it is used


class Allowed(Enum):
    """Sources that may be used, depending on the checkout and on who reviewed the settings.

    `OUTSIDE` is for reviewed settings with unreviewed files: none of these files is read or run.
    `NOTHING` allows only the variables of the process.
    """

    ALL = "all"
    OUTSIDE = "outside"
    NOTHING = "nothing"


class _Missing(Exception):
    """The value is not available; the text says why, without any part of the value."""


@dataclass(slots=True, kw_only=True)
class Secrets(Mapping[str, str]):
    """Values of secrets by their names, looked up once and only when needed.

    A secret that is not available is not in the mapping, and `why` returns the reason. The reason
    never contains the value.
    """

    environ: Mapping[str, str] = field(repr=False)
    project: Project
    environment: str
    places: Mapping[str, SecretPlace]
    withheld: Withheld
    allowed: Allowed = Allowed.ALL
    limit: float = LIMIT
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)
    _has_said: bool = False
    _values: dict[str, str] = field(default_factory=dict, repr=False)
    _why: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """Return a value. Raises KeyError where it is not available."""
        if name not in self._values and name not in self._why:
            self._look_up(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the listed names; other names are variables of the process."""
        return iter(self.places)

    def __len__(self) -> int:
        """Return the number of listed names."""
        return len(self.places)

    @property
    def unread(self) -> frozenset[str]:
        """Return the secrets that come only from a file or a command."""
        places = self.places.items()
        return frozenset(name for name, place in places if place.environment is None)

    def why(self, name: str) -> str:
        """Return why a secret is not available, and where it is declared; "" where it is."""
        return "" if self.get(name) else self._why.get(name, "")

    def origin(self, name: str) -> str:
        """Return where a secret comes from, without its value."""
        place = self.places.get(name)
        if place is None:
            return f"the environment variable {name}"
        if place.environment is not None:
            return f"the environment variable {place.environment}"
        if place.file is not None:
            return f"the file {place.file}"
        # The arguments of a command may hold confidential text.
        return f"the command {(place.command or [''])[0]}"

    def _look_up(self, name: str) -> None:
        place = self.places.get(name)
        try:
            secret = self._from(place or SecretPlace(environment=name))
        except _Missing as missing:
            self._why[name] = f"needs {self.origin(name)}, which {missing}{self._said(name)}"
        else:
            self._values[name] = secret

    def _said(self, name: str) -> str:
        if name not in self.places:
            return ""
        own = self.project.settings.environments.get(self.environment, Environment()).secrets
        at = f"environments.{self.environment}.secrets" if name in own else "secrets"
        return f" ({at}.{name} of reconciler.yaml)"

    def _from(self, place: SecretPlace) -> str:
        if place.environment is not None:
            if self.withheld.why(place.environment, ""):
                raise _Missing("must not be sent to the service")
            return _filled(self.environ.get(place.environment, ""), "is not set")
        if self.allowed is Allowed.NOTHING:
            raise _Missing("is not used here, as it is unknown whether that was reviewed")
        if place.file is not None:
            return _filled(_text(self._content(place.file)))
        return _filled(_text(self._printed(place.command or [])))

    def _content(self, path: str) -> bytes:
        try:
            file = place_of(self.project, path)
        except InvalidInput:
            raise _Missing("is behind a link that leads out of the project") from None
        self._check_outside(file)
        try:
            with regular_files.opened(file) as stream:
                return stream.read(LARGEST + 1)
        except OSError as error:
            if isinstance(error, IsADirectoryError) or error.strerror == regular_files.NOT_REGULAR:
                raise _Missing("is not a regular file") from None
            reason = "is not there" if isinstance(error, FileNotFoundError) else "cannot be read"
            raise _Missing(f"{reason}: {error.strerror}") from None

    def _check_outside(self, file: Path) -> None:
        """Refuse a file that an unreviewed change could have added."""
        if self.allowed is Allowed.OUTSIDE and self._unreviewed.holds(file):
            raise _Missing("is in the checkout of a change that is not reviewed")

    @property
    def _unreviewed(self) -> Unreviewed:
        """Return the folders that a change of the project decides: checkout and workspace."""
        real = Path(os.path.realpath(self.project.root))
        tops = [folder for folder in (real, *real.parents) if os.path.lexists(folder / ".git")]
        workspace = self.environ.get("GITHUB_WORKSPACE", "")
        places = (str(tops[-1] if tops else real), *([workspace] if workspace else []))
        ways = (os.path.abspath, os.path.realpath)
        folders = (Path(way(place)) for place in places for way in ways)
        return Unreviewed(tuple(dict.fromkeys(folders)))

    def _printed(self, words: list[str]) -> bytes:
        variables = self._variables()
        path = variables.get("PATH", os.defpath)
        program = words[0] if "/" in words[0] else shutil.which(words[0], path=path)
        if program is None:
            raise _Missing("is not found on the PATH")
        here = self.project.root
        for word in (program, *words[1:]):
            if "/" in word or word in (".", "..") or (here / word).exists():
                self._check_outside(here / word.rpartition("=")[2])
        if self.allowed is not Allowed.OUTSIDE:
            program = str(here / program) if "/" in words[0] else program
            return _run([program, *words[1:]], here, variables, self.limit)
        with self._empty_folder() as empty:
            # Many programs read settings from the folder that they run in.
            return _run([program, *words[1:]], Path(empty), variables, self.limit)

    def _empty_folder(self) -> TemporaryDirectory[str]:
        """Return a new empty folder. No folder of a change contains it."""
        try:
            where = gettempdir()
            if self._unreviewed.holds(Path(where)):
                where = next(text for text in _SHARED if not self._unreviewed.holds(Path(text)))
            return TemporaryDirectory(prefix="reconciler-", dir=where)
        except (OSError, StopIteration):
            raise _Missing("cannot be run: there is no folder for temporary files") from None

    def _variables(self) -> dict[str, str]:
        """Return the variables of a command: those of the process, without key and credentials.

        For an unreviewed change, variables that lead into its checkout are left out and reported.
        """
        variables = {
            name: value
            for name, value in self.environ.items()
            if not self.withheld.why(name, "") and not name.startswith("RECONCILER_")
        }
        if self.allowed is not Allowed.OUTSIDE:
            return variables
        variables, lost = self._unreviewed.without(variables)
        if lost and not self._has_said:
            self._has_said = True
            self.say(
                "commands of secrets run without what leads into the checkout, as the change is "
                f"not reviewed: {', '.join(map(safe, lost))}"
            )
        return variables


def secrets_of(
    project: Project,
    name: str,
    environment: Environment,
    environ: Mapping[str, str],
    allowed: Allowed = Allowed.ALL,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> Secrets:
    """Return the secrets of an environment; none is looked up yet.

    Sources of the environment win over those of the project.
    """
    return Secrets(
        environ=environ,
        project=project,
        environment=name,
        places={**project.settings.secrets, **environment.secrets},
        withheld=withheld_from(environ),
        allowed=allowed,
        say=say,
    )


def named_secrets(
    options: Options, project: Project, name: str, environment: Environment
) -> frozenset[str]:
    """Return the values of secrets that the manifests name, to hide them. Nothing else is read."""
    return frozenset(secrets_named(options, project, name, environment).values())


def secrets_named(
    options: Options, project: Project, name: str, environment: Environment
) -> dict[str, str]:
    """Return the secrets named in the texts of manifests with their values, "" where not set.

    No command is run, as the values are only to be hidden.
    """
    known = secrets_of(project, name, environment, os.environ)
    printed = {secret for secret, place in known.places.items() if place.command is not None}
    values: dict[str, str] = {}
    for file in find_files(manifest_paths(options, project), project.root).files:
        text = read_file(file.path, file.name, (project.root.resolve(),))
        names = secrets_in(text) if isinstance(text, str) else ()
        values.update((name, known.get(name, "")) for name in names if name not in printed)
    return values


def _filled(text: str, otherwise: str = "is empty") -> str:
    if not text:
        raise _Missing(otherwise)
    return text


def _text(content: bytes) -> str:
    """Return a value without the final line break that files and programs end with."""
    if len(content) > LARGEST:
        raise _Missing(f"holds more than {LARGEST >> 10} KB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise _Missing("is not UTF-8") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if "\0" in text:
        raise _Missing("holds a NUL")
    return text


def _run(words: list[str], folder: Path, environ: Mapping[str, str], limit: float) -> bytes:
    """Run a program and return its output; reading stops soon after `LARGEST` bytes.

    Its stderr may hold the secret, and is shown nowhere.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; reviewed settings name it
            words,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _Missing(f"cannot be run: {error.strerror}") from None
    with process:
        try:
            out = _read(process, limit)
            code = 0 if len(out) > LARGEST else process.wait(limit)
        except subprocess.TimeoutExpired:
            raise _Missing(f"gave no answer within {limit:g} s") from None
        finally:
            # This also ends all processes that the program started.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    if code:
        raise _Missing(f"ended with {code}")
    return out


def _read(process: subprocess.Popen[bytes], limit: float) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    ends, out = time.monotonic() + limit, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(out) <= LARGEST:
            if not selector.select(max(0.0, ends - time.monotonic())):
                raise subprocess.TimeoutExpired(process.args, limit)
            piece = os.read(process.stdout.fileno(), LARGEST)
            if not piece:
                break
            out += piece
    return out
