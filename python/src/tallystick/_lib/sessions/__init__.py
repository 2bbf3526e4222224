"""Sessions: receipts of an agent's tool calls, in order (spec/sessions.md)."""
