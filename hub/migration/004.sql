-- Members with the role admin accept generations that wait.

-- The generations that whom a token (its hash) belongs to may accept, the newest first; a row without a number if none
-- waits, and no row for who is no admin of the project. published is the number of the one that machines get. One that
-- may have a statement that was withdrawn since is not among them: the next one is without it.
CREATE FUNCTION memoir.waiting(token bytea, key text) RETURNS TABLE (organisation bigint, project bigint,
	published bigint, number bigint, archive bytea, model text, made timestamptz) STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT t.organisation, t.project, live.number, g.number, g.archive, g.model, g.made
	FROM memoir.reach(token, key, 'admin') t
	CROSS JOIN LATERAL (SELECT coalesce(max(l.number), 0) AS number FROM memoir.generation l
		WHERE l.organisation = t.organisation AND l.project = t.project AND l.state = 'published') live
	LEFT JOIN memoir.generation g ON g.organisation = t.organisation AND g.project = t.project AND g.state = 'waiting'
		AND g.archive IS NOT NULL AND g.number > live.number
		AND NOT EXISTS (SELECT FROM memoir.tombstone w WHERE w.organisation = t.organisation AND w.project = t.project
			AND w.seq > g.seq AND (w.seq > (SELECT p.consumed FROM memoir.project p WHERE p.id = t.project)
				OR EXISTS (SELECT FROM memoir.generation n
					WHERE n.project = t.project AND n.number > g.number AND n.seq >= w.seq)))
	ORDER BY g.number DESC;
END $$;

CREATE POLICY review ON memoir.generation FOR SELECT USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role = 'admin')
		OR project IN (SELECT project FROM memoir.access WHERE role = 'admin')));
CREATE POLICY accept ON memoir.generation FOR UPDATE USING (organisation = memoir.current_organisation()
	AND state = 'waiting' AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role = 'admin')
		OR project IN (SELECT project FROM memoir.access WHERE role = 'admin')))
	WITH CHECK (state = 'published' AND archive IS NOT NULL);
