"""Networks that answer inside a worker: the one door through which a worker computes with onnxruntime.

The coordinator trains, versions and publishes; a worker that was told where a model's network lies (PlaceModel) answers
its own asks for that model. A file is read whole and held against its digest. A file that is gone was replaced by a
newer one, whose message is on its way: until that comes the network before it answers.
"""

import hashlib
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from asyncplay.errors import WireError
from asyncplay.payloads import Estimates, Positions
from asyncplay.priors import legal_priors
from asyncplay.wire.messages import Computed, Message, PlaceModel

REPORT_S = 0.1  # between two reports of what was computed


class LocalNetwork:
    """One version of a network, on one thread."""

    def __init__(self, data: bytes, placed: PlaceModel) -> None:
        import onnxruntime  # only where a network is placed in the worker

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        self.placed = placed

    def estimate(self, positions: Positions) -> Estimates:
        features = positions.features.astype(np.float32, copy=False)
        logits, values = self._session.run(None, {self._input: features})
        return Estimates(legal_priors(logits, positions.legal, positions.offsets), values, self.placed.version)


class LocalModels:
    """The networks of one role's player, and what they have computed since the last report.

    Lifetime: as long as its player. Order: the latest PlaceModel of a model holds from the next estimate on.
    """

    def __init__(self) -> None:
        self._networks: dict[int, LocalNetwork] = {}
        self._sizes: list[int] = []
        self._seconds, self._reported_s = 0.0, 0.0
        self._counts: Counter[str] = Counter()

    def has(self, model: int) -> bool:
        """Whether this worker answers for ``model``."""
        return model in self._networks

    def gathers(self, model: int) -> bool:
        return self._networks[model].placed.gathers

    def place(self, message: PlaceModel) -> None:
        """WireError if the file is not what the message says."""
        current = self._networks.get(message.model)
        if not message.path:
            self._networks.pop(message.model, None)
        elif current is not None and current.placed.digest == message.digest:
            current.placed = message
        elif (data := _read(message)) is not None:
            self._networks[message.model] = LocalNetwork(data, message)

    def estimate(self, model: int, positions: Positions) -> Estimates:
        """Answer at least one row, in calls of ``max_rows`` at most."""
        network, n_rows = self._networks[model], len(positions.features)
        most = network.placed.max_rows
        began_s = time.perf_counter()
        n_parts = -(-n_rows // most)
        cuts = [n_rows * part // n_parts for part in range(n_parts + 1)]
        pieces = [positions] if n_parts == 1 else [positions.part(*ends) for ends in pairwise(cuts)]
        answers = [network.estimate(piece) for piece in pieces]
        self._seconds += time.perf_counter() - began_s
        self._sizes += [len(piece.features) for piece in pieces]
        if n_parts == 1:
            return answers[0]
        priors, values, _ = zip(*answers, strict=True)
        return Estimates(np.concatenate(priors), np.concatenate(values), network.placed.version)

    def count(self, **counts: int) -> None:
        """Rows to be told of with the next report, by name of a field of Computed."""
        self._counts.update(counts)

    def report(self, now_s: float, *, is_last: bool = False) -> list[Message]:
        """What was computed, once the last report is REPORT_S old or nothing is computed for a while."""
        if not self._sizes or (now_s - self._reported_s < REPORT_S and not is_last):
            return []
        message = Computed(np.array(self._sizes, np.int32), self._seconds, **self._counts)
        self._sizes, self._seconds, self._reported_s = [], 0.0, now_s
        self._counts.clear()
        return [message]


def _read(message: PlaceModel) -> bytes | None:
    try:
        data = Path(message.path).read_bytes()
    except FileNotFoundError:
        return None
    if hashlib.sha256(data).hexdigest() != message.digest:
        raise WireError(f"{message.path} is damaged: it is not the network of version {message.version}")
    return data
