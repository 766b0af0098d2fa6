-- Members with the role admin grant and erase. A policy that lets them reach the rows of others in memoir.access, or
-- statements that are somebody's own, would do so in each query. So one function does it, as the owner of the tables.

-- Ends what a member may. Pushes of theirs that have begun end first, and others wait.
CREATE FUNCTION memoir.remove(member bigint) RETURNS void LANGUAGE sql AS $$
	UPDATE memoir.token t SET revoked = coalesce(t.revoked, now()) WHERE t.member = remove.member;
	DELETE FROM memoir.code c WHERE c.member = remove.member;
	DELETE FROM memoir.access a WHERE a.member = remove.member;
	UPDATE memoir.member m SET removed = coalesce(m.removed, now()) WHERE m.id = remove.member
$$;

-- Removes a member with all that they have sent, and returns how many statements and edits that were. A numbered
-- tombstone of each stays.
CREATE FUNCTION memoir.erase(member bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	erased bigint;
BEGIN
	PERFORM memoir.remove(member);
	DELETE FROM memoir.token t WHERE t.member = erase.member;
	DELETE FROM memoir.transcript t WHERE t.member = erase.member;
	UPDATE memoir.tombstone g SET replaced = false WHERE g.member = erase.member;
	PERFORM FROM memoir.project p WHERE p.id IN (SELECT s.project FROM memoir.statement s WHERE s.member = erase.member
		UNION SELECT e.project FROM memoir.edit e WHERE e.member = erase.member) ORDER BY p.id FOR UPDATE;
	WITH said AS (DELETE FROM memoir.statement s WHERE s.member = erase.member RETURNING s.project, s.hash),
	edits AS (DELETE FROM memoir.edit e WHERE e.member = erase.member RETURNING e.project, e.hash),
	gone AS (SELECT * FROM said UNION ALL SELECT * FROM edits),
	raised AS (UPDATE memoir.project p SET seq = p.seq + c.n
		FROM (SELECT g.project, count(*) AS n FROM gone g GROUP BY g.project) c WHERE p.id = c.project
		RETURNING p.organisation, p.id, p.seq)
	INSERT INTO memoir.tombstone (organisation, project, member, hash, seq)
	SELECT r.organisation, r.id, erase.member, g.hash, r.seq + 1 - row_number() OVER (PARTITION BY r.id ORDER BY g.hash)
	FROM gone g JOIN raised r ON r.id = g.project;
	GET DIAGNOSTICS erased = ROW_COUNT;
	RETURN erased;
END $$;

-- Changes what a member may in a project, or in every one (the key *), for whom a token (its hash) belongs to, if that
-- is an admin there. change is a role, none, or erase, which is for admins of every project. counts is the role that the
-- member then has there. What is refused raises an error of the state MH001, so that nothing is changed. It looks at
-- token and role itself, since row-level security does not bind it. A token of containers is nobody's here.
CREATE FUNCTION memoir.administer(token bytea, called text, key text, change text)
RETURNS TABLE (org bigint, counts text, erased bigint)
ROWS 1 SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	caller     memoir.token;
	whom       bigint;
	within     bigint; -- NULL: every project
	everywhere boolean;
BEGIN
	-- One change of an organisation after the other: of two admins who end each other's role, the second has none.
	PERFORM FROM memoir.organisation o JOIN memoir.token t ON t.organisation = o.id WHERE t.hash = token
	FOR NO KEY UPDATE OF o;
	SELECT * INTO caller FROM memoir.token t
	WHERE t.hash = token AND t.revoked IS NULL AND t.expires > now() AND NOT t.shared FOR SHARE;
	everywhere := EXISTS (SELECT FROM memoir.access a WHERE a.organisation = caller.organisation
		AND a.member = caller.member AND a.project IS NULL AND a.role = 'admin');
	IF key <> '*' THEN
		SELECT r.project INTO within FROM memoir.reach(token, key, 'admin') r;
	END IF;
	SELECT m.id INTO whom FROM memoir.member m
	WHERE m.organisation = caller.organisation AND m.name = called AND (m.removed IS NULL OR change = 'erase');
	IF caller.id IS NULL OR NOT everywhere AND (within IS NULL OR change = 'erase') THEN
		RAISE 'only an admin of % may do this, from a machine that has joined',
			CASE WHEN key = '*' THEN 'every project' ELSE 'the project' END
			USING ERRCODE = 'MH001', HINT = 'ask an operator of the hub for access';
	ELSIF within IS NULL AND key <> '*' THEN
		RAISE 'your organisation has no project %', key
			USING ERRCODE = 'MH001', HINT = 'nobody has pushed to it yet; * is every project, also those to come';
	ELSIF whom IS NULL THEN
		RAISE 'your organisation has no member %', called USING ERRCODE = 'MH001', HINT = 'an operator adds members';
	END IF;

	IF change = 'erase' THEN
		erased := memoir.erase(whom);
	ELSE
		PERFORM FROM memoir.token t WHERE t.member = whom FOR UPDATE; -- as memoir.remove waits for pushes
		DELETE FROM memoir.access a WHERE a.member = whom AND a.project IS NOT DISTINCT FROM within;
		IF change <> 'none' THEN
			INSERT INTO memoir.access (organisation, member, project, role)
			VALUES (caller.organisation, whom, within, change::memoir.role);
		ELSIF NOT FOUND THEN
			RAISE '% has no role of their own there', called
				USING ERRCODE = 'MH001', HINT = 'a role for every project is ended with *, one for a project with its key';
		END IF;
	END IF;
	IF NOT EXISTS (SELECT FROM memoir.access a WHERE a.organisation = caller.organisation AND a.role = 'admin'
		AND (a.project IS NULL OR a.project = within)) THEN
		RAISE '% is the last admin of %', called,
			CASE WHEN within IS NULL THEN 'your organisation' ELSE 'this project' END
			USING ERRCODE = 'MH001', HINT = 'give the role admin to another member first';
	END IF;
	SELECT caller.organisation, coalesce(max(a.role)::text, 'none'), coalesce(erased, 0) INTO org, counts, erased
	FROM memoir.access a WHERE a.member = whom AND (a.project IS NULL OR a.project = within);
	INSERT INTO memoir.audit (organisation, member, machine, action, detail)
	VALUES (caller.organisation, caller.member, caller.id,
		CASE change WHEN 'erase' THEN 'erase' WHEN 'none' THEN 'revoke' ELSE 'grant' END,
		concat_ws(' ', called, CASE WHEN change <> 'erase' THEN key END,
			CASE WHEN change NOT IN ('erase', 'none') THEN change END));
	RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION memoir.administer(bytea, text, text, text) FROM PUBLIC; -- who may only read has hashes of tokens
