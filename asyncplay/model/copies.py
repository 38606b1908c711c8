"""How fast rows reach a CUDA device, from page-locked memory and from ordinary memory."""

import time

import torch

COPY_BYTES, COPIES = 16 << 20, 8


def copy_gb_per_s(*, is_pinned: bool) -> float:
    """The best of several copies of 16 MB to the present CUDA device."""
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, pin_memory=is_pinned)
    target = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    best_s = min(_seconds(source, target) for _ in range(COPIES))
    return COPY_BYTES / best_s / 1e9


def _seconds(source: torch.Tensor, target: torch.Tensor) -> float:
    torch.cuda.synchronize()
    started_s = time.perf_counter()
    target.copy_(source, non_blocking=True)
    torch.cuda.synchronize()
    return time.perf_counter() - started_s
