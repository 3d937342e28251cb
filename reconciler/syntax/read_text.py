"""Reading of YAML and JSON texts as documents, in one pass over parser events.

Each file of a run is read once, and results are kept if they are needed again. A list of objects
is read from a file of its own, outside the manifests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from sys import intern
from typing import IO, Any, Final, Generic, TypeVar

from yaml import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.document import Json
from reconciler.errors import InvalidInput
from reconciler.syntax.characters import (
    CONSTANTS,
    NUMBER_STARTS,
    BadScalar,
    escaped_in,
    first_forbidden,
    has_leading_zero,
    joined_surrogates,
    number,
    parted_surrogates,
    reordering,
)
from reconciler.syntax.diagnostic import Complaint, Finding, Lines, Severity
from reconciler.syntax.files import (
    LARGEST_AGAIN,
    LARGEST_WORKSPACE,
    File,
    content_of,
    digest_of,
    read_file,
    text_of,
)
from reconciler.syntax.parsed_text import Document, Flaws, Reading, Stop
from reconciler.syntax.scalars import decimal_comma


@dataclass(slots=True)
class Anchor:
    """An anchored node, and how many nodes were before it and its end; -1 until the node ends."""

    value: Json
    start: int
    end: int = -1


def height(value: Json, known: dict[int, int]) -> int:
    """Return the number of levels of a value, which is never deeper than the limit.

    Values repeated by aliases are counted once: an alias bomb is small until it is walked.
    """
    if isinstance(value, dict):
        inner: Iterable[Json] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return 0
    if id(value) not in known:
        known[id(value)] = 1 + max((height(value, known) for value in inner), default=0)
    return known[id(value)]


# The limits of docs/manifests.md.
DEEPEST = 64
MOST_NODES = 1_000_000
MOST_ALIASES = 100
LONGEST_SCALAR = 1 << 20

TOO_MANY_NODES = f"more than {MOST_NODES:,} values in one document"

LONGEST_CONSTANT = 5
MOST_CHARACTERS = 20


def read_text(text: str, *, is_json: bool = False) -> Reading:
    """Read every document of a text; never raises on any input."""
    parsed, squeezed = joined_surrogates(text)
    reader = _Reader(parsed, Lines(text, squeezed))
    with suppress(Stop):
        reader.read(is_json=is_json)
    reader.reading.flaws.sort(key=lambda flaw: (flaw.line, flaw.column))
    return reader.reading


class _Reader:
    """The state of one pass over a text; offsets are in what the parser reads."""

    def __init__(self, text: str, lines: Lines) -> None:
        self.text = text
        self.reading = Reading(lines)
        self.flaws = Flaws(text, self.reading)
        self.aliases = 0
        self.blocks: list[tuple[int, int]] = []

    def read(self, *, is_json: bool) -> None:
        """Read the whole text. Raises Stop after a flaw that ends it."""
        forbidden = first_forbidden(self.text)
        if forbidden is not None:
            self.flaws.note_character(*forbidden)
            return
        try:
            self.walk(CParser(self.text), self.text)
        except MarkedYAMLError as error:
            self.flaws.note_syntax(error, is_json=is_json)
        except YAMLError as error:
            self.flaws.note("M101", 0, str(error).splitlines()[0])
        finally:
            for offset, character in islice(reordering(self.text, self.blocks), MOST_CHARACTERS):
                self.flaws.note_character(offset, character)
        if is_json and not self.reading.has_errors:
            self.flaws.note_departure_from_json()

    def walk(self, parser: CParser, text: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one hot loop
        """Build the documents in one loop: a call for each node would cost a third of the speed."""
        get_event = parser.get_event
        # Thousands of documents share the same few hundred keys.
        share = intern
        # Most texts contain none of these, and reading an attribute for each node takes time.
        may_pair = bool(self.reading.lines.squeezed)
        may_tag, may_anchor, may_be_long = "!" in text, "&" in text, len(text) > LONGEST_SCALAR
        document = Document(self.reading.lines)
        stack: list[tuple[Any, Any, bool]] = []
        anchors: dict[str, Anchor] = {}
        opened: dict[int, Anchor] = {}
        container: Any = None
        wants_key = is_again = False
        key = ""
        # All nodes count, also those of repeated keys and aliases.
        nodes = 0
        while True:
            event: Any = get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                value: Any = event.value
                mark = event.start_mark
                style = event.style
                nodes += 1
                if may_pair and style != '"':
                    value = self.as_written(value, event)
                if style == "":
                    if len(value) <= LONGEST_CONSTANT and value in CONSTANTS:
                        value = CONSTANTS[value]
                    elif value[0] in NUMBER_STARTS:
                        value = self.plain_number(value, mark)
                elif not value.isprintable():
                    self.check_quoted(value, event)
                if may_tag and event.tag is not None:
                    self.flaws.note_tag(event)
                if may_be_long and len(event.value) > LONGEST_SCALAR:
                    raise self.flaws.stop("M110", event, "a scalar is longer than 1 MB")
                if may_anchor and event.anchor is not None:
                    anchors[event.anchor] = Anchor(value, nodes - 1, nodes)
                if wants_key:
                    key = share(value) if value.__class__ is str and value != "<<" else ""
                    key = key or self.unusual_key(value, event)
                    wants_key = False
                    if key in container:
                        if len(stack) == 1:
                            self.flaws.stop_at_next(key, container, mark.index)
                        message = f"`{key}` appears twice in this mapping: remove one"
                        self.flaws.note("M102", mark.index, message)
                        is_again = True
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if wants_key:
                    raise self.flaws.stop_at_key(event)
                if len(stack) >= DEEPEST:
                    raise self.flaws.stop("M109", event, f"nested deeper than {DEEPEST} levels")
                if may_tag and event.tag is not None:
                    self.flaws.note_tag(event)
                if not stack:
                    document.start = event.start_mark.index
                stack.append((container, key, is_again))
                is_again = False
                wants_key = kind is MappingStartEvent
                container = {} if wants_key else []
                if may_anchor and event.anchor is not None:
                    anchors[event.anchor] = opened[len(stack)] = Anchor(container, nodes)
                nodes += 1
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                if nodes > MOST_NODES:
                    raise self.flaws.stop("M110", event, TOO_MANY_NODES)
                if opened and (anchor := opened.pop(len(stack), None)) is not None:
                    anchor.end = nodes
                container, key, is_again = stack.pop()
                wants_key = False
            elif kind is AliasEvent:
                if wants_key:
                    raise self.flaws.stop(
                        "M107", event, "an alias cannot be a key: write the key out"
                    )
                anchor = self.anchored(event, anchors, nodes, len(stack))
                value, nodes = anchor.value, nodes + anchor.end - anchor.start
            elif kind is DocumentStartEvent:
                document = Document(self.reading.lines, len(self.reading.documents))
                nodes, anchors = 0, {}
                continue
            elif kind is DocumentEndEvent:
                self.reading.documents.append(document)
                continue
            elif kind is StreamEndEvent:
                return
            else:
                continue
            if container.__class__ is dict:
                # The document keeps the first of two keys.
                if not is_again:
                    container[key] = value
                is_again, wants_key = False, True
            elif container is None:
                document.value = value
                document.start = event.start_mark.index if kind is ScalarEvent else document.start
            else:
                container.append(value)

    def plain_number(self, text: str, mark: Any) -> Json:
        """Return the value of a plain scalar; record a number that JSON cannot carry."""
        try:
            value = number(text)
        except BadScalar as bad:
            self.flaws.note(bad.code, mark.index, bad.message, bad.suggestion)
            return text
        if isinstance(value, int) and has_leading_zero(text):
            self.flaws.note_leading_zero(text, value, mark.index)
        return value

    def as_written(self, value: str, event: Any) -> str:
        """Return a text in which a backslash is no escape, so surrogate pairs stay separate."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            # A comment may follow the indicator.
            start = max(start, self.text.find("\n", start, end))
        return parted_surrogates(value, self.text[start:end], start, self.reading.lines)

    def check_quoted(self, value: str, event: Any) -> None:
        """Record unsafe characters that come from an escape, and the places of block scalars."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in "|>":
            # A comment may follow the indicator.
            self.blocks.append((self.text.find("\n", start), end))
            return
        found = escaped_in(value, self.text[start:end])
        if found:
            self.flaws.note_character(start, found)

    def unusual_key(self, value: Json, event: Any) -> str:
        """Return a key that is empty, no text, or a merge key as text, and record errors.

        Raises Stop for a decimal comma.
        """
        text: str = event.value
        offset = event.start_mark.index
        if value == "<<" and event.style == "":
            self.flaws.note(
                "M103", offset, "merge keys (<<) are not supported: write the fields out"
            )
        elif not isinstance(value, str):
            if (number := decimal_comma(self.text, offset, text)) is not None:
                self.flaws.note("M107", number.offset, number.message, number.text)
                # What follows the comma is no field, so it is not checked as one.
                raise Stop
            message = f"the key `{text or 'null'}` is not text: quote it"
            self.flaws.note("M107", offset, message, f'"{text}"' if text else "")
        return text

    def anchored(self, event: Any, anchors: Mapping[str, Anchor], nodes: int, depth: int) -> Anchor:
        """Return the anchor of an alias. Raises Stop if it repeats too much or nests too deeply."""
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            raise self.flaws.stop("M108", event, f"more than {MOST_ALIASES} aliases")
        anchor = anchors.get(event.anchor)
        if anchor is None:
            raise self.flaws.stop_at_alias(event)
        if anchor.end < 0:
            raise self.flaws.stop(
                "M108",
                event,
                f"the alias `*{event.anchor}` contains itself: write out what is meant",
            )
        if nodes + anchor.end - anchor.start > MOST_NODES:
            message = f"aliases expand to more than {MOST_NODES:,} values"
            raise self.flaws.stop("M108", event, message)
        if depth + height(anchor.value, {}) > DEEPEST:
            raise self.flaws.stop("M109", event, f"the alias nests deeper than {DEEPEST} levels")
        return anchor


WORTHWHILE = 4_000_000
"""Below this number of bytes, starting a process takes longer than it saves."""

FIRST = 1_000_000
"""Number of bytes that are read here while the processes start."""

MOST_PROCESSES = 2
"""The other work of this process takes as long as reading, so more processes would wait."""

_START = (
    "import sys; sys.path[:] = sys.argv[1:]; from reconciler.syntax.read_text import serve; serve()"
)
_PIPE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result for a file: a digest of its bytes, or "", and the reading or a complaint."""

    digest: str
    reading: Reading | Complaint


