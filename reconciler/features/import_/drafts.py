"""An import with a name, as the text of a manifest. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reconciler.document import Json, Path, value_at
from reconciler.errors import ExitCode
from reconciler.features.import_.records import ImportRecord, Left
from reconciler.features.import_.references import KnownRefs, Mention, with_references
from reconciler.model import API_VERSION, Ref
from reconciler.workspace.compose import UnwritableError, composed_json, laid_out

SPEC: Path = ("spec",)


@dataclass(frozen=True, slots=True)
class IdPlace:
    """The environment of the ids, and whether the project has no other."""

    environment: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """The texts to write: the manifest, and its JSON file, if the content stays JSON.

    `document` is the content of the manifest, None where only reading the text can show it.
    """

    manifest: str
    export: str | None = None
    document: dict[str, Json] | None = None


def draft_of(
    record: ImportRecord,
    ref: Ref,
    mentions: Sequence[Mention],
    known: KnownRefs,
    place: IdPlace,
    *,
    json_name: str = "",
) -> Draft | Left:
    """Return the texts of a record; with a `json_name`, its content stays JSON in that file.

    A record that no file can hold is returned as Left with the reason.
    """
    spec, comments = (
        (record.spec, {})
        if record.is_literal and not mentions and not record.expressions
        else with_references(record.spec, ref, mentions, known, record.expressions)
    )
    comments = {**record.comments, **comments}
    export: str | None = None
    try:
        if json_name:
            content, spec, comments = _kept_apart(record, spec, json_name)
            export = composed_json(content)
        document: dict[str, Json] = {
            "apiVersion": API_VERSION,
            "kind": ref.kind,
            "metadata": _metadata(record, ref, place),
            "spec": spec,
        }
        text = laid_out(document, {(*SPEC, *path): comment for path, comment in comments.items()})
    except UnwritableError as error:
        return Left(f"{record.called} ({record.where})", error.why, ExitCode.INVALID)
    # A text without escapes and comments reads back as it was.
    is_sure = export is None and not comments and text.isascii() and "\\" not in text
    return Draft(text, export, document if is_sure else None)


def _metadata(record: ImportRecord, ref: Ref, place: IdPlace) -> dict[str, Json]:
    metadata: dict[str, Json] = {"name": ref.name}
    ids = dict(record.ids)
    if record.remote_id is not None and not ids and not place.alone:
        ids = {place.environment: record.remote_id}
    if ids:
        metadata["ids"] = {name: ids[name] for name in ids}
        if record.kind.id_form.required and not record.only:
            # Where it has no id it cannot be declared.
            record = replace(record, only=tuple(ids))
    elif record.remote_id is not None:
        metadata["id"] = record.remote_id
    if record.only:
        metadata["environments"] = list(record.only)
    return metadata


def _kept_apart(
    record: ImportRecord, spec: dict[str, Json], name: str
) -> tuple[Json, dict[str, Json], dict[Path, str]]:
    """Return the content for the JSON file, and the short `spec` that names the file."""
    bare = record.kind.spec.bare
    content = value_at(spec, (bare,))
    rest = {key: value for key, value in spec.items() if key != bare}
    return (content if isinstance(content, dict) else {}), {"file": name, **rest}, {}
