"""Fail where a line or branch of the core was never taken: ``python -m tests.core_coverage``, after a run with --cov."""

from __future__ import annotations

import io
import sys

from coverage import Coverage
from tests.layers import core


def main() -> int:
    """Print what is not covered and return the exit code."""
    coverage = Coverage(data_file=".coverage")
    coverage.load()
    table = io.StringIO()
    share = coverage.report(
        include=[str(module.file) for module in core()],
        skip_covered=True,
        show_missing=True,
        file=table,
        precision=2,
    )
    sys.stdout.write(table.getvalue())
    if share < 100:
        sys.stderr.write(f"the core is covered to {share:.2f} % by branch, not to 100 %\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
