"""halfcheck's command line: one thin module a command. Nothing in the project imports this package."""

__version__ = "0.2.0"
