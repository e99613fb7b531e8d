"""Makes the modules in benchmarks/ importable, as they are for a script that runs there."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # last: test folders have names of scripts
