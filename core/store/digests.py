"""Whether what was computed from the whole store still holds."""

from __future__ import annotations

from core.store.db import Database, query


def store_digest(database: Database) -> str:
    """Tells, at little cost, whether the finished runs, the judgements and who may see them are still the same; "" of
    an empty store."""
    if not database.path.exists():
        return ""
    with database.cursor() as cursor:
        rows = cursor.execute(query("store_digest")).fetchall()
    return "-".join(str(part) for part in rows[0])
