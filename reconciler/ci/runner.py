"""Runner of a job: its inputs, and our messages and files for it."""

import io
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

from reconciler import __version__
from reconciler.ci.forge import root_of
from reconciler.cli.console import redacted
from reconciler.errors import InvalidInput, OutputLost, UsageError
from reconciler.journal.store import LockTimeout
from reconciler.model.guards import FLAGS
from reconciler.operations import added_by_features as added
from reconciler.planning.guards import OverrideReasons, read_overridden
from reconciler.project import BASE_URL, Shard, read_shard
from reconciler.report.markdown import ANNOTATIONS_OF_A_LEVEL, LARGEST_OUTPUTS, SUMMARY_BYTES
from reconciler.report.safe import for_workflow_data, safe
from reconciler.runtime.connection import keys_in
from reconciler.syntax.suggestions import nearest

FLAG = ("false", "true")
NO_FLAG = ("true", "false")

INPUTS: dict[str, tuple[str, ...]] = {
    "command": ("plan", "apply", "validate", "drift", *added.STEPS, *added.PROPOSING_STEPS),
    "path": (".",),
    "environment": ("",),
    "shard": ("",),
    "project": ("",),
    "base-url": ("",),
    "api-key": ("",),
    "comment": ("changes", "always", "on-error", "never", "new"),
    "comment-failure": ("warn", "error"),
    "summary": NO_FLAG,
    "annotations": NO_FLAG,
    "sarif-file": ("",),
    "plan-file": ("",),
    "require-plan": ("comment", "file", "none"),
    "allow-destroy": ("false",),
    "new-journal": ("false",),
    "override-guard": ("",),
    "on-refusal": ("error", "warn"),
    **dict.fromkeys(added.ADDED_OPTIONS, ("",)),
    "fail-on-changes": FLAG,
    "remember": FLAG,
    **dict.fromkeys(added.PROPOSALS, ("never", "pull-request")),
    **dict.fromkeys(added.STEP_INPUTS, ("",)),
    "allow-untrusted-manifests": FLAG,
    "version": ("",),
    "token": ("",),
}
"""Every input, its default first; where there are more values, only these are allowed."""

_AS_GIVEN = ("command", "path", "environment", "project", "comment", "require-plan")
_IF_TRUE = ("summary", "annotations", "fail-on-changes", "remember")
_PLAN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WORD = re.compile(r"[^\W\d_]{2}")
_REFUSAL = re.compile(
    r"\W*(no|not|never|none|nope|nil|null|undefined|n/?a|disabled?|den(y|ied)|reject(ed)?"
    r"|forbid(den)?|off|false|[fn0])\b"
)
_MEANT = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Checked inputs. `base_url` is the only place the key may be sent to, "" if not set.

    `flags` are the flags of consent, with the reasons that the journal keeps, "" for none. `waits`
    has by input how long an apply waits before it takes the lock. `proposals` are the inputs that
    ask for a pull request, and `of_steps` the texts of the inputs of steps.
    """

    command: str
    path: str
    environment: str
    project: str
    base_url: str
    comment: Literal["changes", "always", "on-error", "never", "new"]
    require_plan: Literal["comment", "file", "none"]
    comment_must_work: bool
    summary: bool
    annotations: bool
    flags: Mapping[str, str]
    overridden: OverrideReasons
    refusal_fails: bool
    waits: Mapping[str, LockTimeout]
    fail_on_changes: bool
    remember: bool
    proposals: tuple[str, ...]
    of_steps: Mapping[str, str]
    allow_untrusted: bool
    plan_file: Path
    sarif_file: Path | None = None
    shard: Shard | None = None
    token: str = field(default="", repr=False)

    @property
    def files(self) -> dict[str, tuple[Path, ...]]:
        """Return the folders of files with consent, by input."""
        given = {name: self.of_steps.get(name, "") for name in added.CONSENT_FILES}
        return {name: (Path(folder),) for name, folder in given.items() if folder}

    @property
    def root(self) -> str:
        """Return the part of the comment's key that is made of `path` and `shard`."""
        root = root_of(self.path)
        return root if self.shard is None else root_of(f"{root}/{self.shard.key}")

    @property
    def artifact(self) -> str:
        """Return the name of the stored plan file, which differs by environment, path and shard.

        For drift the file is the page of live edits.
        """
        name = f"{'drift' if self.command == 'drift' else 'plan'}-{self.environment or 'default'}"
        place = root_of(self.path)
        named = name if place == root_of(".") else f"{name}-{place}"
        return named if self.shard is None else f"{named}-{self.shard.key}"


