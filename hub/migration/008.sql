-- A pull with nothing new spends most of its time on starting the queries of these functions, so each has few.

-- As before, with the same text. The path of a table ends with the id of the database and the file.
CREATE OR REPLACE FUNCTION memoir.fingerprint() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN concat_ws('.', (pg_control_system()).system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
		split_part(pg_relation_filepath('memoir.statement'), '/', -2), 'memoir.statement'::regclass::oid);
END $$;

-- A project where a member may act with a role. Without a seq they may not; without an id nobody has pushed to it yet.
CREATE FUNCTION memoir.within(org bigint, whom bigint, called text, needed memoir.role) RETURNS memoir.project
STABLE LANGUAGE plpgsql AS $$
DECLARE
	found memoir.project;
BEGIN
	SELECT * INTO found FROM memoir.project p WHERE p.organisation = org AND p.key = called;
	IF found.alias_of IS NOT NULL THEN
		SELECT * INTO found FROM memoir.project p WHERE p.organisation = org AND p.id = found.alias_of;
	END IF;
	IF EXISTS (SELECT FROM memoir.access a WHERE a.organisation = org AND a.member = whom
		AND (a.project IS NULL OR a.project = found.id) AND a.role >= needed) THEN
		found.seq := coalesce(found.seq, 0);
		RETURN found;
	END IF;
	RETURN NULL;
END $$;

-- As before, with memoir.within.
CREATE OR REPLACE FUNCTION memoir.reach(token bytea, key text, needed memoir.role)
RETURNS TABLE (organisation bigint, member bigint, project bigint, newest bigint) STABLE ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	found memoir.project;
BEGIN
	SELECT t.organisation, t.member INTO organisation, member FROM memoir.token t
	WHERE t.hash = token AND t.revoked IS NULL AND t.expires > now();
	found := memoir.within(organisation, member, key, needed);
	IF found.seq IS NOT NULL THEN
		project := found.id;
		newest := found.seq;
		RETURN NEXT;
	END IF;
END $$;

-- As before, with memoir.within.
CREATE OR REPLACE FUNCTION memoir.enter(token bytea, hold boolean, project text) RETURNS TABLE (machine bigint,
	expires timestamptz, live boolean, revoked boolean, epoch text, newest bigint) ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	found   memoir.token;
	entered text := set_config('memoir.token', encode(token, 'hex'), true);
BEGIN
	IF hold THEN
		PERFORM FROM memoir.token t WHERE t.hash = token FOR SHARE;
	END IF;
	SELECT * INTO found FROM memoir.token t WHERE t.hash = token;
	live := found.revoked IS NULL AND found.expires > now();
	IF live THEN
		entered := set_config('memoir.organisation', found.organisation::text, true);
		entered := set_config('memoir.member', found.member::text, true);
		IF NOT hold AND found.seen < now() - interval '10 minutes' THEN
			UPDATE memoir.token t SET seen = now() WHERE t.id = found.id;
		END IF;
		IF project IS NOT NULL THEN
			newest := (memoir.within(found.organisation, found.member, project, 'reader')).seq;
		END IF;
	END IF;
	IF found.id IS NOT NULL THEN
		machine := found.id;
		expires := found.expires;
		revoked := found.revoked IS NOT NULL;
		epoch := memoir.current_epoch();
		RETURN NEXT;
	END IF;
END $$;
