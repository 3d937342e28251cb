"""What is imported under its name, as the text of a manifest. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reconciler.document import Json, Path, value_at
from reconciler.errors import ExitCode
from reconciler.importing.records import ImportRecord, Left
from reconciler.importing.references import KnownRefs, Mention, with_references
from reconciler.model import API_VERSION, Ref
from reconciler.workspace.compose import UnwritableError, composed_json, laid_out

SPEC: Path = ("spec",)


@dataclass(frozen=True, slots=True)
class IdPlace:
    """Where ids are told apart: the environment, and whether the project has no other."""

    environment: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """Texts to write: the manifest, and the JSON beside it where that is kept.

    `document` is what the manifest says, None where that has to be read to be sure of it.
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
    """Give the texts of a record; with a `json_name`, its content stays JSON in that file.

    What no file can hold is left, and why.
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
        text = laid_out(document, {(*SPEC, *path): said for path, said in comments.items()})
    except UnwritableError as error:
        return Left(f"{record.called} ({record.where})", error.why, ExitCode.INVALID)
    # What holds neither escapes nor comments of others' words is read back as it was.
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
    """Give what stays in the JSON file, and the short `spec` that names it."""
    bare = record.kind.spec.bare
    content = value_at(spec, (bare,))
    rest = {key: value for key, value in spec.items() if key != bare}
    return (content if isinstance(content, dict) else {}), {"file": name, **rest}, {}
