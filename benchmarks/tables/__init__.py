"""What the tables of a very large run are like: files, manifest, the driver's memory, seconds a phase."""
