"""The client for asyncio, from which ``scripts/unasync.py`` writes the blocking one."""
