"""The gate for releases: changes of the classes and methods that rules cite, each with its evidence or without."""