def read_here(file: File, roots: Sequence[Path]) -> ReadResult:
    """Read a file in the format of its suffix."""
    content = content_of(file.path, file.name, roots)
    text = text_of(content, file.name)
    reading = text if isinstance(text, Complaint) else read_text(text, is_json=file.is_json)
    return ReadResult(digest_of(content), reading)


@dataclass(slots=True)
class ReadAhead:
    """The results that were read ahead. Files must be taken in the order in which they are read.

    `shares` are the outputs of the processes, by the files that they read.
    """

    shares: dict[Path, IO[bytes]] = field(default_factory=dict)

    def take(self, file: File) -> ReadResult | None:
        """Wait for and return the result for a file; None if no whole result was read ahead."""
        import pickle  # noqa: PLC0415 - short runs need none

        share = self.shares.pop(file.path, None)
        if share is not None:
            # A process that ended early wrote nothing after its last whole result.
            with suppress(EOFError, pickle.UnpicklingError):
                arrived = pickle.load(share)  # noqa: S301 - only our own process writes to the pipe
                assert isinstance(arrived, ReadResult)  # noqa: S101 - `serve` writes nothing else
                return arrived
        return None


@contextmanager
def reading_ahead(files: Sequence[File], roots: Sequence[Path]) -> Iterator[ReadAhead]:
    """Read files in other processes if there are enough cores, and enough to read.

    On two cores, `validate` of 7.4 MB in 1,100 files takes 0.76 of the wall time, and 1.06 of the
    processor's.
    """
    with ExitStack() as started:
        ahead = ReadAhead()
        rest = _behind_the_first(files)
        count = min(MOST_PROCESSES, _cores() - 1) if rest else 0
        for nth in range(count):
            mine = rest[nth::count]
            with suppress(OSError):
                share = started.enter_context(_started(mine, roots))
                ahead.shares |= dict.fromkeys((file.path for file in mine), share)
        yield ahead


