"""A Dask cluster of processes here that no other user of the machine reaches.

Whoever reaches a scheduler or a worker can have it run any code. Dask's own local cluster listens on ports of the
loopback device, which are open to every user, and encrypts only with a package that need not be there. Here all
processes talk over Unix sockets in a folder that only its owner may enter, so that the kernel turns strangers away, and
none listens on a port. What Dask writes beside (its scratch space) lies in the same folder.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.comm.core import BaseListener, CommClosedError, Connector
from distributed.comm.registry import Backend, backends
from distributed.comm.tcp import MAX_BUFFER_SIZE, TCP, convert_stream_closed_error
from distributed.system import MEMORY_LIMIT
from distributed.utils import silence_logging_cmgr
from tornado.iostream import IOStream, StreamClosedError
from tornado.netutil import add_accept_handler, bind_unix_socket

from mapper.workloads.process.temporary import temporary_folder

SCHEME = "private"
LONGEST_BASE = 60
"""Letters of the folder for temporary files at the most: the path of a socket has room for about a hundred."""
BACKLOG = 2048
_numbers = itertools.count()


class _Socket(socket.socket):
    """A Unix socket of which Dask may ask what only TCP can do."""

    def setsockopt(self, level: int, *option: Any) -> None:
        if level == socket.SOL_SOCKET:
            super().setsockopt(level, *option)


def _stream(connection: socket.socket) -> IOStream:
    own = _Socket(connection.family, connection.type, connection.proto, connection.detach())
    own.setblocking(False)
    return IOStream(own, max_buffer_size=int(MAX_BUFFER_SIZE))


class _Connector(Connector):
    async def connect(self, address: str, deserialize: bool = True, **options: Any) -> TCP:
        stream = _stream(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            await stream.connect(address)  # a path, for a Unix socket
        except StreamClosedError as error:
            convert_stream_closed_error(self, error)  # type: ignore[no-untyped-call]
        # Who connects has no address of its own.
        return TCP(stream, f"{SCHEME}://", f"{SCHEME}://{address}", deserialize)


class _Listener(BaseListener):
    prefix = f"{SCHEME}://"

    def __init__(self, folder: str, handle: Callable[[TCP], Any], deserialize: bool) -> None:
        super().__init__()
        self._path = f"{folder}/{os.getpid()}.{next(_numbers)}"
        self._handle, self._deserialize = handle, deserialize
        self._stop: Callable[[], None] | None = None

    async def start(self) -> None:
        from tornado.ioloop import IOLoop

        listening = bind_unix_socket(self._path, mode=0o600, backlog=BACKLOG)
        loop = IOLoop.current()

        def accepted(connection: socket.socket, peer: Any) -> None:
            loop.add_callback(self._serve, connection)

        remove = add_accept_handler(listening, accepted)

        def stop() -> None:
            remove()
            listening.close()
            with suppress(OSError):
                Path(self._path).unlink()

        self._stop = stop

    async def _serve(self, connection: socket.socket) -> None:
        comm = TCP(_stream(connection), self.listen_address, f"{SCHEME}://", self._deserialize)
        if self._stop is None:
            comm.abort()
            return
        try:
            await self.on_connection(comm)
        except CommClosedError:
            return
        await self._handle(comm)

    def stop(self) -> None:
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()

    @property
    def listen_address(self) -> str:
        return f"{SCHEME}://{self._path}"

    @property
    def contact_address(self) -> str:
        return self.listen_address


class _Backend(Backend):
    """Addresses ``private://PATH`` of sockets; to listen, the folder is given and a port, which says nothing."""

    def get_connector(self) -> Connector:
        return _Connector()

    def get_listener(self, loc: str, handle_comm: Any, deserialize: bool, **options: Any) -> BaseListener:
        return _Listener(loc.rpartition(":")[0], handle_comm, deserialize)

    def get_address_host(self, loc: str) -> str:
        return "localhost"

    def resolve_address(self, loc: str) -> str:
        return loc

    def get_local_address_for(self, loc: str) -> str:
        return str(Path(loc).parent)


# In the processes of workers too: they import this module with the class below.
backends[SCHEME] = _Backend()


class PrivateScheduler(Scheduler):
    """A scheduler without a page in the web browser."""

    def start_http_server(self, *options: Any, **named: Any) -> None:
        """None is started."""


class PrivateWorker(Worker):
    """A worker without a page in the web browser. It is deaf to Ctrl-C and to the end of the terminal, of which
    workers are told too: the process that began them ends them."""

    def __init__(self, *options: Any, **named: Any) -> None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        super().__init__(*options, **named)

    def start_http_server(self, *options: Any, **named: Any) -> None:
        """None is started."""


@contextmanager
def private_cluster(workers: int) -> Iterator[SpecCluster]:
    """A cluster of so many processes, each with one thread.

    Raises: RuntimeError if a process does not start.
    """
    # What goes wrong is said in a line by whoever asked for the cluster.
    with _private_folder() as folder, silence_logging_cmgr(logging.CRITICAL):
        worker = {
            "host": folder,
            "protocol": SCHEME,
            "nthreads": 1,
            "memory_limit": int(MEMORY_LIMIT / workers),
            "local_directory": folder,
            "worker_class": PrivateWorker,
            "silence_logs": logging.CRITICAL,
        }
        # Each makes a folder of its own: in this one, or it stands beside it when a signal ends the command.
        scheduler = {"host": folder, "protocol": SCHEME, "dashboard": False, "local_directory": folder}
        cluster = SpecCluster(  # type: ignore[no-untyped-call]
            scheduler={"cls": PrivateScheduler, "options": scheduler},
            name="mapper",
        )
        try:
            # Now that there is somebody to end them.
            cluster.worker_spec.update(
                (number, {"cls": Nanny, "options": worker}) for number in range(workers)
            )
            cluster.sync(cluster._correct_state)  # type: ignore[no-untyped-call]
            yield cluster
        finally:
            _end(cluster)


def _end(cluster: SpecCluster) -> None:
    """End the processes at once, whatever they do: who no longer waits for answers has them all."""
    for nanny in list(cluster._created):
        # Or it would begin the worker anew.
        nanny.close_gracefully()
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)
    cluster.close()


@contextmanager
def _private_folder() -> Iterator[str]:
    """A folder that only this user may enter."""
    base = Path(tempfile.gettempdir())
    if len(str(base)) > LONGEST_BASE:
        base = Path("/tmp")
    with temporary_folder(base) as folder:
        yield str(folder)
