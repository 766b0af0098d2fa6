-- The tables of the hub. Each has row-level security beside the predicates of the queries: a transaction sets
-- memoir.token or memoir.code (the hash that it was called with), then memoir.organisation and memoir.member; one of a
-- worker sets memoir.work or memoir.transcript (what it works on). What is not set is NULL, and then nothing is visible.
-- River's own tables are in the schema river (job.go); a new version of River with migrations of its own needs a new
-- file here, if only an empty one.

CREATE TYPE memoir.role AS ENUM ('reader', 'writer', 'admin');
CREATE TYPE memoir.generation_state AS ENUM ('waiting', 'published');
CREATE TYPE memoir.transcript_state AS ENUM ('waiting', 'done', 'failed');

-- After a transaction, a setting of its own is an empty text on that connection.
DO $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY ARRAY['organisation', 'member', 'work', 'transcript'] LOOP
		EXECUTE format('CREATE FUNCTION memoir.current_%s() RETURNS bigint STABLE LANGUAGE sql AS
			$f$ SELECT nullif(current_setting(%L, true), '''')::bigint $f$', setting, 'memoir.' || setting);
	END LOOP;
END $$;

-- Its model, and what it may spend on a UTC day. A key is only named: workers have it in their environment. Prices are
-- in US dollars per million tokens. Empty is the built-in model and the provider's own address; 0 is no limit.
CREATE TABLE memoir.organisation (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name         text NOT NULL UNIQUE,
	model        text NOT NULL DEFAULT '',
	key_env      text NOT NULL DEFAULT '',
	base_url     text NOT NULL DEFAULT '',
	daily_tokens bigint NOT NULL DEFAULT 0,
	daily_cost   double precision NOT NULL DEFAULT 0,
	input_price  double precision NOT NULL DEFAULT 0,
	output_price double precision NOT NULL DEFAULT 0,
	review       boolean NOT NULL DEFAULT false
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
-- change; a push locks the row, so changes are committed in the order of their numbers. consumed is the last change that
-- a consolidation has read.
CREATE TABLE memoir.project (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	organisation bigint NOT NULL REFERENCES memoir.organisation,
	key          text NOT NULL,
	alias_of     bigint,
	seq          bigint NOT NULL DEFAULT 0,
	consumed     bigint NOT NULL DEFAULT 0,
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

-- A statement that was withdrawn. It stays, so that the statement does not come back. replaced: a later transcript of the
-- session lacks it, which nobody has withdrawn; an extraction may send it again under another hash. Else its member
-- withdrew it, for ever.
CREATE TABLE memoir.tombstone (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	member       bigint NOT NULL,
	hash         bytea NOT NULL,
	seq          bigint NOT NULL,
	replaced     boolean NOT NULL DEFAULT false,
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

-- The archive of a generation, by its SHA-256. zstd has compressed it already.
CREATE TABLE memoir.archive (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	hash         bytea NOT NULL,
	body         bytea NOT NULL,
	PRIMARY KEY (project, hash),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id)
);
ALTER TABLE memoir.archive ALTER COLUMN body SET STORAGE EXTERNAL;

-- A memory that was made of the statements up to the change seq. parent is the generation before; 0: none. archive is
-- NULL once it was deleted.
CREATE TABLE memoir.generation (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	number       bigint NOT NULL CHECK (number = parent + 1),
	parent       bigint NOT NULL CHECK (parent >= 0),
	seq          bigint NOT NULL,
	archive      bytea,
	model        text NOT NULL,
	state        memoir.generation_state NOT NULL,
	made         timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (project, number),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id),
	FOREIGN KEY (project, archive) REFERENCES memoir.archive (project, hash)
);
CREATE INDEX ON memoir.generation (project, archive);

-- A call of an organisation's model: what it may take at most, and what it took once it has ended.
CREATE TABLE memoir.ledger (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	at           timestamptz NOT NULL DEFAULT now(),
	day          date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
	model        text NOT NULL,
	tokens       bigint NOT NULL,
	cost         double precision NOT NULL,
	ended        boolean NOT NULL DEFAULT false,
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id)
);
CREATE INDEX ON memoir.ledger (organisation, day);

-- A session of a machine that is gone before it could extract. A worker extracts it once, as the member that sent it,
-- and deletes the items; the hash stays, so that a repeated push is known.
-- items is JSON, redacted and compressed by zstd. redacted counts what the hub removed from it that the client had not.
CREATE TABLE memoir.transcript (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	member       bigint NOT NULL,
	machine      bigint NOT NULL,
	hash         bytea NOT NULL,
	session      text NOT NULL,
	source       text NOT NULL,
	ended        timestamptz NOT NULL,
	items        bytea,
	redacted     integer NOT NULL,
	state        memoir.transcript_state NOT NULL DEFAULT 'waiting',
	error        text NOT NULL DEFAULT '',
	sent         timestamptz NOT NULL DEFAULT now(),
	UNIQUE (project, hash),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);
ALTER TABLE memoir.transcript ALTER COLUMN items SET STORAGE EXTERNAL;
CREATE INDEX ON memoir.transcript (member, session);

CREATE INDEX ON memoir.transcript (organisation) WHERE state = 'waiting';

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

-- The projects of an organisation, 0 for all, that have changes which no consolidation has read. It is called by workers
-- that start, and runs as the owner: they may learn these ids of every organisation, and nothing else.
CREATE FUNCTION memoir.due(organisation bigint) RETURNS SETOF bigint STABLE SECURITY DEFINER SET search_path = pg_catalog
LANGUAGE sql AS $$ SELECT p.id FROM memoir.project p
	WHERE due.organisation IN (0, p.organisation) AND p.alias_of IS NULL AND p.seq > p.consumed $$;

-- As memoir.due: the transcripts that wait.
CREATE FUNCTION memoir.unextracted(organisation bigint) RETURNS SETOF bigint STABLE SECURITY DEFINER
SET search_path = pg_catalog LANGUAGE sql AS $$ SELECT t.id FROM memoir.transcript t
	WHERE unextracted.organisation IN (0, t.organisation) AND t.state = 'waiting' $$;

-- The begin of a worker's transaction on a project. It returns the organisation, or NULL if there is no such project.
CREATE FUNCTION memoir.work(work bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	PERFORM set_config('memoir.work', work::text, true), set_config('memoir.member', '', true);
	SELECT p.organisation INTO found FROM memoir.project p WHERE p.id = work AND p.alias_of IS NULL;
	PERFORM set_config('memoir.organisation', coalesce(found::text, ''), true);
	RETURN found;
END $$;

-- The begin of the transaction that extracts a transcript: it locks it, and then acts as its member, with the policies
-- of members. It returns nothing if the transcript is done. may says that the member may still push, and later that a
-- later transcript of the session is done.
CREATE FUNCTION memoir.extract(transcript bigint) RETURNS TABLE (organisation bigint, project bigint, member bigint,
	session text, source text, ended timestamptz, items bytea, may boolean, later boolean) ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	found memoir.transcript;
BEGIN
	PERFORM set_config('memoir.transcript', transcript::text, true);
	SELECT * INTO found FROM memoir.transcript t WHERE t.id = transcript AND t.state = 'waiting' FOR UPDATE;
	IF found.id IS NOT NULL THEN
		PERFORM set_config('memoir.organisation', found.organisation::text, true),
			set_config('memoir.member', found.member::text, true);
		RETURN QUERY SELECT found.organisation, found.project, found.member, found.session, found.source, found.ended,
			found.items, EXISTS (SELECT FROM memoir.access a WHERE a.organisation = found.organisation
				AND a.member = found.member AND (a.project IS NULL OR a.project = found.project) AND a.role >= 'writer'),
			EXISTS (SELECT FROM memoir.transcript t WHERE t.project = found.project AND t.member = found.member
				AND t.session = found.session AND t.state = 'done' AND t.ended > found.ended);
	END IF;
END $$;

-- The newest published generation of a project for whom a token (its hash) belongs to, in one round trip. known is the
-- hash of an archive that the caller has: then body is NULL, and is not read.
CREATE FUNCTION memoir.newest_archive(token bytea, key text, known bytea) RETURNS TABLE (machine bigint, live boolean,
	revoked boolean, readable boolean, number bigint, hash bytea, body bytea) ROWS 1 LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	SELECT e.machine, e.live, e.revoked, e.newest IS NOT NULL INTO machine, live, revoked, readable
	FROM memoir.enter(token, false, key) e;
	IF readable THEN
		SELECT t.organisation, t.project INTO r FROM memoir.reach(token, key, 'reader') t;
		SELECT g.number, g.archive INTO number, hash FROM memoir.generation g
		WHERE g.organisation = r.organisation AND g.project = r.project AND g.state = 'published'
		ORDER BY g.number DESC LIMIT 1;
		IF hash <> known OR known IS NULL THEN
			SELECT a.body INTO body FROM memoir.archive a
			WHERE a.organisation = r.organisation AND a.project = r.project AND a.hash = newest_archive.hash;
		END IF;
	END IF;
	RETURN NEXT;
END $$;

-- The walls. The owner of the tables is not bound by them: it migrates and administers. In the predicates,
-- memoir.access has the rows of this member only, by its own policy; a row without a project is for every project.
DO $$
DECLARE
	ours    CONSTANT text := 'organisation = memoir.current_organisation()';
	mine    CONSTANT text := ours || ' AND member = memoir.current_member()';
	work    CONSTANT text := ours || ' AND project = memoir.current_work()';
	working CONSTANT text := ' AND memoir.current_work() IS NOT NULL';
	every   CONSTANT text := 'EXISTS (SELECT FROM memoir.access WHERE project IS NULL)';
	listed  CONSTANT text := ' IN (SELECT project FROM memoir.access)';
	first   CONSTANT text := 'EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= ''writer'')';
	reads   CONSTANT text := ' AND (' || every || ' OR project' || listed || ')';
	writes  CONSTANT text := ' AND (' || first
		|| ' OR project IN (SELECT project FROM memoir.access WHERE role >= ''writer''))';
	wall    record;
BEGIN
	FOR wall IN SELECT relname FROM pg_class WHERE relnamespace = 'memoir'::regnamespace AND relkind = 'r' LOOP
		EXECUTE format('ALTER TABLE memoir.%I ENABLE ROW LEVEL SECURITY', wall.relname);
	END LOOP;
	-- A policy of a table for a command: which rows it reaches, and which it may leave; NULL: the same.
	FOR wall IN SELECT * FROM (VALUES
		('migration', 'version', 'SELECT', 'true', NULL),
		('hub', 'read', 'SELECT', 'true', NULL),
		('hub', 'renew', 'UPDATE', 'fingerprint <> memoir.fingerprint()', 'fingerprint = memoir.fingerprint()'),

		('organisation', 'ours', 'SELECT', 'id = memoir.current_organisation()', NULL),
		('organisation', 'hold', 'UPDATE', 'id = memoir.current_organisation()' || working, 'false'), -- to lock the row
		('member', 'ours', 'SELECT', ours, NULL),
		('access', 'mine', 'SELECT', mine, NULL),
		('code', 'given', 'ALL', 'hash = decode(nullif(current_setting(''memoir.code'', true), ''''), ''hex'')', NULL),
		('token', 'mine', 'ALL', 'hash = decode(nullif(current_setting(''memoir.token'', true), ''''), ''hex'') OR ' || mine,
			mine),

		('project', 'read', 'SELECT', ours || ' AND (' || every || ' OR coalesce(alias_of, id)' || listed || ')', NULL),
		('project', 'first', 'INSERT', NULL, ours || ' AND alias_of IS NULL AND ' || first),
		('project', 'change', 'UPDATE', ours || ' AND (' || every || ' OR id' || listed || ')', NULL),
		('project', 'work', 'SELECT', 'id = memoir.current_work()', NULL),
		('project', 'consume', 'UPDATE', ours || ' AND id = memoir.current_work()', NULL),

		('statement', 'read', 'SELECT', ours || ' AND (NOT own OR member = memoir.current_member())' || reads, NULL),
		('statement', 'push', 'INSERT', NULL, mine || writes),
		('statement', 'withdraw', 'DELETE', mine, NULL),
		('statement', 'work', 'SELECT', work || ' AND NOT own', NULL),

		-- A reader may withdraw what they pushed when they were a writer: that only shows less.
		('tombstone', 'read', 'SELECT', ours || reads, NULL),
		('tombstone', 'withdraw', 'INSERT', NULL, mine || reads),
		('tombstone', 'settle', 'UPDATE', mine, NULL),
		('tombstone', 'work', 'SELECT', work, NULL),

		('generation', 'work', 'ALL', work, NULL),
		('generation', 'read', 'SELECT', ours || ' AND state = ''published''' || reads, NULL),
		('archive', 'work', 'ALL', work, NULL),
		('archive', 'read', 'SELECT', ours || ' AND EXISTS (SELECT FROM memoir.generation g
			WHERE g.project = archive.project AND g.archive = archive.hash)', NULL),

		('transcript', 'push', 'INSERT', NULL, mine || writes),
		('transcript', 'mine', 'SELECT', mine, NULL),
		('transcript', 'again', 'UPDATE', mine, NULL),
		('transcript', 'extract', 'SELECT', 'id = memoir.current_transcript()', NULL),
		('transcript', 'finish', 'UPDATE', 'id = memoir.current_transcript()', NULL),

		('ledger', 'spent', 'SELECT', ours || working, NULL),
		('ledger', 'enter', 'INSERT', NULL, work),
		('ledger', 'finish', 'UPDATE', work, NULL),
		('audit', 'append', 'INSERT', NULL, 'organisation IS NOT DISTINCT FROM memoir.current_organisation()
			AND member IS NOT DISTINCT FROM memoir.current_member()')
	) AS p (of, name, command, reaches, leaves) LOOP
		EXECUTE format('CREATE POLICY %I ON memoir.%I FOR ', wall.name, wall.of) || wall.command
			|| coalesce(' USING (' || wall.reaches || ')', '') || coalesce(' WITH CHECK (' || wall.leaves || ')', '');
	END LOOP;
END $$;