def _behind_the_first(files: Sequence[File]) -> Sequence[File]:
    """Return the files for other processes, or none if all are read quickly."""
    ends = list(accumulate(map(_size, files)))
    if not ends or ends[-1] < WORTHWHILE:
        return ()
    return [file for file, end in zip(files, ends, strict=True) if end > FIRST]


def _size(file: File) -> int:
    try:
        return os.stat(file.path).st_size  # noqa: PTH116 - for each of ten thousand
    except (OSError, ValueError):
        return 0


def _cores() -> int:
    """Return how many processes can run at once, or 1 if others could decode names differently."""
    if sys.getfilesystemencoding() != "utf-8":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _started(files: Sequence[File], roots: Sequence[Path]) -> Iterator[IO[bytes]]:
    """Start a process that reads some files, and yield its output.

    It is ended afterwards, even if it is not finished.
    """
    import pickle  # noqa: PLC0415 - short runs need none
    import tempfile  # noqa: PLC0415 - as above

    with tempfile.TemporaryFile() as request:
        pickle.dump((list(files), list(roots)), request)
        request.seek(0)
        process = subprocess.Popen(  # noqa: S603 - our own module, run by our own Python
            [sys.executable, "-I", "-c", _START, *sys.path],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE,
            env={},
            # Only the run itself handles signals.
            start_new_session=True,
        )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        yield process.stdout
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def serve() -> None:
    """Read the files that stdin names, and write the result for each to stdout."""
    import pickle  # noqa: PLC0415 - short runs need none

    # The parent process does not need the reason for an early end.
    with suppress(BrokenPipeError), os.fdopen(1, "wb", closefd=False) as out:
        files, roots = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own making
        for file in files:
            pickle.dump(read_here(file, roots), out, pickle.HIGHEST_PROTOCOL)
            out.flush()


