"""The body of a request, read and treated as the profile says."""

import unicodedata

from reconciler.emulator.models.wire import WireObject
from reconciler.emulator.profile import Profile
from reconciler.emulator.reading import Model, read
from reconciler.emulator.rendering import as_json, narrowed
from reconciler.emulator.unknown_fields import objects_in, received

_TEXTS = ("name", "display_name", "title", "label", "description")


def body_of(model: type[Model], value: object, profile: Profile, *root: str | int) -> Model:
    """Read a body, or the part of one that stands at `root`. Raises InvalidRequestError."""
    content = received(model, value, profile, *root)
    as_sent = {profile.texts, profile.unicode, profile.uuids, profile.int64} == {"as_sent"}
    if as_sent and profile.floats == "double":
        return content
    for _, part in objects_in(content, root):
        _tidy(part, profile)
    sent = as_json(content)
    # A name of blanks is none: what is stored has to keep the rules too.
    return read(model, narrowed(sent) if profile.floats == "single" else sent, *root)


def _tidy(part: WireObject, profile: Profile) -> None:
    for name in _TEXTS:
        text = getattr(part, name, None)
        if not isinstance(text, str):
            continue
        if profile.texts == "trimmed":
            text = text.strip()
        if profile.unicode == "nfc":
            text = unicodedata.normalize("NFC", text)
        setattr(part, name, text)
    _normalise(part, profile)


def _normalise(part: WireObject, profile: Profile) -> None:
    for name in part.uuids if profile.uuids == "lower_case" else ():
        if isinstance(sent := getattr(part, name), str):
            setattr(part, name, sent.lower())
    for name in part.digits if profile.int64 == "text" else ():
        if name in part.model_fields_set:
            setattr(part, name, str(getattr(part, name)))
