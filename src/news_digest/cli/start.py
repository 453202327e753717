"""Where the process starts: ``run`` on a day that is over ends here, everything else goes to the whole command line.

What such a run imports is the time that it takes (``benchmarks/cold_start.py``): the configuration and the state
document as JSON, no records, no ports, no option parser.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from news_digest.errors import ConfigError

__all__ = ["main"]

_QUIET: Final = ("-q", "--quiet")
_CONFIG: Final = "--config"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for what a user can cause."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    day = time.strftime("%Y-%m-%d", time.gmtime())
    if not _is_over(given, day):
        from news_digest.cli.main import main as whole  # noqa: PLC0415 - what this module is for

        return whole(given)
    if not any(each in _QUIET for each in given):
        sys.stderr.write(f"{day}: done - the day is done (completed); no feed was read\n")
    return 0


def _is_over(given: Sequence[str], day: str) -> bool:
    """Return whether this is a plain ``run`` on a day that is over; False for a mistake: the whole run names it."""
    if not given or given[0] != "run":
        return False
    rest = [each for each in given[1:] if each not in _QUIET]
    if rest and not (rest[0] == _CONFIG and len(rest) == len((_CONFIG, "FILE"))):
        return False
    from news_digest.cli.settings import load_settings  # noqa: PLC0415 - only for a run
    from news_digest.config import secret_headers  # noqa: PLC0415
    from news_digest.quiet import is_over  # noqa: PLC0415

    try:
        settings = load_settings(os.environ, Path.cwd(), rest[1] if rest else None)
        secret_headers(settings.config, settings.environment)
        if settings.config.text("store") != "file":
            return False
        document = json.loads(settings.places.state.read_bytes())
    except (ConfigError, OSError, ValueError, RecursionError):
        return False
    return is_over(document, day)
