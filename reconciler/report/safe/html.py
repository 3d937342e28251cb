"""Foreign text in an HTML page. Pure."""

from __future__ import annotations

from reconciler.report.safe.terminal import safe

_REFERENCES = str.maketrans({character: f"&#{ord(character)};" for character in "&<>\"'`"})


def for_html(text: str) -> str:
    """Give the text on one line, for an element's content or a quoted attribute's value.

    Not for `script` or `style`, whose content is not text, and not for an
    address: there a harmless text may still name a harmful scheme.
    """
    return safe(text).translate(_REFERENCES)
