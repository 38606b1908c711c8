"""The speed of each backend on this machine, measured on the network of the default run."""

from asyncplay.config.sections import Config
from asyncplay.doctor.finding import Finding
from asyncplay.methods.selfplay import network
from asyncplay.methods.sizes import net_shape
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import BackendChoice, Candidate
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import snapshot
from asyncplay.payloads import Positions

CURVE_ROWS = (16, 64, 256, 1024, 4096)
FLIGHT_ROWS = 1024


def look_at_devices(config: Config) -> list[Finding]:
    """Measure every backend; of an accelerator also batch sizes, copies and a second batch in flight."""
    game = network.load_game(config)
    shape = net_shape(config, game)
    weights = snapshot(build_net(shape, config.train.seed))
    choice = network.choose_backend(config, shape, weights, game)
    sample, integers = network.sample_positions(game), Candidate("onnx-int8", device.usable_cores())

    def open_integers(option: Candidate) -> Backend:
        return device.open_backend(option.backend, shape, weights, 0, option.threads, sample=sample)

    choice = choice.with_figures(device.choose([integers], open_integers, sample, budget_s=network.FIGURE_S).figures)
    found = [judge_choice(choice, f"{shape.kind} {shape.blocks} x {shape.width} of {game.name}")]
    for option in dict.fromkeys(figure.candidate for figure in choice.figures):
        if option.backend not in device.ON_CPU:
            backend = network.open_model(config, shape, weights, 0, option)
            found += look_at_accelerator(option.backend, backend, sample)
    return found


def judge_choice(choice: BackendChoice, net: str) -> Finding:
    figures = {str(figure.candidate): round(figure.rows_per_s) for figure in reversed(choice.figures)}  # the best last
    return Finding("devices", "fine", f"{net}: {'; '.join(choice.report())}", figures=figures)


def look_at_accelerator(name: str, backend: Backend, sample: Positions) -> list[Finding]:
    """Measure rows/s by batch size and by batches in flight; of CUDA also the speed of copies."""
    curve = {rows: device.rows_per_s(backend, device.resize(sample, rows), backend.depth) for rows in CURVE_ROWS}
    one, two = (device.rows_per_s(backend, device.resize(sample, FLIGHT_ROWS), depth) for depth in (1, 2))
    figures = {str(rows): round(speed) for rows, speed in curve.items()}
    words = ", ".join(f"{speed:,.0f} rows/s at {rows}" for rows, speed in curve.items())
    found = [Finding(f"{name} batches", "fine", words, figures=figures)]
    words = f"two batches in flight {two:,.0f} rows/s, one {one:,.0f}"
    found.append(Finding(f"{name} in flight", "fine", words, figures={"one": round(one), "two": round(two)}))
    if name == "cuda":
        from asyncplay.model.copies import copy_gb_per_s

        found.append(judge_copies(copy_gb_per_s(is_pinned=True), copy_gb_per_s(is_pinned=False)))
    return found


def judge_copies(pinned: float, pageable: float) -> Finding:
    """Both in GB/s."""
    figures, words = {"pinned": pinned, "pageable": pageable}, f"pinned {pinned:.1f} GB/s, pageable {pageable:.1f}"
    if pinned < pageable:
        return Finding("cuda copies", "slow", words, "page-locked memory is scarce: ulimit -l unlimited", figures)
    return Finding("cuda copies", "fine", words, figures=figures)
