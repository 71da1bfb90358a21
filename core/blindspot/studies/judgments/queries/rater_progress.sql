-- Per rater of a set in a session, how much is answered; who answered last comes first.
SELECT first(rater ORDER BY voted_at, item_no), count(*), count(*) FILTER (option_no IS NULL), max(voted_at)
FROM judgment_vote
WHERE set_id = $set_id AND session = $session
GROUP BY rater_key
ORDER BY max(voted_at) DESC, rater_key
