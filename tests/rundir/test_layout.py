"""The names in a run folder."""

from asyncplay.monitor import address
from asyncplay.rundir import layout


def test_the_control_socket_has_one_name():
    """The monitor, which may not import the room of run folders, declares it a second time."""
    assert address.NAME == layout.SOCKET
