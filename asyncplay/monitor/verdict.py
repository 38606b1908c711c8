"""What holds the run back: a pure function of a few figures, in the order in which one thing hides another.

A slow disk holds play and starves training, so it comes before the limiter; a limiter that holds play leaves the
device to training, so it comes before the device. A device with cores of its own is judged before other processes on
ours; one that computes on our cores after them, as they are what slows it. Where nothing is busy and workers wait all
the same, the run waits between its processes.
"""

from dataclasses import dataclass
from typing import NamedTuple

from asyncplay.monitor.cpu import Usage

HELD = 0.3  # of the time, that counts as held back
BUSY = 0.85  # of the time, from which on a device is busy
FOREIGN = 0.25  # of the cores taken by others,
STARVED = 0.2  # and of what we wanted not given,
WANTING = 0.5  # by a run that wants at least this many cores
IDLE_TIMER = 0.5  # of the time that a pinned timeout leaves the device idle
WAITING = 0.35  # of the time that workers have nothing to think about, while neither device nor cores are busy
HALF = 0.5  # of the workers' time, from which on the network is what they do
FULL = 0.8  # of the cores, from which on more of them would help


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds the run back: "device-bound", "device busy 97 % of the time", "a smaller net (net.blocks)"."""

    bound: str
    figure: str
    cure: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.bound, "; ".join(filter(None, (self.figure, self.cure))))))


class Strain(NamedTuple):
    """How a run was doing over the last seconds; shares are of that time."""

    is_paused: bool = False
    is_ready: bool = True  # a worker plays and there are seconds to compare
    disk_held: float = 0.0  # play waited for the disk
    disk_trouble: str = ""
    commit_lag_s: float = 0.0
    limiter_held: float = 0.0  # play waited for training
    worker_wait: float = 0.0  # all games of a worker waited for answers, mean of the workers
    device: str = "cpu"  # see Figures
    device_share: float | None = None  # that it was busy, None if the run has none
    training_share: float = 0.0  # of it with training
    fixed_share: float = 0.0  # of it with what a batch costs whatever its size
    is_cut: bool = False  # batches are as large as batch.max_rows lets them be
    is_local: bool = False  # the network answers in the workers; its share is of their time
    timeout: str = "auto"
    wait_p50_ms: float = 0.0
    usage: Usage | None = None


def judge(strain: Strain) -> Verdict:
    if strain.is_paused:
        return Verdict("paused", "", "p in the console or pause=off goes on")
    if not strain.is_ready:
        return Verdict("starting", "", "")
    device_and_others = (_others, _device) if strain.device == "cpu" else (_device, _others)
    if strain.is_local:
        device_and_others = (_others, _cores)
    for rule in (_disk, _limiter, *device_and_others, _timer, _handover):
        if (found := rule(strain)) is not None:
            return found
    asks, usage = strain.device_share is not None, strain.usage
    cure = "more pool.workers or more search.games" if asks else "more pool.workers"
    if usage is not None and usage.own >= FULL * usage.cores:
        cure = "more cores or fewer search.simulations" if asks else "more cores"
    return Verdict("worker-bound", ", ".join(_shares(strain)), cure)


def _shares(strain: Strain) -> list[str]:
    """How busy the device and the cores are, as far as there is one and that is known."""
    words = [] if strain.device_share is None else [f"device busy {strain.device_share:.0%} of the time"]
    usage = strain.usage
    return words if usage is None else [*words, f"the run uses {usage.own:.1f} of {usage.cores} cores"]


def _disk(strain: Strain) -> Verdict | None:
    if strain.disk_trouble:
        trouble = " ".join(strain.disk_trouble.split())
        return Verdict("disk-bound", trouble, "play goes on when the disk takes games again")
    if strain.disk_held < HELD:
        return None
    figure = f"play waits for the disk {strain.disk_held:.0%} of the time, a commit takes {strain.commit_lag_s:.1f} s"
    return Verdict("disk-bound", figure, "a faster disk, or store.durability=process")


def _limiter(strain: Strain) -> Verdict | None:
    if strain.limiter_held < HELD:
        return None
    figure = f"play waits for training {strain.limiter_held:.0%} of the time"
    return Verdict("limiter-bound", figure, "fewer learn.samples_per_insert or a smaller net (net.blocks)")


def _device(strain: Strain) -> Verdict | None:
    if strain.device_share is None or strain.device_share < BUSY:
        return None
    simulated = "simulated " if strain.device == "sim" else ""
    figure = f"{simulated}device busy {strain.device_share:.0%} of the time"
    figure += f", {strain.training_share:.0%} with training" if strain.training_share else ""
    cure = "a smaller net (net.width, net.blocks) or fewer search.simulations"
    if strain.training_share > 0.6:
        cure = "fewer learn.samples_per_insert"
    elif strain.fixed_share > 0.4:  # batches that are all alike leave the fit at a half, for want of knowledge
        cure = "larger batches: more batch.max_rows" if strain.is_cut else "larger batches: more search.games"
    return Verdict("device-bound", figure, cure)


def _others(strain: Strain) -> Verdict | None:
    usage = strain.usage
    if usage is None or usage.foreign < FOREIGN * usage.cores:
        return None
    if usage.own + usage.waiting < WANTING or usage.starved < STARVED:
        return None
    figure = f"other processes take {usage.foreign:.1f} of {usage.cores} cores, we get {1 - usage.starved:.0%} of ours"
    return Verdict("oversubscribed", figure, "stop them (asyncplay doctor names them) or fewer pool.workers")


def _cores(strain: Strain) -> Verdict | None:
    """Search, network and training share the cores, and no more than those is to be had."""
    usage, network = strain.usage, (strain.device_share or 0.0) * (1 - strain.training_share)
    if usage is None or usage.own < FULL * usage.cores:
        return None
    figure = f"the run uses {usage.own:.1f} of {usage.cores} cores"
    figure += f", the network takes {network:.0%} of the workers' time"
    cure = "a smaller net (net.width, net.blocks)" if network > HALF else "fewer search.simulations"
    return Verdict("core-bound", figure, f"more cores, or {cure}")


def _timer(strain: Strain) -> Verdict | None:
    if (
        strain.timeout == "auto"
        or strain.is_local
        or strain.device_share is None
        or 1 - strain.device_share < IDLE_TIMER
    ):
        return None
    figure = f"queries wait {strain.wait_p50_ms:.1f} ms while the device is busy {strain.device_share:.0%} of the time"
    waits_for_timer = strain.wait_p50_ms >= 0.5 * float(strain.timeout) > 0
    return Verdict("timer-bound", figure, "batch.timeout_ms=auto") if waits_for_timer else None


def _handover(strain: Strain) -> Verdict | None:
    """Workers wait while device and cores have time: what is waited for is the way from one process to the other."""
    if strain.device_share is None or strain.worker_wait < WAITING:
        return None
    if strain.usage is not None and strain.usage.own >= FULL * strain.usage.cores:
        return None
    figure = ", ".join([f"workers wait {strain.worker_wait:.0%} of the time", *_shares(strain)])
    sooner = "" if strain.timeout == "0" else ", or batch.timeout_ms=0"
    return Verdict("waiting between processes", figure, f"more search.games, so that others think meanwhile{sooner}")
