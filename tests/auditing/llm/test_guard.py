"""The guard for addresses of model servers."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.llm.guard import LOOPBACK_HOSTS, EndpointRefused, check_base_url, checked_addresses


@pytest.mark.parametrize(
    "url",
    [
        "ftp://api.example.org/v1",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//api.example.org/v1",
        "api.example.org/v1",
        "",
        "http://",
        "http:///v1",
        "https://user:word@api.example.org/v1",
        "https://user@api.example.org/v1",
        "https://api.example.org@127.0.0.1/v1",
        "https://api.example.org/v1?to=http://10.0.0.1",
        "https://api.example.org/v1#x",
        "https://api.example.org:99999/v1",
        "https://api.example.org:port/v1",
        "https://api.example.org\\@127.0.0.1/v1",
        "https://api.example.org /v1",
        "https://api.example.org/v1\r\nHost: x",
        "https://api.example.org/\x00",
        "https://127。0。0。1/v1",  # full-width dots
        "https://①②⑦.0.0.1/v1",
        "https://%31%32%37.0.0.1/v1",
        "http://[fe80::1%25eth0]/v1",
        "http://localhost/v1",
        "http://LOCALHOST/v1",
        "http://localhost./v1",
        "http://sub.localhost/v1",
        "http://printer.local/v1",
        "http://metadata.google.internal/v1",
        "http://127.0.0.1/v1",
        "http://127.8.8.8/v1",
        "http://10.1.2.3/v1",
        "http://172.16.0.1/v1",
        "http://192.168.1.1/v1",
        "http://100.64.0.1/v1",  # carrier-grade NAT
        "http://169.254.169.254/v1",  # cloud metadata
        "http://0.0.0.0/v1",
        "http://255.255.255.255/v1",
        "http://224.0.0.1/v1",
        "http://198.18.0.1/v1",
        "http://[::1]/v1",
        "http://[::]/v1",
        "http://[fe80::1]/v1",
        "http://[fc00::1]/v1",
        "http://[ff02::1]/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://[::ffff:8.8.8.8]/v1",
        "http://[64:ff9b::7f00:1]/v1",
        "http://[2002:7f00:1::]/v1",  # 6to4 of 127.0.0.1
        "http://2130706433/v1",  # 127.0.0.1 as one decimal
        "http://0x7f000001/v1",
        "http://0x7f.1/v1",
        "http://0177.0.0.1/v1",  # octal
        "http://127.1/v1",
        "http://127.0.0.1./v1",
    ],
)
def test_ih_09_refused_addresses(url):
    with pytest.raises(EndpointRefused) as caught:
        check_base_url(url)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://openrouter.example/api/v1/", "https://openrouter.example:443"),
        ("http://Models.Example.org:8080/v1", "http://models.example.org:8080"),
        ("https://8.8.8.8/v1", "https://8.8.8.8:443"),
        ("https://[2606:4700:4700::1111]/v1", "https://[2606:4700:4700::1111]:443"),
        ("https://xn--mnchen-3ya.example/v1", "https://xn--mnchen-3ya.example:443"),
    ],
)
def test_ih_09_public_addresses_pass(url, origin):
    endpoint = check_base_url(url)
    assert endpoint.origin == origin
    assert not endpoint.base_url.endswith("/")


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "http://127.0.0.1:8000/v1", "http://[::1]:8000/v1"]
)
def test_ih_11_loopback_passes_when_the_operator_allows_it(url):
    assert check_base_url(url, LOOPBACK_HOSTS).port == 8000


def test_ih_11_the_allow_list_names_single_hosts():
    check_base_url("http://10.1.2.3:8000/v1", ["10.1.2.3"])
    with pytest.raises(EndpointRefused, match="private network"):
        check_base_url("http://10.1.2.4:8000/v1", ["10.1.2.3"])


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "224.0.0.1"])
def test_ih_09_metadata_is_refused_even_when_allowed(host):
    with pytest.raises(EndpointRefused, match="never a model server"):
        check_base_url(f"http://{host}/v1", [host])


def test_ih_09_names_are_checked_where_they_lead():
    endpoint = check_base_url("https://models.example.org/v1")
    assert checked_addresses(endpoint, (), lambda host, port: ["8.8.8.8"]) == ["8.8.8.8"]
    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%eth0"):
        with pytest.raises(EndpointRefused):
            checked_addresses(endpoint, (), lambda host, port, found=address: [found])


def test_ih_09_one_private_address_among_public_ones_refuses_the_name():
    endpoint = check_base_url("https://models.example.org/v1")
    with pytest.raises(EndpointRefused):
        checked_addresses(endpoint, (), lambda host, port: ["8.8.8.8", "127.0.0.1"])


def test_ih_11_an_allowed_name_may_lead_to_a_private_address():
    endpoint = check_base_url("http://llm.example.org/v1")
    assert checked_addresses(endpoint, ["llm.example.org"], lambda host, port: ["10.0.0.7"]) == ["10.0.0.7"]


def test_a_name_without_addresses_is_an_error():
    endpoint = check_base_url("https://models.example.org/v1")
    with pytest.raises(OSError, match="no address"):
        checked_addresses(endpoint, (), lambda host, port: [])


@given(st.ip_addresses(v=4))
def test_ih_09_every_ipv4_address_that_passes_is_global(address: ipaddress.IPv4Address):
    try:
        check_base_url(f"http://{address}/v1")
    except EndpointRefused:
        return
    assert address.is_global
    assert not address.is_multicast


@given(st.text(max_size=40))
def test_ih_09_any_text_gives_an_endpoint_or_a_refusal(text: str):
    try:
        endpoint = check_base_url(text)
    except EndpointRefused:
        return
    assert endpoint.scheme in ("http", "https")
