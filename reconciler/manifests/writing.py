"""Edits of manifests that keep comments, quotes and order."""

from __future__ import annotations

import re
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from reconciler.errors import InvalidInput
from reconciler.resource import Ref, RemoteId


def with_id(text: str, ref: Ref, remote_id: RemoteId, environment: str, *, alone: bool) -> str:
    """Give a file's text with the id that one environment has for a manifest, after its name.

    It is among `metadata.ids`, or `metadata.id` where that environment is `alone`
    and the manifest has no `ids` yet. Raises InvalidInput where the manifest is not
    in the text.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 4096
    offset = _sequence_offset(text)
    yaml.indent(mapping=2, sequence=2 + offset, offset=offset)
    documents = list(yaml.load_all(text))
    for document in documents:
        if _is(document, ref):
            metadata = document["metadata"]
            ids = metadata.get("ids")
            if isinstance(ids, CommentedMap):
                ids[environment] = remote_id
            elif alone:
                _put(metadata, "id", remote_id)
            else:
                _put(metadata, "ids", CommentedMap({environment: remote_id}))
            out = StringIO()
            yaml.dump_all(documents, out)
            return out.getvalue()
    raise InvalidInput(f"{ref} is not in the file any more")


def _put(metadata: CommentedMap, key: str, value: RemoteId | CommentedMap) -> None:
    """Put a key after the name, in place of any that holds null and so means nothing."""
    for empty in ("id", "ids"):
        metadata.pop(empty, None)
    metadata.insert(list(metadata).index("name") + 1, key, value)


def _sequence_offset(text: str) -> int:
    """Tell how far the file indents list items below their key: 2, or 0 where it does not."""
    found = re.search(r"^( *)(?:- )*[^\s#-][^\n]*:[ ]*\n( *)- ", text, re.MULTILINE)
    return 0 if found is not None and len(found[2]) <= len(found[1]) else 2


def _is(document: object, ref: Ref) -> bool:
    if not isinstance(document, CommentedMap) or document.get("kind") != ref.kind:
        return False
    metadata = document.get("metadata")
    return isinstance(metadata, CommentedMap) and metadata.get("name") == ref.name
