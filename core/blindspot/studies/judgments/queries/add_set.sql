INSERT INTO judgment_set (set_id, task, title, variants, manifest, created_at)
VALUES ($set_id, $task, $title, $variants, $manifest, $created_at)
ON CONFLICT DO NOTHING
RETURNING set_id
