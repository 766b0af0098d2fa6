-- The tables of the hub. Each has row-level security beside the predicates of the queries: a transaction sets
-- memoir.token or memoir.code (the hash that it was called with), then memoir.organisation and memoir.member. What is
-- not set is NULL, and then nothing is visible.

CREATE TYPE memoir.role AS ENUM ('reader', 'writer', 'admin');

-- After a transaction, a setting of its own is an empty text on that connection.
CREATE FUNCTION memoir.current_organisation() RETURNS bigint STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('memoir.organisation', true), '')::bigint $$;
CREATE FUNCTION memoir.current_member() RETURNS bigint STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('memoir.member', true), '')::bigint $$;

CREATE TABLE memoir.organisation (
	id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL UNIQUE
);

-- The name of a removed member stays: statements and tombstones carry it to other machines.
CREATE TABLE memoir.member (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	organisation bigint NOT NULL REFERENCES memoir.organisation,
	name         text NOT NULL,
	removed      timestamptz,
	UNIQUE (organisation, name),
	UNIQUE (organisation, id)
);

-- A one-time code to join with. Using it deletes it.
CREATE TABLE memoir.code (
	hash         bytea PRIMARY KEY,
	organisation bigint NOT NULL,
	member       bigint NOT NULL,
	expires      timestamptz NOT NULL,
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);

-- A machine of a member, with its token. Rotating replaces the hash.
CREATE TABLE memoir.token (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	hash         bytea NOT NULL UNIQUE,
	organisation bigint NOT NULL,
	member       bigint NOT NULL,
	machine      text NOT NULL,
	expires      timestamptz NOT NULL,
	revoked      timestamptz,
	seen         timestamptz NOT NULL DEFAULT now(),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);
CREATE INDEX ON memoir.token (member);

-- A project, or another key of one: then alias_of is set and nothing refers to the row. seq is the number of the newest
-- change; a push locks the row, so changes are committed in the order of their numbers.
CREATE TABLE memoir.project (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	organisation bigint NOT NULL REFERENCES memoir.organisation,
	key          text NOT NULL,
	alias_of     bigint,
	seq          bigint NOT NULL DEFAULT 0,
	UNIQUE (organisation, key),
	UNIQUE (organisation, id),
	FOREIGN KEY (organisation, alias_of) REFERENCES memoir.project (organisation, id)
);

-- What a member may do in a project; project NULL is every project, also those to come. The highest role counts.
CREATE TABLE memoir.access (
	organisation bigint NOT NULL,
	member       bigint NOT NULL,
	project      bigint,
	role         memoir.role NOT NULL,
	UNIQUE NULLS NOT DISTINCT (member, project),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id)
);

-- body is text of the type json, which keeps every byte: its hash must stay the same.
CREATE TABLE memoir.statement (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	member       bigint NOT NULL,
	hash         bytea NOT NULL,
	seq          bigint NOT NULL,
	session      text NOT NULL,
	own          boolean NOT NULL,
	day          date NOT NULL,
	body         json NOT NULL,
	PRIMARY KEY (organisation, project, member, hash),
	UNIQUE (project, seq),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);

-- A statement that its member withdrew. It stays, so that the statement does not come back.
CREATE TABLE memoir.tombstone (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	member       bigint NOT NULL,
	hash         bytea NOT NULL,
	seq          bigint NOT NULL,
	PRIMARY KEY (organisation, project, member, hash),
	UNIQUE (project, seq),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);

-- What was refused, and what operators and machines changed. It has ids and codes, no text of a request.
CREATE TABLE memoir.audit (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at           timestamptz NOT NULL DEFAULT now(),
	organisation bigint, -- NULL: nobody knows who it was
	member       bigint,
	machine      bigint,
	address      text NOT NULL DEFAULT '', -- of the network
	action       text NOT NULL,
	code         text NOT NULL DEFAULT '', -- of a refusal
	detail       text NOT NULL DEFAULT ''  -- the rule and hash of a secret; what an operator named
);

-- One row: which database this is. A restored one has another fingerprint, and then starts a new epoch.
CREATE TABLE memoir.hub (
	one         boolean PRIMARY KEY DEFAULT true CHECK (one),
	epoch       text NOT NULL,
	fingerprint text NOT NULL
);

