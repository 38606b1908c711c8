"""How many threads torch uses for one operation."""

import torch


def use_threads(threads: int) -> None:
    """Limit torch's operations on the calling thread.

    The limit is OpenMP's and belongs to the calling thread; a new thread begins with the limit that any thread set
    last. So every thread that computes sets it for itself; once at the start would not do.
    """
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
