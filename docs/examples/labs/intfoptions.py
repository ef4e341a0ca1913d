"""Options of a link, changed while it is up: rate, delay, loss."""

import dumbbell

with dumbbell.Lab() as lab:
    h1, h2, s1 = lab.host("h1"), lab.host("h2"), lab.switch("s1")
    first = lab.link(h1, s1, rate="50 Mbit/s", delay="1 ms", buffer="50 ms")
    lab.link(s1, h2)
    lab.start()

    def rtt_ms() -> float:
        """The round-trip time between both hosts."""
        rtt = lab.ping_all([h1, h2]).rtt_ns[0][1]
        assert rtt is not None
        return rtt / 1e6

    before = rtt_ms()
    first.set(delay="15 ms")
    after = rtt_ms()
    print(f"round trip: {before:.1f} ms with a delay of 1 ms, {after:.1f} ms with 15 ms")
    assert before >= 2
    assert after >= 30

    first.set(rate="5 Mbit/s")
    slow = lab.tcp(h1, h2, cc="reno", seconds=1).goodput_bps
    print(f"with 5 Mbit/s: {slow / 1e6:.2f} Mbit/s")
    assert slow < 5e6

    first.set(loss="100 %")
    assert lab.ping_all(timeout_s=0.2).received == 0
    print(lab.link("h1-s1").state)