-- The cluster, its timeline (a restored or promoted one has another), and the ids of what a restored dump creates anew.
-- PL/pgSQL here and below, since it keeps plans: a pull spends most of its time on planning.
CREATE FUNCTION memoir.fingerprint() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN concat_ws('.', (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
		(SELECT oid FROM pg_database WHERE datname = current_database()), 'memoir.statement'::regclass::oid);
END $$;
INSERT INTO memoir.hub (epoch, fingerprint) VALUES (replace(gen_random_uuid()::text, '-', ''), memoir.fingerprint());

-- The epoch of this database; a new one if it was restored, copied or promoted since. It is read in each transaction
-- whose answer has it. Cursors of the old epoch then count for nothing, and machines send again what they have.
CREATE FUNCTION memoir.current_epoch() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	here text := memoir.fingerprint();
	now  memoir.hub;
BEGIN
	SELECT * INTO now FROM memoir.hub;
	IF now.fingerprint <> here THEN
		UPDATE memoir.hub SET epoch = replace(gen_random_uuid()::text, '-', ''), fingerprint = here WHERE fingerprint <> here;
		SELECT * INTO now FROM memoir.hub;
	END IF;
	RETURN now.epoch;
END $$;

-- The predicates of a member's queries: where a token (its hash) may act on a project with a role. A project that nobody
-- has pushed to yet is NULL, for who has the role in every project. It is STABLE, so newest, the number of the last
-- change, is of the snapshot of the query around it.
CREATE FUNCTION memoir.reach(token bytea, key text, needed memoir.role)
RETURNS TABLE (organisation bigint, member bigint, project bigint, newest bigint) STABLE ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	found memoir.project;
BEGIN
	SELECT t.organisation, t.member INTO organisation, member FROM memoir.token t
	WHERE t.hash = token AND t.revoked IS NULL AND t.expires > now();
	SELECT * INTO found FROM memoir.project p WHERE p.organisation = reach.organisation AND p.key = reach.key;
	IF found.alias_of IS NOT NULL THEN
		SELECT * INTO found FROM memoir.project p WHERE p.organisation = reach.organisation AND p.id = found.alias_of;
	END IF;
	IF EXISTS (SELECT FROM memoir.access a WHERE a.organisation = reach.organisation AND a.member = reach.member
		AND (a.project IS NULL OR a.project = found.id) AND a.role >= needed) THEN
		project := found.id;
		newest := coalesce(found.seq, 0);
		RETURN NEXT;
	END IF;
END $$;

-- A page of the changes of a project after one, for whom a token (its hash) belongs to: a row for each change, at least
-- one. newest is of the same snapshot, so a page that is not full ends there, and what is somebody's own is not passed
-- over again.
CREATE FUNCTION memoir.changes(token bytea, key text, after bigint, most integer) RETURNS TABLE (newest bigint,
	seq bigint, member text, gone boolean, hash text, session text, own boolean, day text, body text)
STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT t.newest, coalesce(i.seq, 0), coalesce(m.name, ''), coalesce(i.gone, false),
		coalesce(encode(i.hash, 'hex'), ''), coalesce(i.session, ''), coalesce(i.own, false),
		coalesce(to_char(i.day, 'YYYY-MM-DD'), ''), i.body
	FROM memoir.reach(token, key, 'reader') t
	LEFT JOIN LATERAL (
		(SELECT s.seq, s.member, false AS gone, s.hash, s.session, s.own, s.day, s.body::text
			FROM memoir.statement s
			WHERE s.organisation = t.organisation AND s.project = t.project AND s.seq > after
				AND (NOT s.own OR s.member = t.member)
			ORDER BY s.seq LIMIT most)
		UNION ALL
		(SELECT g.seq, g.member, true, g.hash, NULL, NULL, NULL, NULL
			FROM memoir.tombstone g
			WHERE g.organisation = t.organisation AND g.project = t.project AND g.seq > after
			ORDER BY g.seq LIMIT most)
		ORDER BY seq LIMIT most
	) i ON true
	LEFT JOIN memoir.member m ON m.organisation = t.organisation AND m.id = i.member
	ORDER BY i.seq;
END $$;

-- The begin of a transaction of a member: it sets whose it is if the token (its hash) is valid. With hold, revoking the
-- token waits for the transaction. newest is the last change of a project that the member may read; NULL if not.
CREATE FUNCTION memoir.enter(token bytea, hold boolean, project text) RETURNS TABLE (machine bigint,
	expires timestamptz, live boolean, revoked boolean, epoch text, newest bigint) ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	found memoir.token;
BEGIN
	PERFORM set_config('memoir.token', encode(token, 'hex'), true);
	IF hold THEN
		PERFORM FROM memoir.token t WHERE t.hash = token FOR SHARE;
	END IF;
	SELECT * INTO found FROM memoir.token t WHERE t.hash = token;
	live := found.revoked IS NULL AND found.expires > now();
	IF live THEN
		PERFORM set_config('memoir.organisation', found.organisation::text, true),
			set_config('memoir.member', found.member::text, true);
		IF NOT hold AND found.seen < now() - interval '10 minutes' THEN
			UPDATE memoir.token t SET seen = now() WHERE t.id = found.id;
		END IF;
	END IF;
	IF found.id IS NOT NULL THEN
		machine := found.id;
		expires := found.expires;
		revoked := found.revoked IS NOT NULL;
		epoch := memoir.current_epoch();
		IF project IS NOT NULL THEN
			SELECT r.newest INTO newest FROM memoir.reach(token, project, 'reader') r;
		END IF;
		RETURN NEXT;
	END IF;
END $$;

-- The walls. The owner of the tables is not bound by them: it migrates and administers.

ALTER TABLE memoir.migration ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.organisation ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.code ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.token ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.project ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.access ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.statement ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.tombstone ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.hub ENABLE ROW LEVEL SECURITY;

CREATE POLICY version ON memoir.migration FOR SELECT USING (true);
CREATE POLICY read ON memoir.hub FOR SELECT USING (true);
CREATE POLICY renew ON memoir.hub FOR UPDATE USING (fingerprint <> memoir.fingerprint())
	WITH CHECK (fingerprint = memoir.fingerprint());

CREATE POLICY ours ON memoir.organisation FOR SELECT USING (id = memoir.current_organisation());
CREATE POLICY ours ON memoir.member FOR SELECT USING (organisation = memoir.current_organisation());
CREATE POLICY mine ON memoir.access FOR SELECT
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());