NOBODY_READ: Final = (File(Path(), ""), None)

Judged = TypeVar("Judged")


@dataclass(slots=True)
class Sources(Generic[Judged]):
    """Reader of the files of a run, with size limits. `kept` keeps readings and reports (`Judged`).

    `arrived` is a file with its reading, made ahead by another process; it is used once. `paths`
    are all files that were read, `instead` are the texts that files would have after a repair. The
    limits of made values and `included` files are for all environments together, because all are in
    memory at once.
    """

    roots: tuple[Path, ...]
    kept: bool = False
    instead: Mapping[Path, str] = field(default_factory=dict)
    largest: int = LARGEST_WORKSPACE
    size: int = 0
    again: int = 0
    nodes_made: int = 0
    text_made: int = 0
    included: int = 0
    met: set[Path] = field(default_factory=set)
    first_unread: str = ""
    readings: dict[tuple[Path, bool], Reading | Complaint] = field(default_factory=dict)
    paths: set[Path] = field(default_factory=set)
    arrived: tuple[File, ReadResult | None] = NOBODY_READ
    judged: dict[int, tuple[Document, Judged]] = field(default_factory=dict)
    patches: dict[tuple[int, str], tuple[Json, list[Finding], list[Finding]]] = field(
        default_factory=dict
    )
    """Findings about patches of environments, for the validation of `overrides`."""
    digests: dict[Path, tuple[str, str]] | None = None
    """The display name of each file and a digest of its bytes, by path; None if not needed."""
    aside: frozenset[Path] | None = None
    """The real paths of files that settings name, which declare nothing; None if not looked up."""

    def begin(self) -> None:
        """Start another environment, with the same size limit again."""
        self.size, self.again, self.first_unread = 0, 0, ""
        self.met = set()

    def read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        """Return the reading of a file, as long as the workspace is not too large.

        A file counts each time that it is used, because each use validates it. From the second time
        on it counts towards a limit that no setting raises.
        """
        if self.size > self.largest or self.again > LARGEST_AGAIN:
            self.first_unread = self.first_unread or name
            most = self.largest if self.size > self.largest else LARGEST_AGAIN
            message = f"the files are larger than {most >> 20} MB in all: from here, unread"
            return Complaint.of_file(self.first_unread, "M115", message)
        self.paths.add(path)
        reading = self.readings.get((path, is_json))
        if reading is None:
            reading = self._read(path, name, is_json=is_json)
            if self.kept:
                self.readings[path, is_json] = reading
        if isinstance(reading, Reading):
            if path in self.met:
                self.again += len(reading.lines.text)
            else:
                self.met.add(path)
                self.size += len(reading.lines.text)
        return reading

    def _read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        file, arrived = self.arrived
        if arrived is not None and (file.path, file.is_json) == (path, is_json):
            self.arrived = file, None
            self._note(path, name, arrived.digest)
            return arrived.reading
        text = self.text_of(path, name)
        return text if isinstance(text, Complaint) else read_text(text, is_json=is_json)

    def text_of(self, path: Path, name: str) -> str | Complaint:
        """Return the text of a file, or the text that replaces it."""
        own = self.instead.get(path.resolve()) if self.instead else None
        if own is not None:
            return own
        content = content_of(path, name, self.roots)
        if self.digests is not None:
            self._note(path, name, digest_of(content))
        return text_of(content, name)

    def _note(self, path: Path, name: str, digest: str) -> None:
        if self.digests is not None:
            # A file that changed between two reads gets a digest that never matches.
            known = self.digests.setdefault(path, (name, digest))
            if known[1] != digest:
                self.digests[path] = name, "changed"

    def judge(self, document: Document, judging: Callable[[], Judged]) -> Judged:
        """Return the report on a document that is the same in every environment."""
        known = self.judged.get(id(document))
        if known is not None:
            return known[1]
        judged = judging()
        if self.kept:
            # The document is kept too, so that no other document gets its id.
            self.judged[id(document)] = document, judged
        return judged


