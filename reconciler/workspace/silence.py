"""Collection of complaints, and choice of those to report: levels, comments and exemptions.

Pure. Source: docs/practice.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.model import Manifest, Member
from reconciler.model.guards import OWN_RULE
from reconciler.project import levels
from reconciler.syntax.diagnostic import (
    REMOVE,
    Complaint,
    Finding,
    Lines,
    Severity,
    Suppressed,
    complaint_at,
)
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import DocumentText, Reading, complaints_of_text
from reconciler.syntax.syntax_tree import MARK, Ignoring, ignoring_comments

SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}


@dataclass(frozen=True, slots=True)
class Silenced:
    """Reported complaints, suppressed complaints, and the comments that ignore nothing."""

    complaints: tuple[Complaint, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[Complaint, ...]


@dataclass(frozen=True, slots=True)
class _IgnoringComment:
    file: str
    lines: Lines
    asked: Ignoring


@dataclass(slots=True)
class Silencing:
    """Settings for reporting: levels in `checks`, names of `rules`, comments by their lines."""

    checks: Mapping[str, levels.Level]
    rules: Collection[str] = ()
    _comments: list[_IgnoringComment] = field(default_factory=list)
    _first: dict[tuple[str, int, str], _IgnoringComment] = field(default_factory=dict)

    def read(self, file: str, lines: Lines) -> Iterator[Complaint]:
        """Read the comments of a YAML file; yield complaints about malformed comments."""
        if MARK not in lines.text:
            return
        for ignoring in ignoring_comments(lines.text):
            for finding in _wrong(ignoring, self.rules):
                yield complaint_at(file, lines, ignoring.line, ignoring.column, finding)
            if ignoring.codes and ignoring.reason:
                comment = _IgnoringComment(file, lines, ignoring)
                self._comments.append(comment)
                for code in ignoring.codes:
                    self._first.setdefault((file, ignoring.about, code), comment)

    def told(self, complaints: Iterable[Complaint], manifests: Iterable[Manifest]) -> Silenced:
        """Separate reported from suppressed complaints, by comments and by exemptions.

        Exemptions come before levels: a complaint that is off is not reported anyway.
        """
        exempt = {str(manifest.ref): manifest.exempt for manifest in manifests if manifest.exempt}
        reported: list[Complaint] = []
        suppressed: list[Suppressed] = []
        used: set[tuple[str, int, int, str]] = set()
        unjudged: set[str] = set()
        for complaint in complaints:
            if complaint.is_error:
                unjudged.add(complaint.file)
            if not _has_choice(complaint):
                reported.append(complaint)
                continue
            comment = self._ignoring(complaint)
            exemption = exempt.get(complaint.ref, {}).get(complaint.code)
            if comment is not None:
                used.add((complaint.file, comment.asked.line, comment.asked.column, complaint.code))
                suppressed.append(Suppressed(complaint, comment.asked.reason))
            elif exemption is not None:
                suppressed.append(Suppressed(complaint, exemption.reason))
            else:
                reported.extend(self._levelled(complaint))
        return Silenced(tuple(reported), tuple(suppressed), tuple(self._idle(used, unjudged)))

    def _ignoring(self, complaint: Complaint) -> _IgnoringComment | None:
        # A text of several lines contains no comments: the line of its key counts too.
        lines = (complaint.line, complaint.begun) if complaint.begun else (complaint.line,)
        found = (self._first.get((complaint.file, line, complaint.code)) for line in lines)
        return next(filter(None, found), None)

    def _levelled(self, complaint: Complaint) -> Iterator[Complaint]:
        level = self.checks.get(complaint.code)
        if level is None:
            yield complaint
        elif level != "off":
            yield replace(complaint, severity=SEVERITIES[level])

    def _idle(
        self, used: Collection[tuple[str, int, int, str]], unjudged: Collection[str]
    ) -> Iterator[Complaint]:
        """Yield the comments that ignore nothing; files with errors are not fully checked."""
        for comment in self._comments:
            at = (comment.file, comment.asked.line, comment.asked.column)
            for code in comment.asked.codes or () if comment.file not in unjudged else ():
                # Complaints that are off, or come from audits, are not looked for in this run.
                is_made = levels.is_on(code, self.checks, only_asked=levels.is_off_by_default(code))
                is_asked = is_made and not code.startswith(levels.AUDIT) and not _is_gone(code)
                if (*at, code) in used or not is_asked:
                    continue
                if levels.has_a_level(code, self.rules):
                    message = f"line {comment.asked.about} has no complaint {code} to be ignored"
                    finding = Finding("M117", (), message, Severity.WARNING, REMOVE)
                    complaint = complaint_at(comment.file, comment.lines, *at[1:], finding)
                    yield from self._levelled(complaint)


def _is_gone(code: str) -> bool:
    """Return whether a code is of the checks of practice, and these are no part of this program."""
    is_of_lint = code.startswith(levels.PRACTICE) and not code.startswith(levels.QUERIES)
    return is_of_lint and levels.PRACTICE not in levels.OFF_BY_DEFAULT


def _has_choice(complaint: Complaint) -> bool:
    """Return whether a complaint may be ignored; an error that breaks something may not."""
    if complaint.code.startswith((levels.AUDIT, levels.PRACTICE, OWN_RULE)):
        return True
    return complaint.code in levels.WARNED_OF and not complaint.is_error


def _wrong(ignoring: Ignoring, rules: Collection[str]) -> Iterator[Finding]:
    if not ignoring.codes:
        message = f"`# {MARK}` needs the codes that it is about, as `# {MARK}[L201] REASON`"
        yield Finding("M116", (), message)
        return
    if not ignoring.reason:
        message = "this comment needs a reason after the bracket: why may this be so here?"
        yield Finding("M116", (), message)
    for code in ignoring.codes:
        if not levels.has_a_level(code, rules):
            message, near = levels.why_no_level(code, rules)
            yield Finding("M116", (), message, suggestion=near)


MOST_COMPLAINTS = 10_000
"""Limit for one file; the limit in all is ten times as high. A file can have a million mistakes."""

_OF_VALUES = frozenset(("M301", "M304"))
_OF_EXPRESSIONS = "M5"


@dataclass(slots=True)
class Complaining:
    """Collector of complaints, limited for each file and in all so that a person can read them."""

    complaints: list[Complaint] = field(default_factory=list, init=False)
    counts: Counter[str] = field(default_factory=Counter, init=False)
    again: int = field(default=0, init=False)
    _of_items: set[Complaint] = field(default_factory=set, init=False)
    _flawed: set[tuple[str, int, int]] = field(default_factory=set, init=False)

    @property
    def is_full(self) -> bool:
        """Return whether the limits are reached, so that further checks are useless."""
        return self.counts[""] > 0 or self.again > 10 * MOST_COMPLAINTS

    def note_text(self, file: File, reading: Reading) -> None:
        """Record the complaints about a text, and the places that cannot be read."""
        self._flawed = {
            (file.name, flaw.line, flaw.column)
            for flaw in reading.flaws
            if flaw.severity is Severity.ERROR
        }
        all(map(self.keep, complaints_of_text(file.name, reading)))

    def complain(self, text: DocumentText, findings: Iterable[Finding]) -> bool:
        """Record findings; return whether one of them is an error."""
        failed = False
        for finding in text.with_clear_names(findings):
            failed |= finding.severity is Severity.ERROR
            complaint = text.complaint(finding)
            # A value that cannot be read or filled in already has its complaint.
            if finding.code in _OF_VALUES and _place(complaint) in self._flawed:
                continue
            if finding.code.startswith(_OF_EXPRESSIONS) and complaint.is_error:
                self._flawed.add(_place(text.complaint(replace(finding, spot=None))))
            if not self.keep(complaint):
                return True
        return failed

    def keep(self, complaint: Complaint) -> bool:
        """Keep a complaint; return whether more may follow.

        At the limit, one complaint says that the rest of the file is unchecked.
        """
        if complaint.item is not None and complaint in self._of_items:
            # A complaint that repeats for other items is shown once, but counted.
            self.again += 1
            self.complaints.append(complaint)
            return self.again <= 10 * MOST_COMPLAINTS
        if complaint.item is not None:
            self._of_items.add(complaint)
        self.counts[complaint.file] += 1
        full = len(self.complaints) - self.again >= 10 * MOST_COMPLAINTS
        if self.counts[complaint.file] <= MOST_COMPLAINTS and not full:
            self.complaints.append(complaint)
            return True
        if self.counts[complaint.file] == MOST_COMPLAINTS + 1 or self.counts[""] == 0:
            message = "there is too much to complain of: the rest of this file is unchecked"
            self.complaints.append(Complaint.of_file(complaint.file, "M115", message))
        self.counts[""] += full
        return False


def _place(complaint: Complaint) -> tuple[str, int, int]:
    return complaint.file, complaint.line, complaint.column


def place_of(complaint: Complaint) -> tuple[object, ...]:
    """Return what complaints have in common that differ only by their words."""
    return (complaint.file, complaint.line, complaint.column, complaint.code, complaint.path)


def reported_once(complaints: list[Complaint]) -> Iterator[Complaint]:
    """Yield complaints; equal complaints about several items of a `forEach` become one.

    Complaints at one place that differ only by the item that they name also become one: the error
    is in the template.
    """
    together: dict[Complaint, set[Member]] = {}
    for complaint in complaints:
        members = together.setdefault(complaint, set())
        if complaint.item is not None:
            members.add(complaint.item)
    places: dict[tuple[object, ...], list[Complaint]] = {}
    named: set[Complaint] = set()
    for complaint, members in together.items():
        if not members:
            yield complaint
            continue
        alike = places.setdefault(place_of(complaint), [])
        first = next((other for other in alike if together[other].isdisjoint(members)), None)
        if first is None:
            alike.append(complaint)
        else:
            together[first] |= members
            named.add(first)
    for alike in places.values():
        for complaint in alike:
            yield _of_items(complaint, sorted(together[complaint]), names_one=complaint in named)


def _of_items(complaint: Complaint, members: list[Member], *, names_one: bool) -> Complaint:
    first, more = members[0], len(members) - 1
    if more and len(members) == first.total and not names_one:
        return replace(complaint, item=None)
    others = f" and {more:,} more" if more else ""
    return replace(complaint, message=f"{complaint.message}, in {first}{others}")
