"""A module of PettingZoo with nothing but a parallel environment."""

from pettingzoo.classic.rps_v2 import parallel_env

__all__ = ["parallel_env"]
