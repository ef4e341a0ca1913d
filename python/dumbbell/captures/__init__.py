"""Packet captures, analysed: tables of connections and of what happened in them."""

from dumbbell.captures.analysis import TOP, analyse
from dumbbell.captures.capture import Capture, is_capture

__all__ = ["TOP", "Capture", "analyse", "is_capture"]
