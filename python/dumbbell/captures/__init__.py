"""Packet captures, analysed: tables of connections and of what happened in them."""

from dumbbell.captures.analysis import analyse
from dumbbell.captures.capture import Capture, is_capture

__all__ = ["Capture", "analyse", "is_capture"]
