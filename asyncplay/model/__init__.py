"""Networks, their backends and their training. The only user of torch."""

import os

# Read by OpenMP when torch is loaded, so it is set before. Threads that spin while they wait for the next
# operation fight the workers for the cores: beside two busy processes on two cores, a 6x64 resnet on two
# threads answered 213 rows/s spinning and 721 sleeping.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# For code that torch compiles, which we never ask for. Its own choice has a name that others can foresee in the
# temporary directory, and it is made with the first optimizer; this one is there and is as safe as our code.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.dirname(__file__))