def read_rows(file: Path, fields: Sequence[str] | None, or_null: str = "") -> list[dict[str, Json]]:
    """Read a list of objects. With `fields`, only these fields are allowed, and each is a text.

    The field `or_null` may also be null.
    Raises InvalidInput with the file, line and column.
    """
    text = read_file(file, str(file), [file.resolve().parent])
    if isinstance(text, Complaint):
        raise InvalidInput(f"{file}: {text.message}")
    reading = read_text(text, is_json=file.suffix == ".json")
    if reading.has_errors:
        flaw = next(flaw for flaw in reading.flaws if flaw.severity is Severity.ERROR)
        raise InvalidInput(f"{file}:{flaw.line}:{flaw.column}: {flaw.message}")
    document = reading.documents[0] if len(reading.documents) == 1 else None
    if document is None or not isinstance(document.value, list) or not document.value:
        raise InvalidInput(f"{file} must hold one list that is not empty")
    places = (document.locate((index,)) for index in range(len(document.value)))
    return [
        _row(row, fields, or_null, f"{file}:{line}:{column}")
        for row, (line, column) in zip(document.value, places, strict=True)
    ]


def _row(row: Json, fields: Sequence[str] | None, or_null: str, where: str) -> dict[str, Json]:
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: an item must be a mapping")
    for name, value in row.items() if fields is not None else ():
        if name not in (fields or ()):
            raise InvalidInput(
                f"{where}: unknown field `{name}` (known: {', '.join(fields or ())})"
            )
        if not isinstance(value, str) and not (value is None and name == or_null):
            raise InvalidInput(f"{where}: `{name}` must be text")
    return row
