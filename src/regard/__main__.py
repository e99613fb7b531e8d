"""`python -m regard`: the command, for torchrun and for environments where it is not on the path."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
        del sys.path[0]  # `python -m` put the current folder there, where any file could stand in for a module

    from regard.cli.main import main

    main()
