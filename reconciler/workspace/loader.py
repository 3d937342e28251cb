"""Loading of files one after another: texts to documents, documents to manifests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from reconciler.document import Json
from reconciler.kinds.checks import is_mappings
from reconciler.model import API_VERSION
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, Severity, warning
from reconciler.syntax.files import File
from reconciler.syntax.parsed_text import Document, DocumentText, Reading
from reconciler.workspace.build import Making, WrittenManifest
from reconciler.workspace.envelope import REQUIRED_FIELDS
from reconciler.workspace.for_each import FOR_EACH
from reconciler.workspace.not_a_manifest import is_of_kubernetes, record_finding, stranger_in
from reconciler.workspace.workspace_checks import paths_of_side_files

NO_LIST = Advice("remove the `- ` before it, and write a line `---` between two manifests")


@dataclass(slots=True)
class Loader(Making):
    """Reader of files that collects their manifests and errors."""

    strays: list[File] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    _strange: set[str] = field(default_factory=set)
    side_files: int = 0

    def load(self, file: File) -> None:
        """Read one file and add what it declares; files of settings declare nothing."""
        if self.sources.aside is None:
            self.sources.aside = paths_of_side_files(self.root, self.environments)
        if self.sources.aside and file.path.resolve() in self.sources.aside:
            self.side_files += 1
            return
        reading = self.sources.read(file.path, file.name, is_json=file.is_json)
        if isinstance(reading, Complaint):
            self.complaints.append(reading)
            return
        if not (file.is_json and file.named) and not _looks_declared(reading):
            # Another file may name it.
            self.strays.append(file)
            return
        self._take(file, reading)

    def _take(self, file: File, reading: Reading) -> None:
        """Add the manifests of a file, and report its errors."""
        self.note_text(file, reading)
        if reading.has_errors:
            self.broken.append(reading.lines.text)
        if not file.is_json:
            self.complaints.extend(self.silencing.read(file.name, reading.lines))
        if file.is_json and any(flaw.code == "M101" for flaw in reading.flaws):
            # YAML accepts more than JSON, so the author meant something else.
            return
        documents = [document for document in reading.documents if document.value is not None]
        for document in documents:
            self._declare(file, document)
        if not documents and not reading.has_errors:
            message = "this file holds no manifest: write one, remove it, or `exclude:` it"
            self.complaints.append(
                Complaint(file.name, 1, 1, "M113", message, severity=Severity.WARNING)
            )

    def complain_of_strays(self) -> None:
        """Report the files that are no manifests, and that no manifest names or includes.

        A file that a broken file names is not reported: the broken file may include it.
        """
        for file in self.strays:
            if file.path.resolve() in self.exports | self.includes.real:
                continue
            if any(file.path.name in text for text in self.broken):
                continue
            if not file.is_json:
                again = self.sources.read(file.path, file.name, is_json=False)
                if isinstance(again, Reading):
                    self._take(file, again)
                continue
            message = "this file is not a manifest, and no manifest's spec.file names it"
            remedy = Advice(
                f"write `spec: {{file: {file.path.name}}}` in one, or `exclude:` it in "
                "reconciler.yaml"
            )
            found = warning("M113", (), message, remedy)
            # Most are named, so only the others are read again.
            reading = self.sources.read(file.path, file.name, is_json=True)
            if isinstance(reading, Reading) and len(reading.documents) == 1:
                value = reading.documents[0].value
                found = record_finding(file, value, "M113", Severity.WARNING) or found
            complaint = Complaint.of_file(file.name, found.code, found.message, found.suggestion)
            self.complaints.append(replace(complaint, severity=found.severity))

    def _declare(self, file: File, document: Document) -> None:
        here = DocumentText(file.name, document)
        if not isinstance(document.value, dict):
            message = f"a manifest is a mapping that begins with `apiVersion: {API_VERSION}`"
            remedy = NO_LIST if is_mappings(document.value) else ""
            self.complain(here, [Finding("M201", (), message, suggestion=remedy)])
            return
        if self._is_foreign(file, document.value, here):
            return
        if FOR_EACH in document.value:
            self.repeat(file, document, here)
            return
        self.check_overrides(document.value, here)
        self.make(WrittenManifest(file, here, document.value))

    def _is_foreign(self, file: File, value: dict[str, Json], here: DocumentText) -> bool:
        """Return whether a document is a bare record or of another tool; report it, if so."""
        is_bare = value.keys().isdisjoint(REQUIRED_FIELDS)
        is_ours = value.get("apiVersion") == API_VERSION
        if not is_bare and (is_ours or not (stranger_in(value) or is_of_kubernetes(value))):
            return False
        record = record_finding(file, value, "M201", Severity.ERROR)
        if record is None:
            return False
        # A file often has dozens of documents of another tool.
        if is_bare or file.name not in self._strange:
            self.complain(here, [record])
        self._strange.add(file.name)
        return True


def _looks_declared(reading: Reading) -> bool:
    """Return whether a JSON file looks like a manifest, even if it cannot be read."""
    if reading.has_errors:
        text = reading.lines.text
        return '"apiVersion"' in text or "'apiVersion'" in text
    return any(
        isinstance(document.value, dict) and "apiVersion" in document.value
        for document in reading.documents
    )
