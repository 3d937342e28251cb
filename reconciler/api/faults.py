"""What the errors of the HTTP client mean. Source: docs/network.md."""

from __future__ import annotations

import re

# The first that fits counts, so the particular stand before the general.
_HINTS: tuple[tuple[str, str], ...] = (
    ("certificate has expired", "the certificate, or the clock of this machine, is out of date"),
    ("not yet valid", "the certificate, or the clock of this machine, is out of date"),
    ("is not valid for", "the certificate is for another host than the base URL names"),
    ("hostname mismatch", "the certificate is for another host than the base URL names"),
    ("certificate", "for a private CA, set SSL_CERT_FILE"),
    ("name or service not known", "is the host name right?"),
    ("nodename", "is the host name right?"),
    ("temporary failure in name resolution", "does this machine reach a name server?"),
    ("ssl:", "does the other side speak TLS 1.2 or newer on this port?"),
    ("hung up", "does the other side speak TLS 1.2 or newer on this port?"),
    ("connect call failed", "does anything listen there?"),
    ("connection refused", "does anything listen there?"),
    ("unreachable", "is it reachable from here? HTTPS_PROXY names a proxy"),
    ("connection timeout", "is it reachable from here? HTTPS_PROXY names a proxy"),
)
# The client quotes what it could not read behind the reason.
_NO_HTTP = re.compile(r"400, message=['\"]([^:\\'\"]+)")
_CANNOT_CONNECT = re.compile(r"Cannot connect to host (\S+) ssl:\S+ \[(.*)\]")


def describe(error: Exception) -> str:
    """Say what an error of the HTTP client means for the person who must act.

    What was received is no part of it: it may be a whole document of the service.
    """
    if no_http := _NO_HTTP.match(str(error)):
        return f"what came is no HTTP: {no_http[1].lower()}"
    said = _CANNOT_CONNECT.sub(_plainly, str(error).strip()) or type(error).__name__
    lowered = said.lower()
    hint = next((hint for words, hint in _HINTS if words in lowered), "")
    return f"{said} ({hint})" if hint else said


def _plainly(found: re.Match[str]) -> str:
    """Take the client's own notation out of its message."""
    host, why = found.groups()
    return f"cannot connect to {host}: {'it hung up' if why == 'None' else why}"
