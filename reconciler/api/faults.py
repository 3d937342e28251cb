"""Meaning of the errors of the HTTP client. Source: docs/network.md."""

from __future__ import annotations

import re

# The first match counts, so particular hints come before general ones.
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
# After the reason, the client quotes the text that it could not read.
_NO_HTTP = re.compile(r"400, message=['\"]([^:\\'\"]+)")
_CANNOT_CONNECT = re.compile(r"Cannot connect to host (\S+) ssl:\S+ \[(.*)\]")


def describe(error: Exception) -> str:
    """Return an error of the HTTP client in words for the person who must act.

    The received content is left out: it may be a whole document of the service.
    """
    if no_http := _NO_HTTP.match(str(error)):
        return f"what came is no HTTP: {no_http[1].lower()}"
    message = _CANNOT_CONNECT.sub(_plainly, str(error).strip()) or type(error).__name__
    lowered = message.lower()
    hint = next((hint for words, hint in _HINTS if words in lowered), "")
    return f"{message} ({hint})" if hint else message


def _plainly(found: re.Match[str]) -> str:
    """Return a message of the client without its own notation."""
    host, why = found.groups()
    return f"cannot connect to {host}: {'it hung up' if why == 'None' else why}"
