"""A plugin of pytest: with `--srcdiff-verify` every derivative of a session is verified.

It sets the variable of the environment that asks for it, and puts that back at the end; what could
not be verified stands in the summary of warnings, also where warnings are errors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from srcdiff.driver.options import VERIFY

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("srcdiff").addoption(
        "--srcdiff-verify",
        action="store_true",
        help="hold every derivative of srcdiff against its function at the first call, "
        f"as {VERIFY}=first does",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Switch it on for the session, where it is asked for."""
    if not config.getoption("srcdiff_verify"):
        return
    before = os.environ.get(VERIFY)
    os.environ[VERIFY] = "first"
    config.add_cleanup(lambda: _put_back(before))
    config.addinivalue_line("filterwarnings", "default::srcdiff.errors.UnverifiedWarning")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say that it is on."""
    return ["srcdiff: derivatives are verified"] if config.getoption("srcdiff_verify") else []


def _put_back(before: str | None) -> None:
    """Make the variable what it was."""
    if before is None:
        del os.environ[VERIFY]
    else:
        os.environ[VERIFY] = before
