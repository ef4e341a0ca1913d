"""Two hosts at a switch, drawn call by call."""

import dumbbell

with dumbbell.Lab() as lab:
    h1 = lab.host("h1", address="10.0.0.1/24")
    h2 = lab.host("h2", address="10.0.0.2/24")
    s3 = lab.switch("s3")
    lab.link(h1, s3)
    lab.link(h2, s3)
    lab.start()
    print(lab.ping_all().matrix())
    assert lab.ping_all().received == 2
