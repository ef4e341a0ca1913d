"""A server in each host, as sshd would be: every host reaches every other one by its name.

With OpenSSH installed, "/usr/sbin/sshd -D -o UseDNS=no" in place of the web server does the same.
"""

import sys
from contextlib import ExitStack

import dumbbell

SERVE = [sys.executable, "-u", "-m", "http.server", "80"]
FETCH = "import sys, urllib.request\nfor name in sys.argv[1:]: urllib.request.urlopen(f'http://{name}/').read()"

with dumbbell.Lab.from_topology("star", size=3) as lab, ExitStack() as stack:
    for name in lab.hosts:
        stack.enter_context(lab[name].start(SERVE)).wait_for("Serving HTTP")
    for name in lab.hosts:
        lab[name].run([sys.executable, "-c", FETCH, *lab.hosts], check=True)
    print(f"{len(lab.hosts)} servers are reached from everywhere")
