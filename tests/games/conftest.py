"""Positions of RingRift are begun in every implementation of it."""

from games.ringrift_tables import begin

__all__ = ["begin"]
