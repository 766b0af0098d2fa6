-- Rows of the audit have the address that their transaction sets, if it sets one.
ALTER TABLE memoir.audit ALTER COLUMN address SET DEFAULT coalesce(current_setting('memoir.address', true), '');

-- As before, and a generation may not be accepted either that may have a line which a member has removed since.
CREATE OR REPLACE FUNCTION memoir.waiting(project bigint) RETURNS TABLE (published bigint, number bigint, archive bytea)
STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT live.number, g.number, g.archive
	FROM (SELECT coalesce(max(l.number), 0) AS number FROM memoir.generation l
		WHERE l.project = waiting.project AND l.state = 'published') live
	LEFT JOIN memoir.generation g ON g.project = waiting.project AND g.state = 'waiting'
		AND g.archive IS NOT NULL AND g.number > live.number
		AND NOT EXISTS (SELECT FROM (SELECT t.seq FROM memoir.tombstone t WHERE t.project = waiting.project
				UNION ALL SELECT e.seq FROM memoir.edit e WHERE e.project = waiting.project AND e.after = '') w
			WHERE w.seq > g.seq AND (w.seq > (SELECT p.consumed FROM memoir.project p WHERE p.id = waiting.project)
				OR EXISTS (SELECT FROM memoir.generation n
					WHERE n.project = waiting.project AND n.number > g.number AND n.seq >= w.seq)))
	ORDER BY g.number DESC;
END $$;

-- What metrics and `memoir-hub status` say of all organisations together. As memoir.due it runs as the owner, so the
-- serving role learns these numbers and no more. A job that has failed so often as failures says waits for a day.
CREATE FUNCTION memoir.measures(failures integer) RETURNS TABLE (name text, labels text[], value double precision)
STABLE SECURITY DEFINER SET search_path = pg_catalog LANGUAGE sql AS $$
	SELECT 'jobs', ARRAY[j.kind, j.state], count(*)::double precision
	FROM (SELECT kind, CASE WHEN state = 'running' THEN 'running'
			WHEN state = 'discarded' OR state = 'scheduled' AND cardinality(errors) >= failures THEN 'failed'
			ELSE 'waiting' END AS state
		FROM river.river_job WHERE state NOT IN ('completed', 'cancelled')) j
	GROUP BY j.kind, j.state
	UNION ALL SELECT 'tokens_ending', ARRAY[CASE WHEN t.shared THEN 'containers' ELSE 'machine' END], count(*)
	FROM memoir.token t
	WHERE t.revoked IS NULL AND t.expires BETWEEN now() - interval '14 days' AND now() + interval '14 days' GROUP BY t.shared
	UNION ALL SELECT 'generations_waiting', '{}', count(*)
	FROM memoir.project p JOIN memoir.organisation o ON o.id = p.organisation AND o.review
	CROSS JOIN LATERAL (SELECT g.state FROM memoir.generation g WHERE g.project = p.id
		ORDER BY g.number DESC LIMIT 1) newest
	WHERE newest.state = 'waiting'
	UNION ALL SELECT 'spent_ratio', ARRAY[v.of], max(v.spent / v.most)
	FROM memoir.organisation o
	CROSS JOIN LATERAL (SELECT coalesce(sum(l.tokens), 0) AS tokens, coalesce(sum(l.cost), 0) AS cost FROM memoir.ledger l
		WHERE l.organisation = o.id AND l.day = (now() AT TIME ZONE 'UTC')::date) s
	CROSS JOIN LATERAL (VALUES ('tokens', s.tokens::double precision, o.daily_tokens::double precision),
		('cost', s.cost, o.daily_cost)) v (of, spent, most)
	WHERE v.most > 0 GROUP BY v.of
$$;

-- An admin sees what others have removed of a generation that waits, so that nobody accepts it.
CREATE POLICY review ON memoir.edit FOR SELECT USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role = 'admin')
		OR project IN (SELECT project FROM memoir.access WHERE role = 'admin')));
