"""The command as `python -m neuroviz`, where the folder of commands is not on the
path."""

from neuroviz.command import main

if __name__ == "__main__":
    main()
