"""What stops a run, each with its exit code. Source: docs/exit-codes.md.

ReconcilerError                1
├── InvalidInput               4    manifests, project file, plan file
├── UsageError                64    flags that do not fit, no target
│   └── MissingExtra                what only an extra of the installation can do
├── Locked                     5
├── Stale                      6    live or manifests are not what was reviewed
├── Unsettled                  7    an earlier create is in doubt
├── JournalError               8    cannot be read or written
├── Unavailable                9    the service, after all retries
│   ├── Redirected                  never followed
│   ├── WrongRoute                  the base URL does not lead to the API
│   ├── UnreadableReply             a 2xx that cannot be parsed
│   └── OutcomeUnknown              a write whose answer was lost
├── NotAuthorised             10    no key, a refused key, a missing permission
├── ServiceRefused             3    the service said no to one request
├── GuardRefused              11    needs consent
└── OutputLost                74    stdout could not be written
    └── PipeClosed           141    nobody reads it any more: told by the code alone
"""

from __future__ import annotations

from typing import ClassVar


class ReconcilerError(Exception):
    """Root of everything a command reports without a traceback."""

    exit_code: ClassVar[int] = 1
    doubtful: bool = False
    """Whether a request that this is about may have been carried out all the same."""


class InvalidInput(ReconcilerError):
    """A file that cannot be used as it is."""

    exit_code = 4


class UsageError(ReconcilerError):
    """A command line that asks for what cannot be done."""

    exit_code = 64


class MissingExtra(UsageError):
    """What only an extra can do, asked for where that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        way_out = f"in a checkout of the project: pip install '.[{extra}]'"
        super().__init__(f"{what} needs the extra `{extra}`; {way_out}")


class Locked(ReconcilerError):
    """Another run holds the journal."""

    exit_code = 5


class Stale(ReconcilerError):
    """What would be written is not what was reviewed."""

    exit_code = 6


class Unsettled(ReconcilerError):
    """A create whose outcome nobody knows stands in the way."""

    exit_code = 7


class JournalError(ReconcilerError):
    """The journal cannot be trusted or kept."""

    exit_code = 8


class Unavailable(ReconcilerError):
    """The service gave no usable answer."""

    exit_code = 9


class Redirected(Unavailable):
    """The service answered with a redirect, which is never followed."""


class WrongRoute(Unavailable):
    """The address answers, but is not the management API."""


class UnreadableReply(Unavailable):
    """A success whose body cannot be read."""

    doubtful = True


class OutcomeUnknown(Unavailable):
    """The request may or may not have been carried out."""

    doubtful = True


class NotAuthorised(ReconcilerError):
    """The service does not accept the key, or, where `known`, the key lacks a permission."""

    exit_code = 10

    def __init__(self, message: str, *, known: bool = False) -> None:
        super().__init__(message)
        self.known = known


class ServiceRefused(ReconcilerError):
    """The service refused one request; `status` is its HTTP status."""

    exit_code = 3

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class GuardRefused(ReconcilerError):
    """The plan does what may not be done without consent: each of the `refusals` says what."""

    exit_code = 11

    def __init__(self, *refusals: str) -> None:
        super().__init__("\n".join(refusals))
        self.refusals = refusals


class OutputLost(ReconcilerError):
    """What a command was asked for could not be printed; `ending` is what it ends with else."""

    exit_code = 74

    def __init__(self, message: str, ending: int = 0) -> None:
        super().__init__(message)
        self.ending = ending


class PipeClosed(OutputLost):
    """Stdout is a pipe whose reader has left, as `head` does."""

    exit_code = 141


EXIT_CODES: dict[int, str] = {
    0: "done, or nothing to do",
    1: "internal error",
    2: "changes (`plan --exit-code`), or drift",
    3: "applied in part",
    4: "invalid manifest or project file",
    5: "locked",
    6: "stale: live or manifests changed since the reviewed plan",
    7: "in doubt: an earlier create is unsettled",
    8: "the journal could not be read or written",
    9: "service unavailable or rate limited",
    10: "not authorised",
    11: "refused by a guard",
    64: "usage",
    74: "stdout could not be written",
    129: "stopped by SIGHUP",
    130: "stopped by SIGINT",
    141: "stdout is a pipe that nobody reads any more",
    143: "stopped by SIGTERM",
}

SIGNALLED = (129, 130, 143)
PRECEDENCE = (*SIGNALLED, 8, 7, 10, 9, 6, 5, 11, 3, 74, 141)
"""What a run did to the service comes before who could read of it."""


def worst(codes: set[int]) -> int:
    """Give the exit code of a run in which several apply (docs/exit-codes.md)."""
    return next((code for code in PRECEDENCE if code in codes), max(codes, default=0))
