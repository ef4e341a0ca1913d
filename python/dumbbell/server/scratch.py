"""Temporary folders of the server for private data: each is removed when its block ends, or the server is killed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final

_KEEPER: Final = 'read -r _; tries=0; until rm -rf -- "$1" || [ $((tries += 1)) -ge 50 ]; do sleep 0.1; done'
"""Waits for the end of its standard input. `rm` fails while a command that was not ended yet writes into the folder."""


@asynccontextmanager
async def scratch(prefix: str) -> AsyncIterator[Path]:
    """A temporary folder that only this user can enter.

    A process of its own removes the folder: its standard input is a pipe whose other end this process alone has, and
    the kernel closes that end whatever ends this process.
    """
    folder = Path(mkdtemp(prefix=prefix))
    try:
        keeper = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            _KEEPER,
            "sh",
            os.fspath(folder),
            cwd="/",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C on the server's terminal does not reach it.
        )
        assert keeper.stdin is not None
        try:
            yield folder
        finally:
            keeper.stdin.close()
            await keeper.wait()
    finally:
        # Nothing is left of it, unless the keeper was not started, or killed.
        rmtree(folder, ignore_errors=True)
