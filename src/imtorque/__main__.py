"""Run the command line with `python -m imtorque`."""

from imtorque.cli import main

if __name__ == "__main__":
    main()
