"""Control of a broker on the wire by a test: orders, the HTTP port for them, and a Python object that gives them."""
