"""Secret scan: manifests never send the API key, credentials of the CI system or their values.

Source: docs/security.md.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from reconciler.document import Json, Path, texts_at, texts_in
from reconciler.kinds.checks import name_of
from reconciler.redaction.templates import SecretHole, Template
from reconciler.runtime.connection import is_key, keys_in
from reconciler.syntax.diagnostic import REMOVE, Finding

# A variable that each system sets, and the prefixes of the names of all its variables.
_SYSTEMS = {
    "GITHUB_ACTIONS": ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"),
    "GITLAB_CI": ("CI_", "GITLAB_"),
    "CIRCLECI": ("CIRCLE_",),
    "BUILDKITE": ("BUILDKITE_",),
    "BITBUCKET_BUILD_NUMBER": ("BITBUCKET_",),
    "TF_BUILD": ("SYSTEM_", "BUILD_", "AGENT_"),
    "JENKINS_URL": ("JENKINS_", "BUILD_", "HUDSON_"),
}

# Refused everywhere, so that a manifest refused in a job is not valid on a desk.
_CREDENTIALS = frozenset(
    (
        *("INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
        *("CI_JOB_TOKEN", "CI_JOB_JWT", "CI_JOB_JWT_V1", "CI_JOB_JWT_V2", "CI_REPOSITORY_URL"),
        *("CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD"),
        *("CIRCLE_OIDC_TOKEN", "CIRCLE_OIDC_TOKEN_V2", "BUILDKITE_AGENT_ACCESS_TOKEN"),
        *("BITBUCKET_STEP_OIDC_TOKEN", "SYSTEM_ACCESSTOKEN"),
    )
)
_SECRET_WORDS = ("TOKEN", "PASSWORD", "SECRET", "JWT", "KEY", "CREDENTIAL")

SHORTEST_FOUND_INSIDE = 8
WITHHELD = "M505"


@dataclass(frozen=True)
class Withheld:
    """Secrets that no manifest may send to the service: prefixes of names, and values by name.

    A value shorter than eight characters is not searched for inside other texts. Texts derived from
    the values are kept here, so that none is in memory after the run.
    """

    prefixes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    _asked: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _forms(self) -> Mapping[str, tuple[str, ...]]:
        """Return the forms of each long value, by its name."""
        return {name: _forms(value) for name, value in self.values.items() if _is_long(value)}

    def why(self, name: str, value: str) -> str:
        """Return why `${secret:NAME}` is refused, or "" if it is not.

        `value` is "" where no secrets are read.
        """
        if is_key(name):
            return "is the API key, which must never be in what the service stores and shows"
        if name in _CREDENTIALS or name.startswith(self.prefixes):
            return "is a credential of the CI system, and must not be sent to the service"
        return self.why_text(value) or self._why_equal(value)

    def why_text(self, text: str) -> str:
        """Return why a text that would be sent is refused, or "" if it is not."""
        for name, forms in self._forms.items():
            if any(form in text for form in forms):
                return f"holds the value of {name}, which must not be sent to the service in a body"
        return ""

    def _why_equal(self, value: str) -> str:
        for name, secret in self.values.items():
            if value == secret:
                return f"has the value of {name}, which must not be sent to the service in a body"
        return ""

    def lies_in(self, text: str) -> bool:
        """Return whether one of the values is in the text of a whole file."""
        if text not in self._asked:
            # A file is checked once for each document in it and each item that makes one.
            self._asked.clear()
            self._asked[text] = bool(self.why_text(text))
        return self._asked[text]

    def findings(self, document: Json, path: Path = ()) -> Iterator[Finding]:
        """Yield the texts of a document that would send such a value, whatever its origin."""
        # Most documents hold none, and are not walked with their places.
        if self._forms and self.why_text("\n".join(map(_sent, texts_in(document)))):
            for place, text in texts_at(document, path):
                if why := self.why_text(_sent(text)):
                    yield Finding(WITHHELD, place, f"{name_of(place)} {why}", suggestion=REMOVE)


def _forms(secret: str) -> tuple[str, ...]:
    """Return a secret and its base64 forms at every position in an encoded text."""
    forms = [secret]
    content = secret.encode("utf-8", "surrogateescape")
    for before in range(3):
        # The first and the last letters also encode bits of the neighbouring text.
        bits = 8 * (before + len(content))
        letters = b64encode(bytes(before) + content).decode()[(8 * before + 5) // 6 : bits // 6]
        if _is_long(letters):
            forms += [letters, letters.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(forms))


def _is_long(value: str) -> bool:
    """Return whether a value is searched for inside other texts."""
    return len(value) >= SHORTEST_FOUND_INSIDE


def _sent(text: str) -> str:
    """Return the text that will be sent, without references."""
    if not isinstance(text, Template):
        return text
    values = (part.value if isinstance(part, SecretHole) else part for part in text.parts)
    return "".join(value for value in values if isinstance(value, str))


def withheld_from(environ: Mapping[str, str]) -> Withheld:
    """Return what is withheld in a process with these variables."""
    systems = (prefixes for marker, prefixes in _SYSTEMS.items() if environ.get(marker))
    prefixes = tuple(prefix for group in systems for prefix in group)
    names = [
        name
        for name in sorted(environ)
        if name in _CREDENTIALS
        or (name.startswith(prefixes) and any(word in name for word in _SECRET_WORDS))
    ]
    found = {**keys_in(environ), **{name: environ.get(name, "").strip() for name in names}}
    return Withheld(prefixes, {name: value for name, value in found.items() if value})
