"""``broker.conf`` held against Java: ``java.util.Properties`` of a JDK, and ``MixAll`` of real releases."""
