-- Sessions that are older than a moment and in which nobody has voted.
DELETE FROM judgement_session
WHERE created_at < $before AND name NOT IN (SELECT session FROM judgement_vote)
