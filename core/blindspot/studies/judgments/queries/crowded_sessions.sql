-- Names of sessions that end to make room: all whose last vote, or else their opening, was before $expired; and of the
-- others that were opened before $settled so many that at most $kept remain, those with the fewest votes first.
WITH used AS (
    SELECT s.name, s.created_at, count(v.voted_at) AS votes,
           coalesce(max(v.voted_at), s.created_at) AS last_at
    FROM judgment_session s
    LEFT JOIN judgment_vote v ON v.session = s.name
    GROUP BY s.name, s.created_at
), ranked AS (
    SELECT *, row_number() OVER (ORDER BY last_at < $expired, created_at < $settled, votes DESC, last_at DESC) AS place
    FROM used
)
SELECT name FROM ranked
WHERE last_at < $expired OR (created_at < $settled AND place > $kept)