def read_inputs(
    environ: Mapping[str, str], command: str | None, flags: Mapping[str, str] | None = None
) -> Inputs:
    """Read and check the inputs; `command` and `flags` of the command line override them.

    Raises UsageError with the input and its allowed values.
    """
    given = {
        name: environ.get(f"INPUT_{name.replace('-', '_').upper()}", "") or choices[0]
        for name, choices in INPUTS.items()
    }
    given.update(flags or {}, command=command or given["command"])
    for name, choices in INPUTS.items():
        if len(choices) > 1:
            given[name] = given[name].strip()
            if given[name] not in choices:
                raise UsageError(_not_among(name, given[name], choices))
    if given["version"] not in ("", __version__):
        raise UsageError(f"`version`: this is {__version__}; use the action at another tag")
    if not _PLAN_NAME.fullmatch(given["environment"] or "default"):
        raise UsageError(f"`environment`: `{given['environment']}` is no name of an environment")
    of_steps = {name: given[name] for name in added.STEP_INPUTS}
    for name in filter(of_steps.get, of_steps):
        added.STEP_INPUTS.load(name)(of_steps[name])
    with _named("shard"):
        shard = read_shard(given["shard"]) if given["shard"] else None
    sarif = given["sarif-file"]
    as_given: dict[str, Any] = {name: given[name] for name in _AS_GIVEN}
    as_given |= {name: given[name] == "true" for name in _IF_TRUE}
    inputs = Inputs(
        **{name.replace("-", "_"): value for name, value in as_given.items()},
        base_url=(given["base-url"] or environ.get(BASE_URL, "")).strip().rstrip("/"),
        comment_must_work=given["comment-failure"] == "error",
        flags=_consent_flags(given),
        overridden=_overridden(given["override-guard"]),
        refusal_fails=given["on-refusal"] == "error",
        waits=_waits(given),
        proposals=tuple(name for name in added.PROPOSALS if given[name] == "pull-request"),
        of_steps=of_steps,
        allow_untrusted=given["allow-untrusted-manifests"] == "true",
        plan_file=Path(),
        shard=shard,
        sarif_file=Path(sarif) if sarif else None,
        token=given["token"] or environ.get("GITHUB_TOKEN", ""),
    )
    # By default the file of the plan is not where manifests are read.
    folder = Path(environ.get("RUNNER_TEMP", "") or ".")
    ending = "html" if inputs.command == "drift" else "json"
    file = Path(given["plan-file"] or folder / f"{inputs.artifact}.{ending}")
    return replace(inputs, plan_file=file.absolute())


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Raise errors of the block as UsageError that begins with the name of the input."""
    try:
        yield
    except (UsageError, ValueError) as error:
        raise UsageError(f"`{name}`: {error}") from error


def _flag_or_reason(name: str, given: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether an input consents, and the reason that it gives, "" for none."""
    text = given[name].strip()
    folded = text.casefold()
    if text in FLAG:
        return text == "true", ""
    # A reason has a word, is no refusal and no expression.
    is_reason = _WORD.search(folded) and not _REFUSAL.match(folded) and "{{" not in folded
    if folded in (*FLAG, *_MEANT) or nearest(folded, FLAG) or not is_reason:
        raise UsageError(_not_among(name, given[name], FLAG))
    return True, text


