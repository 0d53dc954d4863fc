"""`python -m onepeak`: the command line without its script."""

from onepeak.cli import main

if __name__ == "__main__":
    main()
