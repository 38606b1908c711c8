"""The most that numbers of a configuration may be, where nothing smaller bounds them."""

MOST_S = 1_000_000_000  # thirty years: loops add it to their clocks
MOST_UNITS = 1 << 40  # units beyond are those of benches
MOST_STEPS = 1_000_000_000
MOST_MB = 1 << 30
MOST_ROWS = 1 << 40  # how many fit into memory is checked by methods/sizes.py
