"""JSON Schemas of the documents that are read and written."""

from mapper.schema.document import schema, schema_names

__all__ = ["schema", "schema_names"]
