import threading

import torch

from asyncplay.model.threads import use_threads


def test_the_limit_holds_on_the_thread_that_set_it():
    """A lane on one thread must not slow down whoever works on another."""
    seen = []

    def lane() -> None:
        use_threads(1)
        seen.append(torch.get_num_threads())

    use_threads(2)
    thread = threading.Thread(target=lane)
    thread.start()
    thread.join()
    assert seen == [1]
    assert torch.get_num_threads() == 2
