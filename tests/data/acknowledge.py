"""Run under strace: games come one after another, and each acknowledgement is a write to the file ``acks``.

python acknowledge.py FOLDER LEVEL GAMES
"""

import asyncio
import os
import sys
from pathlib import Path

from keeping import AT_ONCE, Rig, acknowledged, until

from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Ack, Message


class Loud:
    """A link whose acknowledgements can be seen from outside."""

    def __init__(self, path: Path) -> None:
        self.told: list[Message] = []
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)

    def send(self, frame: bytes) -> None:
        message = decode(frame[HEADER.size :])
        if isinstance(message, Ack):
            os.write(self._descriptor, frame)
        self.told.append(message)


async def main(folder: Path, level: str, n_games: int) -> None:
    rig = Rig(folder, AT_ONCE, durability=level)
    async with rig.recorder:
        member = rig.hire(link=Loud(folder / "acks"))
        for unit in range(n_games):
            rig.finish(member, unit)
            await until(lambda wanted=unit: wanted in acknowledged(member))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
