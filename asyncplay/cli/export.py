"""``asyncplay export``."""

from pathlib import Path

from asyncplay.cli.kinds import MaybeVersion, run_or_latest


def export(
    run: Path | None = None,
    *,
    onnx: Path | None = None,
    torch: Path | None = None,
    policy: Path | None = None,
    version: MaybeVersion = None,
    force: bool = False,
) -> int:
    """Write what a run has trained for other programs; docs/use.md describes the files.

    Parameters
    ----------
    run
        The folder of the run; without it, the latest in runs/.
    onnx
        The file for a network in ONNX, which onnxruntime runs without asyncplay; its metadata say what it is of.
    torch
        The file for weights as safetensors; a description as JSON comes beside it.
    policy
        The file for the policy of a table, an NPZ: infosets, actions, probabilities.
    version
        Which weights; without it, the latest. Of a table a checkpoint, of a blueprint of hold'em iterations.
    force
        Replace files that exist.
    """
    from asyncplay.cli.output import say
    from asyncplay.trained.export import export as write

    for path in write(run_or_latest(run), onnx=onnx, torch=torch, policy=policy, version=version, force=force):
        say(f"wrote {path}")
    return 0
