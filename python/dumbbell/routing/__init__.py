"""Configurations of routing daemons (FRRouting), worked out from a network and a few keys."""

from __future__ import annotations

from dumbbell.routing.configuration import Configuration, configurations

__all__ = ["Configuration", "configurations"]
