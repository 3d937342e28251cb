from __future__ import annotations

import pytest

from reconciler.kinds.checks import key_findings, looks_like_key

KEYS = [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "AKIA" + "ABCDEFGH23456789",
    "sk_live_aB3dE6gH9jK2mN5pQ8sT1vW4",
    "Authorization: Bearer aB3dE6gH9jK2mN5pQ8sT1vW4",
    "https://user:hunter2@example.com/hook",
]

INNOCENT = [
    "",
    "3dc02998-0b50-4ea8-b68a-4779d716fa1f",
    "tSheVQcieUCGLE8f7WoaE",
    "LOGS_TIME_WINDOW_VALUE_MINUTES_5_OR_UNSPECIFIED",
    'sum(rate(http_requests_total{job="api-server"}[5m])) by (status)',
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.com/a/b?from=now-1h&to=now",
    "checkout_service_request_duration_seconds_bucket",
    "application_requestDurationMillisecondsAverage",
    "https://user:${secret:PASSWORD}@example.com/hook",
    "Bearer ${secret:TOKEN_aB3dE6gH9jK2mN5pQ8sT1vW4}",
    "the bearer of this message is authenticated by name",
]


@pytest.mark.parametrize("text", KEYS)
def test_keys_are_suspected(text: str) -> None:
    """A private key, a token, or a password in an address looks like a key."""
    assert looks_like_key(text)


@pytest.mark.parametrize("text", INNOCENT)
def test_other_text_is_not_suspected(text: str) -> None:
    """Ids, digests, queries and expressions do not look like keys."""
    assert not looks_like_key(text)


def test_findings_show_where_and_never_what() -> None:
    """The finding names the place and what to write, and never holds the key."""
    (finding,) = key_findings({"a": [{"b": KEYS[3]}, "fine"]}, ("spec",))

    assert finding.path == ("spec", "a", 0, "b")
    assert finding.suggestion == "${secret:NAME}"
    assert KEYS[3] not in finding.message
