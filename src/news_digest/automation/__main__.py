"""``python -m news_digest.automation [FOLDER]``; ``--check`` only tries whether all that a run needs is there."""

from __future__ import annotations

import sys
from importlib import import_module

from news_digest.automation import main

NEEDED = ("automation.wiring", "run", "http", "feeds.read", "stores.kv", "stores.file", "writers.openhands", "render")

if sys.argv[1:] == ["--check"]:
    for name in NEEDED:
        import_module(f"news_digest.{name}")
    sys.exit(0)
sys.exit(main(sys.argv[1:]))
