"""Files read and written in one way, folders that go with a command, and times in words, for every package."""
