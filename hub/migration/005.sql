-- A token of `memoir-hub token add`, which many containers have: who has it replaces and revokes none.
ALTER TABLE memoir.token ADD COLUMN shared boolean NOT NULL DEFAULT false;
UPDATE memoir.token SET shared = true WHERE machine = 'containers';

-- Members with the role admin accept generations that wait.

-- The generations of a project that may be accepted, the newest first; a row without a number if there is none. published
-- is the number of the one that machines get. One that may have a statement that was withdrawn since is not among them:
-- the next one is without it.
CREATE FUNCTION memoir.waiting(project bigint) RETURNS TABLE (published bigint, number bigint, archive bytea)
STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT live.number, g.number, g.archive
	FROM (SELECT coalesce(max(l.number), 0) AS number FROM memoir.generation l
		WHERE l.project = waiting.project AND l.state = 'published') live
	LEFT JOIN memoir.generation g ON g.project = waiting.project AND g.state = 'waiting'
		AND g.archive IS NOT NULL AND g.number > live.number
		AND NOT EXISTS (SELECT FROM memoir.tombstone w WHERE w.project = waiting.project
			AND w.seq > g.seq AND (w.seq > (SELECT p.consumed FROM memoir.project p WHERE p.id = waiting.project)
				OR EXISTS (SELECT FROM memoir.generation n
					WHERE n.project = waiting.project AND n.number > g.number AND n.seq >= w.seq)))
	ORDER BY g.number DESC;
END $$;

-- memoir.newest_archive with the number of the newest generation that the caller may accept, where the review is on. If
-- unaccepted is set, it is that generation, and readable says that the caller may accept.
CREATE FUNCTION memoir.archive_of(token bytea, key text, known bytea, unaccepted boolean) RETURNS TABLE (machine bigint,
	live boolean, revoked boolean, readable boolean, number bigint, hash bytea, body bytea, waits bigint)
ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
	SELECT a.* INTO machine, live, revoked, readable, number, hash, body FROM memoir.newest_archive(token, key, known) a;
	IF readable AND unaccepted THEN -- one query, so that the number, hash and body are of one generation
		SELECT true, w.number, w.number, w.archive, a.body INTO readable, waits, number, hash, body
		FROM memoir.reach(token, key, 'admin') t CROSS JOIN LATERAL memoir.waiting(t.project) w
		LEFT JOIN memoir.archive a ON a.organisation = t.organisation AND a.project = t.project AND a.hash = w.archive
		ORDER BY w.number DESC LIMIT 1;
	ELSIF readable AND (SELECT o.review FROM memoir.organisation o WHERE o.id = memoir.current_organisation()) THEN
		SELECT max(w.number) INTO waits
		FROM memoir.reach(token, key, 'admin') t CROSS JOIN LATERAL memoir.waiting(t.project) w;
	END IF;
	RETURN NEXT;
END $$;

-- Publishes a generation that waits, if it has this archive and this one is published. allowed says whether the caller
-- may; project is set if it was done. The lock of the project makes two that accept, and a worker that publishes, do so
-- one after the other.
CREATE FUNCTION memoir.accept(token bytea, key text, number bigint, archive bytea, published bigint)
RETURNS TABLE (allowed boolean, project bigint) ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
	allowed := EXISTS (SELECT FROM memoir.reach(token, key, 'admin'));
	PERFORM FROM memoir.project p JOIN memoir.reach(accept.token, accept.key, 'admin') t
		ON p.organisation = t.organisation AND p.id = t.project FOR NO KEY UPDATE OF p;
	UPDATE memoir.generation g SET state = 'published'
	FROM memoir.reach(accept.token, accept.key, 'admin') t CROSS JOIN LATERAL memoir.waiting(t.project) w
	WHERE g.organisation = t.organisation AND g.project = t.project AND g.number = w.number
		AND w.number = accept.number AND w.archive = accept.archive AND w.published = accept.published
	RETURNING g.project INTO project;
	INSERT INTO memoir.audit (organisation, member, machine, action, detail)
	SELECT t.organisation, t.member, t.id, 'generation accept', key || ' ' || number FROM memoir.token t
	WHERE t.hash = token AND project IS NOT NULL;
	RETURN NEXT;
END $$;

CREATE POLICY review ON memoir.generation FOR SELECT USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role = 'admin')
		OR project IN (SELECT project FROM memoir.access WHERE role = 'admin')));
CREATE POLICY accept ON memoir.generation FOR UPDATE USING (organisation = memoir.current_organisation()
	AND state = 'waiting' AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role = 'admin')
		OR project IN (SELECT project FROM memoir.access WHERE role = 'admin')))
	WITH CHECK (state = 'published' AND archive IS NOT NULL);
