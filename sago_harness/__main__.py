"""``python -m sago_harness`` is ``sago``."""

import sys

from sago_harness.cli.main import main

sys.exit(main())
