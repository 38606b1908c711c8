"""Published weights as files of a run folder."""

import pytest

from asyncplay.errors import AsyncplayError
from asyncplay.rundir import weights


def refuse(data: bytes) -> bytes:
    raise AsyncplayError(f"{len(data)} bytes too many")


def test_versions_come_back_oldest_first_with_their_bytes(tmp_path):
    for version in (12, 3):
        weights.save(tmp_path, version, b"weights %d" % version, b"net %d" % version)
    (tmp_path / "weights" / "latest.safetensors").touch()
    assert weights.versions(tmp_path) == [3, 12]
    assert weights.load(tmp_path, 12, bytes.decode) == "weights 12"
    assert (tmp_path / "net.json").read_bytes() == b"net 3"
    assert len(list((tmp_path / "weights").iterdir())) == 3


def test_a_version_that_is_missing_or_damaged_is_named(tmp_path):
    with pytest.raises(AsyncplayError, match="has no weights of version 4; it has none"):
        weights.load(tmp_path, 4, bytes.decode)
    weights.save(tmp_path, 3, b"weights", b"net")
    with pytest.raises(AsyncplayError, match="has no weights of version 4; it has 3"):
        weights.load(tmp_path, 4, bytes.decode)
    with pytest.raises(AsyncplayError, match=r"000003\.safetensors is damaged: 7 bytes too many; --version"):
        weights.load(tmp_path, 3, refuse)
