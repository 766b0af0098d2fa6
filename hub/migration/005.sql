-- A token of `memoir-hub token add`, which many containers have: who has it replaces and revokes none.
ALTER TABLE memoir.token ADD COLUMN shared boolean NOT NULL DEFAULT false;
UPDATE memoir.token SET shared = true WHERE machine = 'containers';

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

-- memoir.newest_archive with the number of the newest generation that the caller may accept, where the review is on. If unaccepted is set, it is
-- that generation, and readable says that the caller may accept.
CREATE FUNCTION memoir.archive_of(token bytea, key text, known bytea, unaccepted boolean) RETURNS TABLE (machine bigint,
	live boolean, revoked boolean, readable boolean, number bigint, hash bytea, body bytea, waits bigint)
ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
	SELECT a.* INTO machine, live, revoked, readable, number, hash, body FROM memoir.newest_archive(token, key, known) a;
	IF readable AND (unaccepted OR (SELECT o.review FROM memoir.organisation o WHERE o.id = memoir.current_organisation())) THEN
		SELECT max(w.number) INTO waits FROM memoir.waiting(token, key) w;
	END IF;
	IF readable AND unaccepted THEN
		SELECT w.published IS NOT NULL, w.number, w.archive INTO readable, number, hash
		FROM memoir.waiting(token, key) w LIMIT 1;
		SELECT a.body INTO body FROM memoir.waiting(token, key) w JOIN memoir.archive a
			ON a.organisation = w.organisation AND a.project = w.project AND a.hash = w.archive WHERE w.number = waits;
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
	UPDATE memoir.generation g SET state = 'published' FROM memoir.waiting(token, key) w
	WHERE g.organisation = w.organisation AND g.project = w.project AND g.number = w.number
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
