"""How often a question comes back to a module that it has left, on its way from the command line to a search."""
