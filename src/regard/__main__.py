"""`python -m regard`: the command, for torchrun and for environments where it is not on the path."""

if __name__ == "__main__":
    from regard.cli.main import main

    main()
