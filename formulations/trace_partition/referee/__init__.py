"""The referee of partitions: it counts the words of buffers by itself."""
