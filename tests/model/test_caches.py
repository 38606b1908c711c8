"""What torch leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from asyncplay import model

TRAIN = """
import torch
from asyncplay.model import learner
net = torch.nn.Linear(4, 3)
optimizer = torch.optim.AdamW(net.parameters())
net(torch.zeros(2, 4)).sum().backward()
optimizer.step()
"""


@pytest.mark.process
@pytest.mark.slow
def test_training_makes_no_folder_of_a_known_name_in_the_temporary_directory(tmp_path):
    """Another user could have made it first, as a file or full of files."""
    package = Path(model.__file__).parent
    before = {path for path in package.iterdir() if path.name != "__pycache__"}
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(package.parent.parent)}
    environment.pop("TORCHINDUCTOR_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", TRAIN], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []
    assert {path for path in package.iterdir() if path.name != "__pycache__"} == before
