from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.project import unsafe_base_url

SAFE = [
    "https://api.example.com",
    "https://api.example.com/",
    "https://api.example.com/base/path",
    "https://api.example.com:8443",
    "https://API.Example.COM",
    "HTTPS://api.example.com",
    "https://api.example.com.",
    "https://under_score.example.com",
    "https://localhost",
    "https://intranet",
    "https://xn--bcher-kva.example",
    "https://10.0.0.7",
    "https://192.168.1.2:8443",
    "https://[2001:db8::1]",
    "https://[fd00::1]:8443",
    "http://localhost",
    "http://LOCALHOST:8080",
    "http://127.0.0.1",
    "http://127.0.0.1:8080/base",
    "http://127.1.2.3",
    "http://[::1]:8080",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://[0:0:0:0:0:0:0:1]:80",
    "http://[0000:0000:0000:0000:0000:ffff:127.0.0.1]",
    "https://[64:ff9b::c000:201]",
    "https://[2002:c000:201::1]",
    "https://api.example.com:0443",
    "https://a",
    "https://1.example.com",
    "https://169.254.169.254.example.com",
    "https://169-254-169-254.example.com",
    "https://api.example.com//double",
]

UNSAFE = {
    "must begin with https://": [
        "http://api.example.com",
        "http://10.0.0.7",
        "http://0.0.0.1",
        "http://localhost.example.com",
        "http://localhost.",
        "http://example.localhost",
        "http://[2001:db8::1]",
        "http://[::ffff:10.0.0.7]",
        "api.example.com",
        "api.example.com:443",
        "//api.example.com",
        "/etc/passwd",
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "ftp://api.example.com",
        "gopher://api.example.com",
        "ws://api.example.com",
        "unix:///run/docker.sock",
        "javascript:alert(1)",
        "data:text/plain,x",
        "httpss://api.example.com",
        "s3://bucket",
        "",
        " ",
        "x",
    ],
    "is not a URL": [
        "https://",
        "https:///path",
        "https:api.example.com",
        "https:/api.example.com",
        "https://:443",
        "https://?x",
        "https://api.example.com:99999",
        "https://api.example.com:0",
        "https://api.example.com:port",
        "https://api.example.com:-1",
        "https://[::1",
        "https://[not-an-address]",
        "https://api example.com",
        "https://api.example.com/a b",
        "https://api.example.com\n",
        "https://api.example.com\t/x",
        "https://api.example.com\r\nX-Header: 1",
        "https://api.example.com\x00",
        "https://api.example.com\x7f",
        "https://büro.example.com",
        "https://api.example.com/ü",
        "https://api\u3002example.com",
        "https://\u202eapi.example.com",
        "https://evil.example.com\\good",
        "https://api..example.com",
        "https://.example.com",
        "https://.",
        "https://-api.example.com",
        "https://*.example.com",
        "https://api,example.com",
        "https://api%2eexample.com",
        "https://%31%36%39.254.169.254",
        "https://(x)",
        "https://2852039166",
        "https://0xa9fea9fe",
        "https://0xa9.254.43518",
        "https://0251.0376.0251.0376",
        "https://169.254.43518",
        "https://127.1",
        "https://1.2.3.4.5",
        "https://256.1.1.1",
        "https://example.0x7f",
        "http://127.1",
        "http://2130706433",
        "http://0x7f000001",
        "http://0",
    ],
    "leads to": [
        "https://169.254.169.254",
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.0.1:443",
        "https://[fe80::1]",
        "https://[fe80::1%25eth0]",
        "https://[::ffff:169.254.169.254]",
        "https://[::ffff:a9fe:a9fe]",
        "https://0.0.0.0",
        "http://0.0.0.0:8080",
        "https://[::]",
        "https://224.0.0.1",
        "https://[ff02::1]",
        "https://255.255.255.255",
        "https://240.0.0.1",
        "https://[64:ff9b::169.254.169.254]",
        "https://[64:ff9b::a9fe:a9fe]",
        "https://[2002:a9fe:a9fe::1]",
        "https://[2001:0:a9fe:a9fe::1]",
        "https://[::169.254.169.254]",
        "https://[::a9fe:a9fe]",
        "https://[::ffff:0:169.254.169.254]",
        "https://[64:ff9b::]",
        "https://[::e000:1]",
        "https://[FE80::1]",
        "https://[febf::1]:443",
        "https://[fe80::1%1]",
        "https://[ff05::2]",
        "https://[ff0e::1]",
        "https://[0:0:0:0:0:ffff:a9fe:a9fe]",
        "https://[::ffff:0.0.0.0]",
        "https://[::ffff:224.0.0.1]",
        "https://169.254.169.254:80/x",
        "https://169.254.0.0",
        "https://169.254.255.255",
        "https://239.255.255.255",
        "https://255.255.255.254",
    ],
    "must not hold a user name or a password": [
        "https://me@api.example.com",
        "https://me:pass@api.example.com",
        "https://:pass@api.example.com",
        "https://@api.example.com",
        "https://api.example.com\\@evil.example.com",
        "https://api.example.com:443@evil.example.com",
        "http://localhost@evil.example.com",
    ],
    "must not hold a query or a fragment": [
        "https://api.example.com?key=1",
        "https://api.example.com/?",
        "https://api.example.com?",
        "https://api.example.com#x",
        "https://api.example.com/#",
        "https://api.example.com/a?b#c",
    ],
}
# Every spelling in which a resolver may take numbers for 169.254.169.254 or 127.0.0.1.
NUMBERS = [
    *("2852039166", "0xa9fea9fe", "0XA9FEA9FE", "025177524776", "0x00a9fea9fe", "7147006462"),
    *("169.254.43518", "169.16689662", "0xa9.254.169.254", "169.0xfe.169.254", "0251.254.169.254"),
    *("0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "00251.00376.00251.00376", "169.254.169.0376"),
    *("169.254.169.254.", "0xa9fe.43518", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1"),
    *("127.1", "127.0.1", "127.0.0.1.", "0x7f.0.0.1", "017700000001", "127.0.0.01", "0", "0.0"),
    *("00000177.1", "0x7F.0x1", "1.1", "0x", "0x.0x.0x.0x", "127.0.0.0x1", "4294967295"),
]
UNSAFE["is not a URL"] += [
    f"{scheme}://{host}/x" for scheme in ("http", "https") for host in NUMBERS
]
REFUSED = [(url, why) for why, urls in UNSAFE.items() for url in urls]


@pytest.mark.parametrize("url", SAFE)
def test_safe_urls(url: str) -> None:
    """A service may be anywhere over https, and on this machine over http."""
    assert unsafe_base_url(url) == ""


@pytest.mark.parametrize(("url", "why"), REFUSED)
def test_unsafe_urls(url: str, why: str) -> None:
    """Every other base URL is refused for its reason, and the reason names no password."""
    said = unsafe_base_url(url)

    assert said.startswith(why)
    assert "pass" not in said.replace("a password", "")


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_any_url(rest: str) -> None:
    """No text makes the check raise, and what passes has a host and no blank."""
    for url in (rest, f"https://{rest}", f"http://{rest}"):
        if not unsafe_base_url(url):
            assert url.isascii()
            assert url.split("://")[1].split("/")[0]


def test_the_table_is_long() -> None:
    """The table has two hundred addresses, and none twice."""
    urls = [*SAFE, *(url for url, _ in REFUSED)]

    assert len(urls) >= 200
    assert len(set(urls)) == len(urls)
