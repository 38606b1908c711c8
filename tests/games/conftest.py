"""Positions of RingRift are begun in every implementation of it."""

from games.ringrift_sides import begin

__all__ = ["begin"]
