"""Cost of an executor's tasks."""
