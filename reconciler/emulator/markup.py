"""HTML that cannot be broken by what it shows: every text is escaped unless it is markup."""

from html import escape

_EMPTY = frozenset({"meta", "link", "br", "rect", "line"})


class Markup(str):
    """Text that is HTML already; only `tag` and the two functions below make it."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Write an element; `class_` is the attribute `class`, and `_` in a name is `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(
            f"<{name}{written}>" if name in ("meta", "link", "br") else f"<{name}{written}/>"
        )
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: object) -> Markup:
    """Put parts behind each other, each escaped unless it is markup."""
    items = parts if isinstance(parts, (list, tuple)) else [parts]
    return Markup(
        "".join(markup if isinstance(markup, Markup) else _text(markup) for markup in items)
    )


def trusted(text: str) -> Markup:
    """Take our own text as it is: a style sheet. Never for anything that was sent."""
    return Markup(text)


def _text(value: object) -> str:
    """Escape a text; control characters and turned writing are shown, not obeyed."""
    if isinstance(value, (list, tuple)):
        return join(value)
    shown = "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}"
        for character in str(value)
    )
    return escape(shown)
