"""Networks, their backends and their training. The only user of torch."""

import os

# Read by OpenMP when torch is loaded, so it is set before. Threads that spin while they wait for the next
# operation fight the workers for the cores: beside two busy processes on two cores, a 6x64 resnet on two
# threads answered 213 rows/s spinning and 721 sleeping.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
