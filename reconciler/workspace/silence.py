"""Which complaints are told: levels, comments that ignore, exemptions. Source: docs/practice.md.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.kinds import only_asked
from reconciler.model import Manifest
from reconciler.project.levels import (
    AUDIT,
    PRACTICE,
    RULE,
    WARNED_OF,
    Level,
    has_a_level,
    is_on,
    why_no_level,
)
from reconciler.syntax.comments import MARK, Ignoring, ignoring_comments
from reconciler.syntax.diagnostic import (
    REMOVE,
    Complaint,
    Finding,
    Lines,
    Severity,
    Suppressed,
    complaint_at,
)

SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}


@dataclass(frozen=True, slots=True)
class Silenced:
    """What is told, what is not, and the comments that ignore what nobody complains of."""

    complaints: tuple[Complaint, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[Complaint, ...]


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment that ignores complaints at a line, in a file."""

    file: str
    lines: Lines
    asked: Ignoring


@dataclass(slots=True)
class Silencing:
    """What a project wants to hear: `levels` by code, `rules` by name, comments by their lines."""

    levels: Mapping[str, Level]
    rules: Collection[str] = ()
    _comments: list[_Comment] = field(default_factory=list)
    _first: dict[tuple[str, int, str], _Comment] = field(default_factory=dict)

    def read(self, file: str, lines: Lines) -> Iterator[Complaint]:
        """Take in the comments of a YAML file; yield what is wrong with them."""
        if MARK not in lines.text:
            return
        for asked in ignoring_comments(lines.text):
            wrong = [*_wrong(asked, self.rules)]
            for finding in wrong:
                yield complaint_at(file, lines, asked.line, asked.column, finding)
            if asked.codes and asked.reason:
                comment = _Comment(file, lines, asked)
                self._comments.append(comment)
                for code in asked.codes:
                    self._first.setdefault((file, asked.about, code), comment)

    def told(self, complaints: Iterable[Complaint], manifests: Iterable[Manifest]) -> Silenced:
        """Part what is told from what is not, by comments and by what manifests are exempted from.

        An exemption goes before a level: what is off is not told anyway.
        """
        exempt = {str(manifest.ref): manifest.exempt for manifest in manifests if manifest.exempt}
        told: list[Complaint] = []
        suppressed: list[Suppressed] = []
        used: set[tuple[str, int, int, str]] = set()
        unjudged: set[str] = set()
        for complaint in complaints:
            if complaint.is_error:
                unjudged.add(complaint.file)
            if not _has_choice(complaint):
                told.append(complaint)
                continue
            comment = self._ignoring(complaint)
            exemption = (
                exempt[complaint.ref].get(complaint.code) if complaint.ref in exempt else None
            )
            if comment is not None:
                used.add((complaint.file, comment.asked.line, comment.asked.column, complaint.code))
                suppressed.append(Suppressed(complaint, comment.asked.reason, in_source=True))
            elif exemption is not None:
                suppressed.append(Suppressed(complaint, exemption.reason, in_source=False))
            else:
                told.extend(self._levelled(complaint))
        idle = [*self._idle(used, unjudged)]
        return Silenced(tuple(told), tuple(suppressed), tuple(idle))

    def _ignoring(self, one: Complaint) -> _Comment | None:
        # Inside a text of several lines no comment can stand: the line of its key counts too.
        lines = (one.line, one.begun) if one.begun else (one.line,)
        found = (self._first.get((one.file, line, one.code)) for line in lines)
        return next(filter(None, found), None)

    def _levelled(self, one: Complaint) -> Iterator[Complaint]:
        level = self.levels.get(one.code)
        if level is None:
            yield one
        elif level != "off":
            yield replace(one, severity=SEVERITIES[level])

    def _idle(
        self, used: Collection[tuple[str, int, int, str]], unjudged: Collection[str]
    ) -> Iterator[Complaint]:
        """Yield the comments that ignore nothing; where there are errors not all was looked for."""
        for comment in self._comments:
            at = (comment.file, comment.asked.line, comment.asked.column)
            for code in comment.asked.codes or () if comment.file not in unjudged else ():
                # What is off is not looked for, nor what happened, so that nobody can tell.
                is_made = is_on(code, self.levels, only_asked=code in only_asked())
                is_asked = is_made and not code.startswith(AUDIT)
                if (*at, code) in used or not is_asked:
                    continue
                if has_a_level(code, self.rules):
                    said = f"line {comment.asked.about} has no complaint {code} to be ignored"
                    finding = Finding("M117", (), said, Severity.WARNING, REMOVE)
                    told = complaint_at(comment.file, comment.lines, *at[1:], finding)
                    yield from self._levelled(told)


def _has_choice(one: Complaint) -> bool:
    """Tell a complaint that may be ignored: an error that breaks something is none."""
    if one.code.startswith((AUDIT, PRACTICE, RULE)):
        return True
    return one.code in WARNED_OF and not one.is_error


def _wrong(asked: Ignoring, rules: Collection[str]) -> Iterator[Finding]:
    if not asked.codes:
        said = f"`# {MARK}` needs the codes that it is about, as `# {MARK}[L201] REASON`"
        yield Finding("M116", (), said)
        return
    if not asked.reason:
        said = "this comment needs a reason after the bracket: why may this be so here?"
        yield Finding("M116", (), said)
    for code in asked.codes:
        if not has_a_level(code, rules):
            said, near = why_no_level(code, rules)
            yield Finding("M116", (), said, suggestion=near)
