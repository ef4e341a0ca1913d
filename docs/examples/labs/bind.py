"""Directories of a host's own: each host has its /var/log, and sees the rest of the machine's files."""

import dumbbell

with dumbbell.Lab() as lab:
    h1 = lab.host("h1", private=["/var/log"])
    h2 = lab.host("h2", private=["/var/log", "/var/tmp"])
    lab.link(h1, h2)
    lab.start()
    assert h1.run("ls /var/log").stdout == ""
    for host in (h1, h2):
        host.run("echo I am $(hostname) > /var/log/own", check=True)
    print(h1.run("cat /var/log/own").stdout, h2.run("cat /var/log/own").stdout, sep="", end="")
    assert h1.run("cat /var/log/own").stdout == "I am h1\n"
    assert "own" not in h2.run("ls /var/tmp").stdout
