# `scripts/dev just RECIPE` works on a fresh machine; inside the environment plain `just RECIPE` does.

# Train with the default configuration
train *arguments:
    scripts/dev asyncplay train {{arguments}}

# A short headless run with exact books that leaves nothing behind
smoke:
    scripts/dev python scripts/smoke.py

# The whole suite but the slow tests
test *arguments:
    scripts/dev pytest {{arguments}}

# What needs no processes, in seconds
fast:
    scripts/dev pytest -q -m "not slow and not process and not exhaustive"

# Full counts of what the slow tests sample
exhaustive:
    scripts/dev pytest -m exhaustive

# What CI runs, letter for letter
check:
    .ci/run

# One published table, measured here
bench name *arguments:
    scripts/dev asyncplay bench {{name}} {{arguments}}

# Write the golden files anew; read the difference before you commit it
golden:
    scripts/dev pytest -q -m "not slow and not exhaustive" --golden

# Runs of two commits with the same seeds, compared bit for bit
same-bits old new="HEAD":
    scripts/dev python scripts/same_bits.py {{old}} {{new}}

# Ratios that benches of two commits measure, in interleaved pairs; --pairs and --only as the script has them
compare-speed old new="HEAD" *arguments:
    scripts/dev python scripts/compare_speed.py {{old}} {{new}} {{arguments}}

# Figures of the package's structure
shape:
    scripts/dev python scripts/shape.py
