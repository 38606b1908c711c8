"""Whether numbers that came over the wire can be what they are said to be."""

from asyncplay.payloads import Array

MOST_FEATURE = 100.0
"""Encodings are numbers of the order of 1; beyond this there is none."""

SLACK = 1e-5  # of numbers that were rounded to float32


def is_sound(features: Array) -> bool:
    """Whether an encoding can have given these; a network would make something useless of the others."""
    return is_within(features, MOST_FEATURE)


def is_within(numbers: Array, most: float) -> bool:
    """Whether all lie in -most .. most, give or take a rounding; what is no number does not."""
    return bool(numbers.size == 0 or (numbers.max() <= most + SLACK and numbers.min() >= -most - SLACK))
