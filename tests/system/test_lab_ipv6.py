"""IPv6 in labs: the shell's words, and programs as people have them."""

from __future__ import annotations

import re

import pytest
from graphs import graph, link
from harness import Place

NETWORK = graph(
    link("h1", "s1"),
    link("s1", "r1"),
    link("r1", "h2", "core", rate="20 Mbit/s", delay="2 ms", buffer="100 ms"),
    name="six",
    duration=None,
    ipv6=True,
)
NGINX = """
daemon off;
user root;
master_process off;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{}}
http {{
  access_log {place}/access.log;
  client_body_temp_path {place}/body;
  proxy_temp_path {place}/proxy;
  fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi;
  scgi_temp_path {place}/scgi;
  server {{ listen [::]:80 ipv6only=on; location / {{ return 200 "hello $remote_addr\\n"; }} }}
}}
"""


def lab(user: Place, *lines: str, network: str = NETWORK) -> str:
    """Returns the answer of a lab's shell to these lines."""
    done = user.invoke("lab", "up", user.write(network), *(word for line in lines for word in ("-c", line)))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.real_time
def test_the_shell_s_words_by_ipv6(user: Place) -> None:
    said = lab(
        user, "pingall -6", "pingallfull -6", "pingpair -6 2", "traffic h1 h2 ip=6 cc=reno seconds=1",
        "traffic h1 h2 ip=6 rate=2Mbit/s seconds=1", "h1 echo -6 h2", "h1 echo h2", "why -6 h1 h2", "events",
        "save done.toml",
    )  # fmt: skip
    assert said.count("*** Results: 0% dropped (2/2 received)") == 3
    assert re.search(r"h1->h2: 1/1, rtt \d+\.\d+ ms", said)
    tcp, udp = (float(rate) for rate in re.findall(r"f1 h1 -> h2: ([\d.]+) Mbit/s", said))
    assert 4 < tcp < 20
    # 1452 of 1514 bytes are payload; a second may begin and end with a datagram.
    assert 1 < udp <= 2 * 1452 / 1514 + 2 * 1452 * 8 / 1e6
    assert re.search(r"^-6 fd00:\S+$", said, re.MULTILINE)
    assert re.search(r"^10\.\S+$", said, re.MULTILINE)
    assert "h2 answers h1: " in said
    assert (user.directory / "done.toml").read_text().count("ip = 6") == 2


@pytest.mark.thorough
@pytest.mark.real_time
def test_mininet_s_measurements_by_ipv6(user: Place) -> None:
    said = lab(user, "iperf -6", "iperfudp -6 1M h2 h1")
    tcp, udp = (float(rate) for rate in re.findall(r"f1 h\d -> h\d: ([\d.]+) Mbit/s", said))
    assert 10 < tcp < 20
    assert 0.8 < udp < 1


def test_a_network_without_ipv6_says_so(user: Place) -> None:
    plain = graph(link("h1", "h2"), name="four", duration=None)
    done = user.invoke("lab", "up", user.write(plain), "-c", "pingall -6")
    assert done.returncode == 1
    assert "has no address of IPv6" in done.stderr
    assert "ipv6 = true" in done.stderr
    done = user.invoke("lab", "up", user.write(plain), "-c", "traffic h1 h2 ip=6")
    assert done.returncode == 1
    assert "IPv6" in done.stdout + done.stderr


def test_iperf3_curl_and_nginx_by_ipv6(user: Place) -> None:
    (user.directory / "nginx.conf").write_text(NGINX.format(place=user.directory))
    said = lab(
        user,
        f"h2 nginx -p {user.directory} -c {user.directory}/nginx.conf &",
        "h2 sh -c 'until ss -6ltn | grep -q :80; do sleep 0.05; done'",
        "h1 curl -6 -sS --max-time 30 http://h2/",
        "h2 iperf3 -s -D",
        "h2 sh -c 'until ss -ltn | grep -q :5201; do sleep 0.05; done'",
        "h1 iperf3 -6 -c h2 -n 1M -J",
        "h1 iperf3 -6 -u -b 1M -n 100K -c h2",
        "h1 ping -6 -c1 -W5 h2",
    )
    assert re.search(r"hello fd00:", said)
    (remote,) = re.findall(r'"remote_host":\s+"(\S+)"', said)
    assert ":" in remote
    assert "1 received" in said
