"""``python -m hsiclasso.cli``: the command line."""

from hsiclasso.cli import main

if __name__ == "__main__":
    main()
