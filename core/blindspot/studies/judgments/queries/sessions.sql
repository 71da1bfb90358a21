-- Sessions, newest first, each with its sets.
SELECT s.name, s.revealed, s.created_at, map_from_entries(list((t.task, t.set_id) ORDER BY t.task))
FROM judgment_session s
JOIN judgment_session_set t ON t.name = s.name
WHERE $name IS NULL OR s.name = $name
GROUP BY ALL
ORDER BY s.created_at DESC, s.name
