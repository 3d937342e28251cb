"""SSH signatures for plans, which `ssh-keygen` makes and checks. Source: ssh-keygen(1)."""

from __future__ import annotations

import base64
import binascii
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from reconciler.errors import GuardRefused, UsageError
from reconciler.features.approvals.signers import (
    LENGTH,
    NAMESPACE,
    Signer,
    fingerprint_of,
    strings_in,
)

_SECONDS: Final = 30
_MAGIC: Final = b"SSHSIG"
_ARMOUR = re.compile(
    r"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n?"
)


def key_in(signature: str) -> str | None:
    """Return the fingerprint of the key in a signature; None where it is no SSH signature.

    It only decides which lines of a list are tried. Source: PROTOCOL.sshsig of OpenSSH.
    """
    armoured = _ARMOUR.fullmatch(signature)
    try:
        blob = base64.b64decode(armoured[1], validate=False) if armoured is not None else b""
    except (binascii.Error, ValueError):
        return None
    if not blob.startswith(_MAGIC):
        return None
    key = next(strings_in(blob.removeprefix(_MAGIC)[LENGTH:]), b"")
    return fingerprint_of(key) if key else None


def sign(content: bytes, key: Path) -> str:
    """Return the signature of some bytes; `ssh-keygen` asks for a passphrase itself.

    Raises UsageError where there is no key, and GuardRefused where nothing was signed.
    """
    if not key.is_file():
        raise UsageError(f"there is no key {key}")
    with TemporaryDirectory(prefix="reconciler-") as folder:
        signed = Path(folder, "statement")
        signed.write_bytes(content)
        command = ["-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(signed)]
        ended = _ssh_keygen(command, stdout=subprocess.DEVNULL)
        made = signed.with_name("statement.sig")
        if ended.returncode != 0 or not made.is_file():
            raise GuardRefused(f"`ssh-keygen` did not sign with {key}: nothing was signed")
        return made.read_text(encoding="ascii")


def is_signed(signed: bytes, signature: str, signer: Signer) -> bool:
    """Return whether `signer` made this signature of these bytes, for plans, and may sign now.

    Raises GuardRefused where `ssh-keygen` is missing or gives no answer.
    """
    with TemporaryDirectory(prefix="reconciler-") as folder:
        known, armoured = Path(folder, "signers"), Path(folder, "signature")
        known.write_text(f"{signer.line}\n", encoding="utf-8")
        armoured.write_text(signature, encoding="utf-8")
        command = ["-Y", "verify", "-f", str(known), "-I", signer.principal]
        command += ["-n", NAMESPACE, "-s", str(armoured)]
        ended = _ssh_keygen(command, input=signed, capture_output=True, timeout=_SECONDS)
    return ended.returncode == 0


def _ssh_keygen(arguments: list[str], **how: Any) -> subprocess.CompletedProcess[bytes]:
    found = shutil.which("ssh-keygen")
    if found is None:
        raise GuardRefused(
            "approvals are signed and checked by `ssh-keygen`, which is not installed here: "
            "install OpenSSH's client programs"
        )
    try:
        pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise GuardRefused(
            f"`ssh-keygen` serves only a user with a name, and user {os.getuid()} has none: "
            "add a line to /etc/passwd"
        ) from error
    try:
        return subprocess.run([found, *arguments], check=False, **how)  # noqa: S603 - a program of the PATH, without a shell
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GuardRefused(f"`ssh-keygen` gave no answer: {error}") from error
