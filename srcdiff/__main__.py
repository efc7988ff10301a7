"""`python -m srcdiff`."""

import sys

from srcdiff.cli import main

if __name__ == "__main__":
    sys.exit(main())
