-- Sets, newest first, with how much was answered.
SELECT s.set_id, s.task, s.title, s.variants, s.created_at,
       (SELECT count(*) FROM judgement_item i WHERE i.set_id = s.set_id) AS items,
       (SELECT count(DISTINCT (v.session, v.rater_key)) FROM judgement_vote v WHERE v.set_id = s.set_id) AS raters,
       (SELECT count(*) FROM judgement_vote v WHERE v.set_id = s.set_id) AS votes
FROM judgement_set s
WHERE $task IS NULL OR s.task = $task
ORDER BY s.created_at DESC, s.set_id
