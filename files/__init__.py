"""What every package needs: files read and written in one way, folders that go with a command, and times in words."""
