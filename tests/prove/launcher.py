"""Start ``news-digest run`` by forking a process that has imported everything: ``python launcher.py``, orders on stdin.

Hundreds of rounds of several processes each spend their time on importing otherwise. A run that is started so is a process
like any other from its first line on: its own id, descriptors, connections, death.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import news_digest


def import_everything() -> None:
    """Import all modules, so that no run has to."""
    for module in pkgutil.walk_packages(news_digest.__path__, "news_digest."):
        if not module.name.endswith(".__main__"):  # Importing that runs it.
            with suppress(ImportError):
                importlib.import_module(module.name)


def run(order: dict[str, Any]) -> None:
    """Be the run: never returns. The exit code goes to a file, because this process's parent does not wait."""
    from news_digest.cli.main import main  # noqa: PLC0415 - imported by then

    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["news-digest", *order["arguments"]]
    try:
        code = main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    Path(order["code"]).write_text(str(code), encoding="ascii")
    os._exit(0)


def serve() -> None:
    """Fork for each order, and answer with the process's id."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run(json.loads(line))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    import_everything()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    serve()