def _consent_flags(given: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in filter(INPUTS.__contains__, FLAGS):
        # A flag with an empty default, such as `break-glass`, needs a reason; `true` is not a
        # reason.
        needs_reason = not INPUTS[name][0]
        if needs_reason and not given[name].strip():
            continue
        consents, why = _flag_or_reason(name, given)
        if needs_reason and consents and not why:
            raise UsageError(f"`{name}` takes the reason why, which the journal keeps, not `true`")
        if consents:
            found[name] = why
    return found


def _overridden(lines: str) -> OverrideReasons:
    with _named("override-guard"):
        read = read_overridden(line for line in lines.splitlines() if line.strip())
    if read.reason is not None:
        raise UsageError("`override-guard` takes lines `CODE=REASON`, with a code of a guard each")
    return read


def _waits(given: Mapping[str, str]) -> dict[str, LockTimeout]:
    waits: dict[str, LockTimeout] = {}
    for name in filter(given.get, added.BEFORE_LOCK):
        with _named(name):
            waits[name] = LockTimeout.of(given[name])
    waited = [name for name, patience in waits.items() if patience.seconds]
    if pair := added.excluding([*(name for name in added.REASONS if given[name].strip()), *waited]):
        raise UsageError(f"`{pair[0]}` and `{pair[1]}` exclude each other")
    return waits


def _not_among(name: str, given: str, choices: tuple[str, ...]) -> str:
    folded = given.strip().casefold()
    near = folded if folded in choices else _MEANT.get(folded, "") or nearest(folded, choices)
    hint = f": did you mean `{near}`?" if near in choices else ""
    listed = " or ".join(sorted(choices, reverse=True)) if len(choices) == len(FLAG) else ""
    return f"`{name}` is {listed or 'one of ' + ', '.join(choices)}, and not `{given}`{hint}"


AnnotationLevel: TypeAlias = Literal["error", "warning", "notice"]

PREFIX = "| "
LONGEST_LINE = 20_000
_TOKENS = ("INPUT_TOKEN", "GITHUB_TOKEN")


class Log(io.TextIOBase):
    """A stream of foreign lines. A prefix makes each line harmless."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._rest = ""

    def writable(self) -> bool:
        """Return true: it is writable."""
        return True

    def write(self, text: str) -> int:
        """Write the whole lines of a text, and keep the rest."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._stream.write(f"{PREFIX}{safe(line, LONGEST_LINE)}\n")
        return len(text)

    def flush(self) -> None:
        """Flush what was written, whole lines only."""
        self._stream.flush()

    def end(self) -> None:
        """Write the rest of the text, if its last line has no line break."""
        if self._rest:
            self.write("\n")
        self.flush()


@dataclass(slots=True, kw_only=True)
class Runner:
    """Runner of this job. Outside of the forge there is none, and messages are plain text.

    `output` and `summary` are its files, None where it has none.
    """

    stream: TextIO
    is_forge: bool
    output: Path | None = None
    summary: Path | None = None
    _said: dict[AnnotationLevel, int] = field(default_factory=dict)

    def mask(self, environ: Mapping[str, str]) -> None:
        """Register the key and the token as masks; nothing may be printed before."""
        if not self.is_forge:
            return
        for secret in (*keys_in(environ).values(), *(environ.get(name, "") for name in _TOKENS)):
            for line in secret.splitlines():
                if line.strip():
                    self._speak(f"::add-mask::{_escaped(line.strip())}")

    def say(self, level: AnnotationLevel, text: str) -> None:
        """Show a line to people: next to the change on the forge, else in the log."""
        text = redacted(text)
        self._said[level] = self._said.get(level, 0) + 1
        if self.is_forge and self._said[level] <= ANNOTATIONS_OF_A_LEVEL:
            self._speak(f"::{level} title=reconciler::{for_workflow_data(text)}")
        else:
            self._speak(f"{PREFIX}{level}: {safe(text, LONGEST_LINE)}")

    def annotate(self, lines: list[str]) -> None:
        """Write workflow commands that report/complaints/annotations.py made."""
        if not self.is_forge:
            return
        for line in lines:
            level: AnnotationLevel = "error" if line.startswith("::error") else "warning"
            self._said[level] = self._said.get(level, 0) + 1
            self._speak(redacted(line))

    @contextmanager
    def log(self) -> Iterator[None]:
        """Treat all that is printed meanwhile as foreign text."""
        log = Log(self.stream)
        try:
            with redirect_stdout(log), redirect_stderr(log):
                yield
        finally:
            log.end()

    def write_outputs(self, outputs: Mapping[str, str]) -> None:
        """Append outputs in a form that no value can break out of.

        Raises InvalidInput for a value that holds its delimiter, or for outputs that are too large,
        and OutputLost where they cannot be written.
        """
        if self.output is None:
            return
        parts = []
        for name, content in outputs.items():
            delimiter = secrets.token_hex(16)
            if delimiter in content:
                raise InvalidInput(f"the output {name} holds its own delimiter")
            parts.append(f"{name}<<{delimiter}\n{redacted(content)}\n{delimiter}\n")
        text = "".join(parts)
        if len(text.encode()) > LARGEST_OUTPUTS:
            raise InvalidInput("the outputs are larger than a job may give")
        _append(self.output, text)

    def write_summary(self, text: str) -> None:
        """Append to the job's summary the whole lines that fit: a larger summary would be lost.

        Raises OutputLost where it cannot be written.
        """
        if self.summary is None:
            return
        raw = redacted(text).encode("utf-8", "replace")
        if len(raw) > SUMMARY_BYTES:
            raw = raw[:SUMMARY_BYTES].rpartition(b"\n")[0] + b"\n"
        _append(self.summary, raw.decode("utf-8"))

    def _speak(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise OutputLost(f"{file} cannot be written: {error.strerror}") from error


def _escaped(text: str) -> str:
    """Return a mask escaped for a workflow command, not sanitised: it must match exactly."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
