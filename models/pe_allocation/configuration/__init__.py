"""Programs, streams and buffers with which an array is configured."""
