"""The waits of a run in one line, cut to a terminal's width where there is one. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from reconciler.model.quoting import and_more
from reconciler.report.safe import columns, cut, safe
from reconciler.runtime import progress

NAMED_AFTER = 1.0
"""Seconds; a shorter wait is only counted."""

LONGEST_WHY = 60
_SHORTEST_NAME = 16
_DEEDS = {
    progress.Deed.OPENING: "reading the project",
    progress.Deed.REMEMBERING: "reading the journal",
    progress.Deed.CONNECTING: "opening the client of the API",
    progress.Deed.LOADING: "reading manifests",
    progress.Deed.CHECKING: "checking manifests",
    progress.Deed.READING: "reading",
    progress.Deed.COMPARING: "comparing with live",
    progress.Deed.JUDGING: "judging what will be written",
    progress.Deed.ASKING: "asking whether it may be written",
    progress.Deed.WRITING: "writing",
    progress.Deed.LISTING: "listing",
    progress.Deed.REPORTING: "writing the report",
}
_LIVE = {progress.Deed.READING: "reading live"}
_WAITED: Mapping[progress.WaitKind, str] = {
    progress.Answering: "waiting for answers, side by side",
    progress.AskedAgain: "waiting to ask again",
    progress.Keeping: "waiting for what keeps the journal",
    progress.Passing: "waiting for time to pass",
}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

Hide = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Words:
    """A wait. `name` is foreign text, and is shortened where there is no room."""

    before: str
    name: str
    after: str

    def fitting(self, room: int, more: str, shortest: int) -> str | None:
        """Return the words in `room` columns, None where too little of the name would be left."""
        left = room - columns(self.before + self.after + more)
        if left < min(shortest, columns(self.name)):
            return None
        return f"{self.before}{cut(self.name, left)}{self.after}{more}"


def waiting_line(now: progress.Now, hide: Hide, width: int | None = None) -> str:
    """Return what is done and waited for, "" for nothing; `width` is None where nothing is cut.

    `hide` removes secrets from foreign text before the cut, as half a secret would not be
    recognized.
    """
    step = next((_step(step, hide) for step in now.steps if not step.is_over), "")
    waits = [wait for wait in now.waits if not step or _lasts(wait, now.at)]
    if not waits:
        return step if width is None else cut(step, width)
    words = _wait(waits[0], now.at, hide)
    more = and_more(len(waits) - 1)
    more = f" {more}" * bool(more)
    begin = f"{step}; " if step else ""
    if width is None:
        return f"{begin}{words.before}{words.name}{words.after}{more}"
    # The wait is more useful than the progress.
    for first, last in ((begin, more), (begin, ""), ("", more)):
        fitting = words.fitting(width - columns(first), last, _SHORTEST_NAME)
        if fitting is not None:
            return first + fitting
    return words.fitting(width, "", 1) or cut(f"{words.before}{words.name}{words.after}", width)


def timing_lines(
    waits: progress.Waits, start: float, wall: float, processor: float
) -> Iterator[str]:
    """Yield where the time of a run went, in seconds: rows that add up to the whole, as printed.

    `start` is the processor time of starting, and `processor` the processor time of all. Rows for
    what ran in parallel, or inside another row, follow separately.
    """
    done = Counter[progress.Deed]()
    apart: list[str] = []
    for sort, time in waits.spent.items():
        if not isinstance(sort, tuple):
            mean = f", {time.seconds / time.times * 1000:,.0f} ms each" if time.times > 1 else ""
            apart.append(_row(time.seconds, f"{_waited(sort)}: {time.times:,}{mean}"))
            continue
        deed, things = sort
        done[deed] += time.done
        if things:
            of_things = f"{_DEEDS[deed]} {_spoken(safe(things))}: {time.done:,}"
            apart.append(_row(time.seconds, of_things))
    # Cut to what is printed, so that the sum of the printed figures is the printed whole.
    rows = {"starting": _printed(start)}
    for share, seconds in waits.shares.items():
        match share:
            case progress.Deed():
                words = f"{_LIVE.get(share, _DEEDS[share])}{_count(done[share])}"
            case _:
                words = _waited(share)
        rows[words] = _printed(seconds)
    whole = max(_printed(start + wall), sum(rows.values()))
    yield f"took {whole / 100:,.2f} s; {processor:,.2f} s of the processor"
    for words, hundredths in rows.items():
        yield _row(hundredths / 100, words)
    yield _row((whole - sum(rows.values())) / 100, "the rest")
    if apart:
        yield "of that, side by side or inside one another"
        yield from apart


def _printed(seconds: float) -> int:
    return int(seconds * 100)


def _row(seconds: float, words: str) -> str:
    return f"  {seconds:8,.2f} s  {words}"


def _waited(sort: type[progress.Wait]) -> str:
    return f"waiting for {sort.what}" if issubclass(sort, progress.NamedWait) else _WAITED[sort]


def _lasts(noted: progress.Noted, now: float) -> bool:
    until = noted.wait.until if isinstance(noted.wait, progress.AskedAgain) else now
    return max(now, until) - noted.since >= NAMED_AFTER


def _step(step: progress.Progress, hide: Hide) -> str:
    things = f" {_spoken(safe(hide(step.things)))}" if step.things else ""
    count = f": {step.done:,} of {step.total:,}" if step.total is not None else _count(step.done)
    return f"{_DEEDS[step.deed]}{things}{count}"


def _count(done: int) -> str:
    return f": {done:,}" if done else ""


def _spoken(things: str) -> str:
    """Return the plural of a kind's name in spoken form; a plural stays as it is."""
    spoken = _HUMP.sub(" ", things)
    spoken = spoken if spoken.isupper() else spoken.lower()
    return spoken if spoken.endswith("s") else f"{spoken}s"


def _wait(noted: progress.Noted, now: float, hide: Hide) -> _Words:
    seconds = int(now - noted.since)
    long = f", {seconds:,} s" if seconds else ""
    match noted.wait:
        case progress.Answering(method=method, path=path):
            return _Words("waiting for ", _request(method, path, hide), f" to answer{long}")
        case progress.AskedAgain(method=method, path=path, until=until, status=status, why=why):
            left = max(0, round(until - now))
            cause = str(status) if status is not None else safe(hide(why), LONGEST_WHY)
            after = f" is asked again in {left:,} s ({cause})"
            return _Words("", _request(method, path, hide), after)
        case progress.NamedWait(what=what, said=why):
            return _Words(f"waiting for {what}{long} (", safe(hide(why)), ")")
        case progress.Keeping(place=place):
            return _Words("waiting for the journal ", safe(hide(place)), long)
        case progress.Passing(until=until):
            return _Words("", f"waiting {max(0, round(until - now)):,} s more", "")
        case _:
            assert_never(noted.wait)


def _request(method: str, path: str, hide: Hide) -> str:
    return safe(hide(f"{method} {path}"))
