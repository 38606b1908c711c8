"""How many threads torch uses for one operation."""

import torch


def use_threads(threads: int) -> None:
    """Limit torch's operations on the calling thread.

    The limit is OpenMP's, which belongs to the calling thread; a new thread begins with whatever was set
    last anywhere. So it is set where the work is done, by those who do it, not once at the start.
    """
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
