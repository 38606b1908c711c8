"""What the engine shows of a run: its batches and its store."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.part import Figure, Part, Plot, count, per_s
from asyncplay.monitor.verdict import Strain
from asyncplay.stats import Histogram

BATCH_SIZES = Plot("batches", "Batch sizes", "this run asks no network")
WHY = {
    "none": "firing whenever the device is idle gives most rows/s",
    "integral": "gathering while the wait is worth a launch gives most rows/s",
    "half": "waiting for half of the slots gives most rows/s",
    "all": "waiting for all slots gives most rows/s",
    "local": "each worker answers itself, with the rows of all its groups unless the timeout is 0",
}


@dataclass(frozen=True, slots=True)
class BatchFigures(Part):
    """How queries become batches."""

    NAME = "batch"
    TITLE = "batches"
    RANK = 3
    IS_LEFT = True
    FIRST = (
        "timeout", "max_rows", "mean_rows", "queued_rows", "wait_p50_ms", "wait_p95_ms",
        "fixed_ms", "per_row_us", "device_share", "spared_share",
    )  # fmt: skip

    mean_rows: Annotated[
        float, Figure("gauge", "rows", "mean batch", count, line="mean batch {:.0f}", plot=BATCH_SIZES)
    ] = 0.0
    """Rows of a batch, of the last seconds as the waits and the histogram are."""

    histogram: Annotated[tuple[tuple[int, float], ...], Figure("histogram", "rows", "rows a batch")] = ()
    """Share of the batches by octave of their rows."""

    wait_p50_ms: Annotated[
        float,
        Figure(
            "gauge", "ms", "wait p50", "{:.2f} ms".format, "wait p50 {:.2f} ms", words="half of all queries wait less"
        ),
    ] = 0.0
    """Median time from a query's arrival to its launch."""

    wait_p95_ms: Annotated[float, Figure("gauge", "ms", "p95", "{:.2f} ms".format)] = 0.0
    """Time from arrival to launch that 95 % of the queries do not exceed."""

    fixed_ms: Annotated[
        float, Figure("gauge", "ms", "a", "{:.2f} ms".format, words="time of a batch, whatever its size")
    ] = 0.0
    """a of the fitted service time a + b n of a batch of n rows."""

    per_row_us: Annotated[
        float, Figure("gauge", "us", "b", "{:.2f} us".format, words="time that each of its rows adds")
    ] = 0.0
    """b of the fitted service time."""

    linger: Annotated[
        str, Figure("text", "", "linger", str, "linger {}", words="what an idle device waits for before it fires")
    ] = ""
    """The tuner's arm in force; "pinned" under a user's timeout."""

    why: Annotated[str, Figure("note", "")] = ""
    """The reason for this arm."""

    queued_rows: Annotated[int, Figure("gauge", "rows", "queued", count)] = 0
    """Rows that wait for a batch."""

    device_share: Annotated[
        float,
        Figure("gauge", "share", "device answers", "{:.0%}".format, words="share of the time that it computes batches"),
    ] = 0.0
    """Share of the time in which the device computes these batches."""

    timeout: Annotated[str, Figure("text", "ms", "timeout", str)] = ""
    """The batch timeout in milliseconds, or "auto"."""

    max_rows: Annotated[int, Figure("gauge", "rows", "max rows", "{:,}".format)] = 0
    """Most rows of a batch."""

    extra_share: Annotated[
        float,
        Figure("gauge", "share", "extra leaves", "{:.0%}".format, line="extra leaves {:.1%}", hides_zero=True),
    ] = 0.0
    """Share of the rows asked that are leaves beside the first of their tree; they fill a block where games are few."""

    spared_share: Annotated[
        float, Figure("gauge", "share", "remembered", "{:.0%}".format, line="remembered {:.1%}", hides_zero=True)
    ] = 0.0
    """Share of the rows wanted by searches that the workers' evaluation caches answered."""

    queued_mb: Annotated[float, Figure("gauge", "MB")] = 0.0
    """Megabytes of the rows that wait for a batch; beyond batch.max_queued_mb workers are not read from."""

    uncached_rows: Annotated[
        int, Figure("counter", "rows", "not remembered", count, line="no room in caches {:,}", hides_zero=True)
    ] = 0
    """Answers that the workers' evaluation caches had no room for, see search.cache_mb."""

    joined: Annotated[int, Figure("counter", "messages", "in parts", count, hides_zero=True)] = 0
    """Messages of workers, finished games for example, that were longer than a frame and came in parts."""

    placement: Annotated[str, Figure("text", "", "answers in", str, hides_zero=True)] = ""
    """Where the network answers, "coordinator" or "workers"; empty where there is no choice."""

    rows: int = 0  # answered
    batches: int = 0
    device_s: float = 0.0  # time that the device spent on them
    batch_rows: Histogram = field(default_factory=Histogram, compare=False)
    wait_s: Histogram = field(default_factory=Histogram, compare=False)
    fixed_s: float = 0.0
    per_row_s: float = 0.0
    asked_rows: int = 0  # that came, answered or not
    extra_rows: int = 0
    spared_rows: int = 0
    fixed_share: float = 0.0  # of the device's time, for what a batch costs whatever its size

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        sizes, waits = self.batch_rows.latest(then.batch_rows), self.wait_s.latest(then.wait_s)
        if self.placement == "workers":
            waits = Histogram()  # nothing waits for company
        batches, device_s = self.batches - then.batches, self.device_s - then.device_s
        asked, spared = self.asked_rows - then.asked_rows, self.spared_rows - then.spared_rows
        timeout, fixed_s = settings.show("batch.timeout_ms"), self.fixed_s if self.fixed_s < 1e300 else 0.0
        linger = "local" if self.placement == "workers" else self.linger
        return replace(
            self,
            mean_rows=(self.rows - then.rows) / max(batches, 1),
            histogram=tuple((2 ** max(octave, 0), share) for octave, share in sizes.octaves().items()),
            wait_p50_ms=1000 * waits.quantile(0.5),
            wait_p95_ms=1000 * waits.quantile(0.95),
            fixed_ms=1000 * fixed_s,
            per_row_us=1e6 * self.per_row_s,
            linger=linger,
            why=WHY.get(linger, f"timeout pinned at {timeout} ms"),
            device_share=per_s(then.device_s, self.device_s, seconds),
            timeout=timeout,
            max_rows=settings.max_rows,
            extra_share=(self.extra_rows - then.extra_rows) / max(asked, 1),
            spared_share=spared / max(asked + spared, 1),
            fixed_share=min(fixed_s * batches / device_s, 1.0) if device_s > 0 else 0.0,
        )

    def still(self) -> Self:
        return replace(self, batch_rows=self.batch_rows.copy(), wait_s=self.wait_s.copy())

    def strain(self, strain: Strain) -> Strain:
        return strain._replace(
            device_share=self.device_share,
            fixed_share=self.fixed_share,
            is_cut=self.mean_rows > 0.9 * self.max_rows,
            timeout=self.timeout,
            is_local=self.placement == "workers",
            wait_p50_ms=self.wait_p50_ms,
        )

    @property
    def waits(self) -> Histogram:
        return self.wait_s


