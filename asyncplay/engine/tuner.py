"""Learns from the run what a batch costs and which linger pays."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asyncplay.engine.firing import Arm

FIT_BATCHES = 64  # memory of the service time
OUTLIER = 4.0  # a batch this many times slower than predicted counts as only this slow
SURE_AFTER = 8  # batches, before which nothing is an outlier

SETTLE_BATCHES = 4  # after a change of arm, not measured
WINDOW_BATCHES, WINDOW_S = 24, 0.02  # a window is at least this long, both ways

FADE = 0.9  # what each window or trial leaves of the weight of those before it
GUESSED_NOISE, GUESS_WEIGHT = 0.1, 4.0  # of log rows/s of a window, before any was measured
HYSTERESIS = 0.02  # an arm must be better by this much, beyond twice the doubt
FIRST_GAP, LAST_GAP = 2.0, 512.0  # windows between two trials of an arm
BUDGET = 0.005  # share of the time that the trials of one arm may cost
LOST_BATCHES, LOST_SHARE = 4.0, 0.1  # a trial that is further behind is broken off
SHIFT = 0.1  # a jump of log rows/s, beyond the noise, which makes old verdicts doubtful
TRUST_AFTER_TRIAL = 0.3  # windows' worth; a trial may have changed the slots' rhythm
HOPELESS = -3.0  # log rows/s; worse is all the same


@dataclass(slots=True)
class ServiceFit:
    """Least squares of service time = fixed_s + per_row_s * rows, with forgetting."""

    fixed_s: float = 1e-3
    per_row_s: float = 0.0
    weight: float = 0.0  # batches remembered
    mean_rows: float = 0.0
    mean_s: float = 0.0
    rows_rows: float = 0.0  # second moments about the means
    rows_s: float = 0.0

    def observe(self, rows: int, service_s: float) -> None:
        """Count one batch; a hiccup of the machine counts for OUTLIER times the prediction at most."""
        if self.weight > SURE_AFTER:
            service_s = min(service_s, OUTLIER * (self.fixed_s + self.per_row_s * rows))
        self.weight = self.weight * (1 - 1 / FIT_BATCHES) + 1
        share = 1 / self.weight
        off_rows, off_s = rows - self.mean_rows, service_s - self.mean_s
        self.mean_rows += share * off_rows
        self.mean_s += share * off_s
        self.rows_rows = (1 - share) * (self.rows_rows + share * off_rows * off_rows)
        self.rows_s = (1 - share) * (self.rows_s + share * off_rows * off_s)
        # While all batches are alike the slope is unknown: lean towards half fixed, half per row.
        doubt = (0.01 * self.mean_rows) ** 2
        steepest = self.mean_s / self.mean_rows
        slope = (self.rows_s + doubt * steepest / 2) / (self.rows_rows + doubt)
        self.per_row_s = min(max(slope, 0.0), steepest)
        self.fixed_s = self.mean_s - self.per_row_s * self.mean_rows


@dataclass(slots=True)
class ArmRecord:
    """What the trials of one arm have shown."""

    edge: float = 0.0  # log rows/s above the held arm
    weight: float = 0.0  # trials remembered
    gap: float = FIRST_GAP  # windows until the next trial
    due_s: float = -math.inf

    def add(self, edge: float) -> None:
        self.weight = self.weight * FADE + 1
        self.edge += (edge - self.edge) / self.weight


class Base:
    """Log rows/s of the held arm and how much it differs from window to window."""

    def __init__(self) -> None:
        self.log_rate, self.weight = 0.0, 0.0
        self._squares, self._square_weight = GUESS_WEIGHT * GUESSED_NOISE**2, GUESS_WEIGHT

    @property
    def noise(self) -> float:
        """Standard deviation of one window."""
        return math.sqrt(self._squares / self._square_weight)

    def is_shift(self, log_rate: float) -> bool:
        return self.weight > 0 and abs(log_rate - self.log_rate) > SHIFT + 3 * self.noise

    def add(self, log_rate: float) -> None:
        """Count one window."""
        off = log_rate - self.log_rate
        if self.weight > 0:
            self._squares = self._squares * FADE + min(off * off, 1.0) * self.weight / (self.weight + 1)
            self._square_weight = self._square_weight * FADE + 1
        self.weight = self.weight * FADE + 1
        self.log_rate += off / self.weight


class Meter:
    """Rows and time since an arm came into force; its rate leaves the first batches out."""

    def __init__(self) -> None:
        self.restart(0.0)

    def restart(self, now_s: float, settle: int = SETTLE_BATCHES) -> None:
        self.batches, self.rows, self._began_s = 0, 0, now_s
        self._settle, self._early_rows, self._settled_s = settle, 0, now_s

    def add(self, now_s: float, rows: int) -> None:
        self.batches += 1
        self.rows += rows
        if self.batches <= self._settle:
            self._early_rows, self._settled_s = self.rows, now_s

    def is_full(self, now_s: float) -> bool:
        return self.batches >= self._settle + WINDOW_BATCHES and now_s - self._settled_s >= WINDOW_S

    def elapsed_s(self, now_s: float) -> float:
        return max(now_s - self._began_s, 1e-9)

    def log_rate(self, now_s: float) -> float:
        """Of everything as long as there are only first batches."""
        if self.batches <= self._settle:
            return math.log(self.rows / self.elapsed_s(now_s))
        return math.log((self.rows - self._early_rows) / max(now_s - self._settled_s, 1e-9))


@dataclass(frozen=True)
class TunerState:
    """What a checkpoint keeps, ready for JSON. Times are left out: another process has another clock."""

    arm: str
    fixed_s: float
    per_row_s: float
    records: Mapping[str, Sequence[float]]  # edge, weight and gap of each arm


class Tuner:
    """Chooses the arm by measured rows/s.

    The held arm is measured in windows. Now and then another arm gets one window, a trial, and its
    rows/s are compared with those of the windows just before. It is held instead once it is better beyond
    hysteresis and noise. Trials of an arm become rarer while the verdict stays the same, and rarer still the
    more they cost, so that after the first round an arm's trials take half a percent of the throughput;
    one that falls far behind is broken off.
    """

    def __init__(self, *, seed: int, pause_s: float = 0.25, arm: Arm = Arm.NONE) -> None:
        """An idle time beyond ``pause_s`` is the workload's own; it must be longer than the hard cap."""
        self._random, self._pause_s = random.Random(seed), pause_s
        self._held, self._fit, self._meter = arm, ServiceFit(), Meter()
        self.reset()

    @property
    def arm(self) -> Arm:
        """The arm in force now."""
        if self._trial is not None:
            return self._trial
        return Arm.HALF if self._is_parting else self._held

    @property
    def fixed_s(self) -> float:
        """What a batch costs whatever its size; a guess before the first one."""
        return self._fit.fixed_s

    @property
    def per_row_s(self) -> float:
        """What each row adds to a batch."""
        return self._fit.per_row_s

    def reset(self) -> None:
        """Forget the verdicts: workers, model or settings changed. Held arm and fit stay as guesses."""
        self._fit = ServiceFit(self._fit.fixed_s, self._fit.per_row_s)
        self._records = {arm: ArmRecord() for arm in Arm}
        self._trial: Arm | None = None
        self._is_parting = False  # after a trial of ALL: HALF parts the crowd before the held arm goes on
        self._base, self._window_s, self._batch_s = Base(), WINDOW_S, WINDOW_S
        self._last_s = -math.inf

    def state(self) -> TunerState:
        """Return what ``restore`` needs to go on in another process."""
        records = {arm.name: (r.edge, r.weight, r.gap) for arm, r in self._records.items()}
        return TunerState(self._held.name, self.fixed_s, self.per_row_s, records)

    def restore(self, state: TunerState) -> None:
        """Go on from an earlier run; the base is measured anew."""
        self._held, self._fit = Arm[state.arm], ServiceFit(state.fixed_s, state.per_row_s)
        self.reset()
        self._records |= {Arm[name]: ArmRecord(*numbers) for name, numbers in state.records.items()}

    def completed(self, now_s: float, rows: int, service_s: float) -> None:
        """Count one batch that came back, of at least one row; may change the arm.

        ``now_s`` should stand still while the device does other work than this queue's.
        """
        self._fit.observe(rows, service_s)
        idle_s = now_s - self._last_s - service_s
        self._last_s = now_s
        if idle_s > self._pause_s:  # a pause counts for nothing: trials are not due any sooner for it
            self._trial = None
            self._meter.restart(now_s)
            for record in self._records.values() if math.isfinite(idle_s) else ():
                record.due_s += idle_s
            return
        self._meter.add(now_s, rows)
        self._is_parting = self._is_parting and self._meter.batches < SETTLE_BATCHES
        is_full = self._meter.is_full(now_s)
        if self._trial is None:
            if is_full:
                self._close_window(now_s)
            return
        elapsed_s = self._meter.elapsed_s(now_s)
        lost_s = elapsed_s - self._meter.rows / math.exp(self._base.log_rate)
        if is_full or lost_s > LOST_BATCHES * self._batch_s + LOST_SHARE * elapsed_s:
            self._end_trial(self._trial, now_s, lost_s)

    def measured(self, rows: int, service_s: float) -> None:
        """Count one batch that no arm has gathered: it tells what a batch costs and nothing else."""
        self._fit.observe(rows, service_s)

    def _close_window(self, now_s: float) -> None:
        """Count a window of the held arm, and begin a trial if one is due."""
        self._window_s = self._meter.elapsed_s(now_s)
        self._batch_s = self._window_s / self._meter.batches
        log_rate = self._meter.log_rate(now_s)
        if self._base.is_shift(log_rate):
            self._doubt_verdicts(now_s)
        self._base.add(log_rate)
        arm = min((arm for arm in Arm if arm is not self._held), key=lambda arm: self._records[arm].due_s)
        if self._base.weight > 2 and self._records[arm].due_s <= now_s:
            self._trial = arm
            self._meter.restart(now_s)
        else:
            self._meter.restart(now_s, settle=0)

    def _doubt_verdicts(self, now_s: float) -> None:
        """The workload has changed: try the arms sooner, but not those that cost much."""
        self._base.weight = 0.0
        for record in self._records.values():
            record.gap = max(record.gap / 4, FIRST_GAP)
            if record.edge > -SHIFT:
                record.due_s = min(record.due_s, now_s + record.gap * self._window_s)

    def _end_trial(self, arm: Arm, now_s: float, lost_s: float) -> None:
        """Adopt the arm or go back to the held one."""
        record, log_rate = self._records[arm], self._meter.log_rate(now_s)
        record.add(max(log_rate - self._base.log_rate, HOPELESS))
        doubt = self._base.noise * math.sqrt((1 + 1 / self._base.weight) / record.weight)
        is_better = record.edge > HYSTERESIS + 2 * doubt
        # The next trial: soon while the arm looks promising, otherwise twice as late as last time.
        record.gap = FIRST_GAP if record.edge > HYSTERESIS else min(2 * record.gap, LAST_GAP)
        wait_s = max(record.gap * self._window_s, lost_s / BUDGET)
        record.due_s = now_s + wait_s * self._random.uniform(0.75, 1.25)
        self._trial, self._is_parting = None, arm is Arm.ALL and not is_better
        self._base.weight = TRUST_AFTER_TRIAL
        if is_better:  # hold it from now on; the other edges are relative to it
            gain = record.edge
            for other in self._records.values():
                other.edge -= gain
            self._held, self._base.log_rate, self._base.weight = arm, log_rate, 1.0
        self._meter.restart(now_s)


class Lockstep:
    """In place of a tuner: a batch goes when everybody has asked, and nothing depends on the clock."""

    arm, fixed_s, per_row_s = Arm.ALL, math.inf, 0.0

    def completed(self, now_s: float, rows: int, service_s: float) -> None:
        """Nothing is learned."""

    def measured(self, rows: int, service_s: float) -> None:
        """Nothing is learned."""

    def reset(self) -> None:
        """Nothing to forget."""
