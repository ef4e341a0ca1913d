"""Packet captures, analysed: tables of connections and of what happened in them."""

from dumbbell.captures.analysis import pcap
from dumbbell.captures.capture import Capture

__all__ = ["Capture", "pcap"]