@dataclass(frozen=True, slots=True)
class StoreFigures(Part):
    """What is on disk."""

    NAME = "store"
    TITLE = "store"
    RANK = 7
    LEAST = 1

    games: Annotated[int, Figure("counter", "games", "games", count)] = 0
    """Games on disk."""

    commit_lag_ms: Annotated[float, Figure("gauge", "ms", "commit lag", "{:.1f} ms".format)] = 0.0
    """Time from a game's arrival to its commit: of the last game, or of the oldest that waits if that is longer."""

    queued: Annotated[int, Figure("gauge", "games", "queued", count)] = 0
    """Games that wait for their commit."""

    trouble: Annotated[str, Figure("alarm", "", line="store: {}", hides_zero=True)] = ""
    """Why nothing can be stored now; empty while all is well."""

    queued_mb: Annotated[float, Figure("gauge", "MB")] = 0.0
    """Megabytes of games that wait for their commit or to be counted; at store.queue_mb workers are not read from."""

    is_holding: bool = False  # play waits for the disk
    rows: int = 0  # examples of the games on disk
    commits: int = 0
    busy_s: float = 0.0  # spent in commits
    repeats: int = 0  # games that came although they were stored already

    def strain(self, strain: Strain) -> Strain:
        return strain._replace(disk_trouble=self.trouble, commit_lag_s=self.commit_lag_ms / 1000)
