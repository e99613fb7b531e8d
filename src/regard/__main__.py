"""`python -m regard`: the command, for torchrun and for where it is not on the path."""

from regard.cli.main import main

if __name__ == "__main__":
    main()
