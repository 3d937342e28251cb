"""A certificate authority of the test's own, and certificates that are right or wrong."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
LOOPBACK = "127.0.0.1"


def _name(said: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, said)])


def _host(said: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(said))
    except ValueError:
        return x509.DNSName(said)


@dataclass
class Authority:
    """Signs certificates; `certificate` is the file that makes a client trust them."""

    folder: Path
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def certificate(self) -> Path:
        """Write and give its own certificate."""
        now = datetime.now(UTC)
        signed = (
            x509.CertificateBuilder()
            .subject_name(_name("Test authority"))
            .issuer_name(_name("Test authority"))
            .public_key(self.key.public_key())
            .serial_number(1)
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256())
        )
        file = self.folder / "authority.pem"
        file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return file

    def serving(
        self,
        *,
        host: str = LOOPBACK,
        begins: timedelta = -DAY,
        ends: timedelta = DAY,
        self_signed: bool = False,
    ) -> ssl.SSLContext:
        """Give what a server needs to show a certificate for a host; times are from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        signed = (
            x509.CertificateBuilder()
            .subject_name(_name(host))
            .issuer_name(_name(host if self_signed else "Test authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begins)
            .not_valid_after(now + ends)
            .add_extension(x509.SubjectAlternativeName([_host(host)]), critical=False)
            .sign(key if self_signed else self.key, hashes.SHA256())
        )
        file = self.folder / "server.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context
