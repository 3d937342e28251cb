"""Errors that stop a run, each with its exit code. Source: docs/exit-codes.md.

ReconcilerError                1
├── InvalidInput               4    manifests, project file, plan file
├── UsageError                64    flags that do not fit, no target
│   └── MissingExtra                an extra of the installation is missing
├── Locked                     5
├── Stale                      6    live or manifests are not what was reviewed
├── Unsettled                  7    an earlier create is in doubt
├── JournalError               8    cannot be read or written
├── Unavailable                9    the service, after all retries
│   ├── Redirected                  never followed
│   ├── WrongRoute                  the base URL does not lead to the API
│   ├── UnreadableReply             a 2xx that cannot be parsed
│   │   ├── AnotherRecord           an answer about something else than was requested
│   │   ├── CutListing              a listing that ends before its announced end
│   │   └── UnclearAbsence          a 404 that may be about something else than the resource
│   └── OutcomeUnknown              a write without a received answer
├── NotAuthorised             10    no key, a refused key, a missing permission
├── ServiceRefused             3    the service refused one request
├── GuardRefused              11    needs consent
└── OutputLost                74    stdout could not be written
    └── PipeClosed           141    its reader has left: reported by the code alone
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Self


class ExitCode(IntEnum):
    """Exit codes of commands, with their `words`. docs/exit-codes.md explains them.

    `reason` is the output `failure-reason` of a job that ends so, "" where that is no failure.
    """

    reason: str
    words: str

    def __new__(cls, code: int, reason: str, words: str) -> Self:
        """Return a code with its reason and its words."""
        made = int.__new__(cls, code)
        made._value_, made.reason, made.words = code, reason, words
        return made

    DONE = 0, "", "done, or nothing to do"
    INTERNAL = 1, "internal", "internal error"
    DIFFERENT = (
        2,
        "",
        (
            "changes (`plan --exit-code`), drift, or other differences or findings that a command "
            "looks for"
        ),
    )
    PARTIAL = 3, "partial", "applied in part"
    INVALID = 4, "validation", "invalid manifest or project file"
    LOCKED = 5, "locked", "locked"
    STALE = 6, "stale", "stale: live or manifests changed since the reviewed plan"
    IN_DOUBT = 7, "in-doubt", "in doubt: an earlier create is unsettled"
    JOURNAL = 8, "journal", "the journal could not be read or written"
    UNAVAILABLE = 9, "api", "service unavailable or rate limited"
    NOT_AUTHORISED = 10, "auth", "not authorised"
    GUARDED = 11, "guard", "refused by a guard"
    USAGE = 64, "validation", "usage"
    OUTPUT_LOST = 74, "internal", "stdout could not be written"
    HUNG_UP = 129, "internal", "stopped by SIGHUP"
    INTERRUPTED = 130, "internal", "stopped by SIGINT"
    PIPE_CLOSED = 141, "internal", "stdout is a pipe that no longer has a reader"
    TERMINATED = 143, "internal", "stopped by SIGTERM"


class ReconcilerError(Exception):
    """Root of the errors that a command reports without a traceback."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL
    failure_reason: ClassVar[str] = ""
    """The `failure-reason` of a job that it ends, where that is not the reason of the exit code."""
    doubtful: bool = False
    """True if the request in question may have been carried out in spite of the error."""


class InvalidInput(ReconcilerError):
    """A file that cannot be used as it is."""

    exit_code = ExitCode.INVALID


class UsageError(ReconcilerError):
    """A command line that asks for something impossible."""

    exit_code = ExitCode.USAGE


class MissingExtra(UsageError):
    """A feature of an extra that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        remedy = f"in a checkout of the project: pip install '.[{extra}]'"
        super().__init__(f"{what} needs the extra `{extra}`; {remedy}")


class Locked(ReconcilerError):
    """Another run has locked the journal."""

    exit_code = ExitCode.LOCKED


class Stale(ReconcilerError):
    """The changes to write are not those that were reviewed."""

    exit_code = ExitCode.STALE


class Unsettled(ReconcilerError):
    """A create with an unknown outcome blocks the run."""

    exit_code = ExitCode.IN_DOUBT


class JournalError(ReconcilerError):
    """The journal cannot be trusted or kept."""

    exit_code = ExitCode.JOURNAL


class Unavailable(ReconcilerError):
    """The service gave no usable answer."""

    exit_code = ExitCode.UNAVAILABLE


class Redirected(Unavailable):
    """The service answered with a redirect, which is never followed."""


class WrongRoute(Unavailable):
    """The address answers, but is not the management API."""


class UnreadableReply(Unavailable):
    """A success with a body that cannot be read."""

    doubtful = True


class AnotherRecord(UnreadableReply):
    """An answer about something else than was requested, so that none of it is usable."""


class CutListing(UnreadableReply):
    """A listing that ends before its announced end."""


class UnclearAbsence(UnreadableReply):
    """A 404 without a message for an undocumented path: the record or the path may not exist."""


class OutcomeUnknown(Unavailable):
    """The request may or may not have been carried out."""

    doubtful = True


class NotAuthorised(ReconcilerError):
    """The service does not accept the key, or, if `known`, the key lacks a permission."""

    exit_code = ExitCode.NOT_AUTHORISED

    def __init__(self, message: str, *, known: bool = False) -> None:
        super().__init__(message)
        self.known = known


class ServiceRefused(ReconcilerError):
    """The service refused one request; `status` is its HTTP status."""

    exit_code = ExitCode.PARTIAL

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class GuardRefused(ReconcilerError):
    """The plan needs consent; each of the `refusals` says for what."""

    exit_code = ExitCode.GUARDED

    def __init__(self, *refusals: str) -> None:
        super().__init__("\n".join(refusals))
        self.refusals = refusals


class OutputLost(ReconcilerError):
    """The output of a command could not be printed; `ending` is the exit code without this loss."""

    exit_code = ExitCode.OUTPUT_LOST

    def __init__(self, message: str, ending: int = ExitCode.DONE) -> None:
        super().__init__(message)
        self.ending = ending

    @classmethod
    def by(cls, why: OSError, ending: int = ExitCode.DONE) -> OutputLost:
        """Return the error for data that could not be written, after a run with this exit code."""
        if isinstance(why, BrokenPipeError):
            return PipeClosed("stdout no longer has a reader", ending)
        return OutputLost(f"stdout could not be written: {why.strerror or why}", ending)


class PipeClosed(OutputLost):
    """Stdout is a pipe that its reader has closed, as `head` does."""

    exit_code = ExitCode.PIPE_CLOSED


SIGNALLED = (ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED)
PRECEDENCE = (
    *SIGNALLED,
    ExitCode.JOURNAL,
    ExitCode.IN_DOUBT,
    ExitCode.NOT_AUTHORISED,
    ExitCode.UNAVAILABLE,
    ExitCode.STALE,
    ExitCode.LOCKED,
    ExitCode.GUARDED,
    ExitCode.PARTIAL,
    ExitCode.OUTPUT_LOST,
    ExitCode.PIPE_CLOSED,
)
"""Order of exit codes: effects on the service come before the loss of output."""


def worst(codes: set[int]) -> int:
    """Return the exit code of a run to which several apply (docs/exit-codes.md)."""
    return next((code for code in PRECEDENCE if code in codes), max(codes, default=0))
