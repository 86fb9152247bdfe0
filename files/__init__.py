"""What every package needs: the one door for whatever is read, folders that go with a command, and times in words."""
