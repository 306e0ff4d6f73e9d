"""The package's public names, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sago_harness


def test_every_public_name_is_there() -> None:
    assert set(sago_harness.__all__) == set(sago_harness._MODULES)
    for name in sago_harness.__all__:
        assert getattr(sago_harness, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sago_harness.nothing


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, sago_harness;"
        "heavy = {'torch', 'numpy', 'lm_eval', 'transformers', 'datasets'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
