"""How long the multiplications of a network take by themselves, as plain matrix products on all cores."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch

from asyncplay.machine import usable_cores
from asyncplay.model.quantile import QuantileShape
from asyncplay.model.threads import use_threads

WINDOWS, LISTS = 7, 20  # of which the best counts; lists that each core works through in a window


class Product(NamedTuple):
    """Of a matrix rows x inner and one inner x columns."""

    rows: int
    inner: int
    columns: int


def forward_products(shape: QuantileShape, rows: int) -> list[Product]:
    """Of a decision of so many rows, whose embeddings are there."""
    many, width = rows * shape.quantiles, shape.width
    return [
        Product(rows, shape.features, width),
        Product(many, width, width),
        Product(many, width, shape.actions + 1),
    ]


def step_products(shape: QuantileShape, rows: int) -> list[Product]:
    """Of a training step: three passes forward with their embeddings and one back; the features get no gradient."""
    forward = [*forward_products(shape, rows), Product(shape.quantiles, shape.cosines, shape.width)]
    of_weights = [Product(inner, n, columns) for n, inner, columns in forward]
    of_inputs = [Product(n, columns, inner) for n, inner, columns in forward_products(shape, rows)[1:]]
    return [*forward, *forward, *forward, *of_weights, *of_inputs]


def all_cores_s(products: list[Product]) -> float:
    """Seconds for a list of products in the long run, if every core works through such lists by itself."""
    pairs = [(torch.randn(rows, inner), torch.randn(inner, columns)) for rows, inner, columns in products]
    cores = usable_cores()

    def work(core: int) -> None:
        use_threads(1)
        for _ in range(LISTS):
            for left, right in pairs:
                torch.mm(left, right)

    windows = []
    with ThreadPoolExecutor(cores) as crew:
        for _ in range(WINDOWS):
            began_s = time.perf_counter()
            list(crew.map(work, range(cores)))
            windows.append(time.perf_counter() - began_s)
    return min(windows) / (LISTS * cores)
