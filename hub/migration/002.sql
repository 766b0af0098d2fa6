-- What a worker makes of statements: generations, each an archive, and the ledger of model calls. A worker's
-- transaction begins with memoir.work; its policies stand beside those of members. River's own tables are in the schema
-- river (job.go); a new version of River with migrations of its own needs a new file here, if only an empty one.

CREATE FUNCTION memoir.current_work() RETURNS bigint STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('memoir.work', true), '')::bigint $$;

CREATE TYPE memoir.generation_state AS ENUM ('waiting', 'published');

-- The model of an organisation, and what it may spend on a UTC day. A key is only named: workers have it in their
-- environment. Prices are in US dollars per million tokens. Empty is the built-in model and the provider's own address;
-- 0 is no limit.
ALTER TABLE memoir.organisation
	ADD COLUMN model        text NOT NULL DEFAULT '',
	ADD COLUMN key_env      text NOT NULL DEFAULT '',
	ADD COLUMN base_url     text NOT NULL DEFAULT '',
	ADD COLUMN daily_tokens bigint NOT NULL DEFAULT 0,
	ADD COLUMN daily_cost   double precision NOT NULL DEFAULT 0,
	ADD COLUMN input_price  double precision NOT NULL DEFAULT 0,
	ADD COLUMN output_price double precision NOT NULL DEFAULT 0,
	ADD COLUMN review       boolean NOT NULL DEFAULT false;

-- consumed is the last change that a consolidation has read.
ALTER TABLE memoir.project ADD COLUMN consumed bigint NOT NULL DEFAULT 0;

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

-- The projects of an organisation, 0 for all, that have changes which no consolidation has read. It is called by workers
-- that start, and runs as the owner: they may learn these ids of every organisation, and nothing else.
CREATE FUNCTION memoir.due(organisation bigint) RETURNS SETOF bigint STABLE SECURITY DEFINER SET search_path = pg_catalog
LANGUAGE sql AS $$ SELECT p.id FROM memoir.project p
	WHERE due.organisation IN (0, p.organisation) AND p.alias_of IS NULL AND p.seq > p.consumed $$;

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

ALTER TABLE memoir.archive ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.generation ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoir.ledger ENABLE ROW LEVEL SECURITY;

-- A worker may lock the row of the organisation, but not change it.
CREATE POLICY hold ON memoir.organisation FOR UPDATE
	USING (id = memoir.current_organisation() AND memoir.current_work() IS NOT NULL) WITH CHECK (false);
CREATE POLICY work ON memoir.project FOR SELECT USING (id = memoir.current_work());
CREATE POLICY consume ON memoir.project FOR UPDATE
	USING (organisation = memoir.current_organisation() AND id = memoir.current_work());
CREATE POLICY work ON memoir.statement FOR SELECT USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work() AND NOT own);
CREATE POLICY work ON memoir.tombstone FOR SELECT USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work());
CREATE POLICY work ON memoir.generation FOR ALL USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work());
CREATE POLICY work ON memoir.archive FOR ALL USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work());
CREATE POLICY spent ON memoir.ledger FOR SELECT USING (organisation = memoir.current_organisation()
	AND memoir.current_work() IS NOT NULL);
CREATE POLICY enter ON memoir.ledger FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND project = memoir.current_work());
CREATE POLICY finish ON memoir.ledger FOR UPDATE USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work());

CREATE POLICY read ON memoir.generation FOR SELECT USING (organisation = memoir.current_organisation()
	AND state = 'published'
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL) OR project IN (SELECT project FROM memoir.access)));
CREATE POLICY read ON memoir.archive FOR SELECT USING (organisation = memoir.current_organisation()
	AND EXISTS (SELECT FROM memoir.generation g WHERE g.project = archive.project AND g.archive = archive.hash));

-- A reader may withdraw what they pushed when they were a writer: that only shows less.
DROP POLICY push ON memoir.project;
CREATE POLICY change ON memoir.project FOR UPDATE USING (organisation = memoir.current_organisation()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL) OR id IN (SELECT project FROM memoir.access)));
DROP POLICY withdraw ON memoir.tombstone;
CREATE POLICY withdraw ON memoir.tombstone FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND member = memoir.current_member()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL) OR project IN (SELECT project FROM memoir.access)));