CREATE POLICY given ON memoir.code FOR ALL
	USING (hash = decode(nullif(current_setting('memoir.code', true), ''), 'hex'));
CREATE POLICY mine ON memoir.token FOR ALL
	USING (hash = decode(nullif(current_setting('memoir.token', true), ''), 'hex')
		OR organisation = memoir.current_organisation() AND member = memoir.current_member())
	WITH CHECK (organisation = memoir.current_organisation() AND member = memoir.current_member());

-- Below, memoir.access has the rows of this member only, by its policy. A row without a project is for every project.
CREATE POLICY read ON memoir.project FOR SELECT USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL)
		OR coalesce(alias_of, id) IN (SELECT project FROM memoir.access)));
CREATE POLICY first ON memoir.project FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND alias_of IS NULL AND EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer'));
CREATE POLICY push ON memoir.project FOR UPDATE USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer')
		OR id IN (SELECT project FROM memoir.access WHERE role >= 'writer')));

CREATE POLICY read ON memoir.statement FOR SELECT USING (organisation = memoir.current_organisation()
	AND (NOT own OR member = memoir.current_member())
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL) OR project IN (SELECT project FROM memoir.access)));
CREATE POLICY push ON memoir.statement FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND member = memoir.current_member()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer')
		OR project IN (SELECT project FROM memoir.access WHERE role >= 'writer')));
CREATE POLICY withdraw ON memoir.statement FOR DELETE USING (organisation = memoir.current_organisation()
	AND member = memoir.current_member());

CREATE POLICY read ON memoir.tombstone FOR SELECT USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL) OR project IN (SELECT project FROM memoir.access)));
CREATE POLICY withdraw ON memoir.tombstone FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND member = memoir.current_member()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer')
		OR project IN (SELECT project FROM memoir.access WHERE role >= 'writer')));

CREATE POLICY append ON memoir.audit FOR INSERT
	WITH CHECK (organisation IS NOT DISTINCT FROM memoir.current_organisation()
		AND member IS NOT DISTINCT FROM memoir.current_member());
