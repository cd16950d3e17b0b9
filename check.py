"""Run every check of the project: lint, format, types, tests. Stops at the first failure."""

import subprocess
import sys

STEPS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("pytest", "-n", "auto", "--dist", "worksteal", "--cov", "--cov-fail-under=98", "-q"),
)


def main() -> int:
    """Run the steps in order and return the exit code of the first that fails."""
    for tool, *arguments in STEPS:
        print("==>", tool, *arguments, flush=True)  # noqa: T201
        code = subprocess.run([sys.executable, "-m", tool, *arguments], check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
