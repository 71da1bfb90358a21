-- Sets, newest first, with how much was answered.
SELECT s.set_id, s.task, s.title, s.variants, s.created_at,
       (SELECT count(*) FROM judgment_item i WHERE i.set_id = s.set_id) AS items,
       (SELECT count(DISTINCT (v.session, v.rater_key)) FROM judgment_vote v WHERE v.set_id = s.set_id) AS raters,
       (SELECT count(*) FROM judgment_vote v WHERE v.set_id = s.set_id) AS votes
FROM judgment_set s
WHERE $task IS NULL OR s.task = $task
ORDER BY s.created_at DESC, s.set_id
