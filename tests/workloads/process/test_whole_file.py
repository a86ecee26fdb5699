"""What stands at a path decides how it is written: files are replaced whole, everything else is written to."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.process.whole_file import check_writable, is_replaced, open_stream, write_whole

NOBODY = 65534


@pytest.fixture
def received(tmp_path: Path) -> Iterator[tuple[Path, list[bytes]]]:
    """A named pipe, and what comes out of it."""
    path, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    yield path, found
    reader.join(10)
    assert not reader.is_alive()


@pytest.fixture
def nobody() -> Iterator[None]:
    """Without the rights of root, whom nothing is forbidden."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
        yield
        os.seteuid(0)
    else:
        yield


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A folder that nobody may write to, with a file that everybody may."""
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "old").write_text("old")
    (folder / "old").chmod(0o666)
    folder.chmod(0o555)
    for above in (tmp_path, *tmp_path.parents[:3]):
        if above.stat().st_uid == os.getuid():
            above.chmod(above.stat().st_mode | 0o055)
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_new_file_has_the_rights_of_the_users_mask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert names(tmp_path) == {"new"}


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o666])
def test_a_file_is_replaced_and_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    reader = path.open()
    write_whole(path, b"new")
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == mode
    assert reader.read() == "old", "who reads the old file goes on reading it"
    assert names(tmp_path) == {"file"}


def test_text_is_utf_8(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", "λ")
    assert (tmp_path / "file").read_bytes() == "λ".encode()


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "target"
    target.write_text("old")
    target.chmod(0o600)
    (tmp_path / "second").symlink_to("there/target")
    (tmp_path / "first").symlink_to("second")
    write_whole(tmp_path / "first", "new")
    assert target.read_text() == "new" and not target.is_symlink()
    assert (tmp_path / "first").readlink() == Path("second")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(tmp_path / "there") == {"target"}


def test_a_link_that_leads_nowhere_yet_leads_to_the_file_afterwards(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    check_writable(tmp_path / "link", "-o")
    assert is_replaced(tmp_path / "link")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


def test_a_pipe_stays_a_pipe_and_gets_the_document(received: tuple[Path, list[bytes]]) -> None:
    path, found = received
    check_writable(path, "-o")
    assert not is_replaced(path)
    write_whole(path, "x" * 200_000)
    assert stat.S_ISFIFO(path.lstat().st_mode)
    while not found:
        pass
    assert found == [b"x" * 200_000]


def test_a_socket_gets_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    path = Path("socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        listening.listen()
        write_whole(path, "document")
        connection, _ = listening.accept()
        with connection:
            assert connection.recv(100) == b"document"
    assert stat.S_ISSOCK(path.lstat().st_mode)


@pytest.fixture
def null(tmp_path: Path) -> Path:
    """A null device that may be put at risk: not the machine's, if this is root."""
    if os.geteuid() != 0:
        return Path("/dev/null")
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.open("w").close()
    except OSError:  # a root that may make no devices
        return Path(os.ttyname(os.openpty()[1]))
    return path


def test_the_null_device_stays_a_device(null: Path) -> None:
    before = null.lstat()
    assert not is_replaced(null)
    check_writable(null, "-o")
    write_whole(null, "document")
    after = null.lstat()
    assert (after.st_mode, after.st_rdev, after.st_ino) == (before.st_mode, before.st_rdev, before.st_ino)
    assert stat.S_ISCHR(after.st_mode)


def test_stdout_gets_the_document_after_what_was_printed(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from mapper.workloads.process.whole_file import is_stdout, open_stream, write_whole\n"
        "print('before')\n"
        "for name in ('/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'):\n"
        "    assert is_stdout(Path(name))\n"
        "    write_whole(Path(name), 'document\\n')\n"
        "with open_stream(Path('/dev/stdout'), '--log') as log: log.write('line\\n')\n"
        "print('after')\n"
    )
    wanted = "before\n" + 3 * "document\n" + "line\nafter\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == wanted
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == wanted, "as a file it is neither cut nor replaced"
    assert names(tmp_path) == {"out"}


@pytest.mark.parametrize("name", [".", "missing/file", "file/below", "loop"])
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    refused: list[Callable[[Path], None]] = [
        lambda path: check_writable(path, "-o"),
        lambda path: write_whole(path, "x", "-o"),
    ]
    for call in refused:
        with pytest.raises(InputError) as caught:
            call(tmp_path / name)
        assert str(caught.value).startswith("-o: ") and "cannot be written" in str(caught.value)
    assert names(tmp_path) == {"file", "loop"}


def test_a_folder_that_may_not_be_written_to_is_one_line(locked: Path, nobody: None) -> None:
    for name in ("new", "old"):
        with pytest.raises(InputError, match="may not be written to"):
            check_writable(locked / name, "-o")
        with pytest.raises(InputError, match="Permission denied"):
            write_whole(locked / name, "x", "-o")
    assert names(locked) == {"old"} and (locked / "old").read_text() == "old"


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, locked: Path, nobody: None) -> None:
    # Its folder would let it be replaced.
    folder = Path("/tmp") if os.geteuid() != os.getuid() else tmp_path
    path = folder / f"mapper-test-{os.getpid()}"
    path.write_text("old")
    try:
        path.chmod(0o444)
        with pytest.raises(InputError, match="Permission denied"):
            check_writable(path, "-o")
        with pytest.raises(InputError, match="Permission denied"):
            write_whole(path, "new", "-o")
        assert path.read_text() == "old"
    finally:
        path.unlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
def test_a_full_device_is_one_line() -> None:
    check_writable(Path("/dev/full"), "-o")
    with pytest.raises(InputError, match=r"^-o: /dev/full: cannot be written \(No space left"):
        write_whole(Path("/dev/full"), "x", "-o")
    with pytest.raises(OSError, match="No space"), open_stream(Path("/dev/full"), "--log") as log:
        log.write("x")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_disk_that_is_full_costs_the_new_document_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_whole(path, "new")
    assert path.read_text() == "old" and names(tmp_path) == {"file"}


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from mapper.workloads.process import whole_file\n"
        "whole_file.write_all = lambda descriptor, data: os.kill(os.getpid(), signal.SIGKILL)\n"
        "whole_file.write_whole(Path(sys.argv[1]), 'new')\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "file"], check=False)
    assert len(names(tmp_path)) == 1 and "file" not in names(tmp_path)
    write_whole(tmp_path / "file", "new")
    assert names(tmp_path) == {"file"}
