"""`python -m scdn.cli`."""

import sys

from scdn.cli import main

sys.exit(main())
