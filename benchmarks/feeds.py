"""Reading and fetching feeds, measured in one run: ``feeds_parse.py`` with what is given here, then ``feeds_fetch.py``.

::

    python benchmarks/feeds.py DIR [--reference PATH] [--rounds N]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run both, the second only where the first ended well."""
    here = Path(__file__).parent
    for script, arguments in (("feeds_parse.py", sys.argv[1:]), ("feeds_fetch.py", [])):
        print(f"-- {script}", flush=True)
        subprocess.run([sys.executable, str(here / script), *arguments], check=True)


if __name__ == "__main__":
    main()
