-- Sessions of machines that are gone before they could extract. A worker extracts each once, as the member that sent it,
-- and deletes the items; the hash stays, so that a repeated push is known.

CREATE TYPE memoir.transcript_state AS ENUM ('waiting', 'done', 'failed');

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

-- As memoir.due: the transcripts that wait.
CREATE FUNCTION memoir.unextracted(organisation bigint) RETURNS SETOF bigint STABLE SECURITY DEFINER
SET search_path = pg_catalog LANGUAGE sql AS $$ SELECT t.id FROM memoir.transcript t
	WHERE unextracted.organisation IN (0, t.organisation) AND t.state = 'waiting' $$;

CREATE FUNCTION memoir.current_transcript() RETURNS bigint STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('memoir.transcript', true), '')::bigint $$;

-- replaced: a later transcript of the session lacks the statement, which nobody has withdrawn. An extraction may send it
-- again under another hash. Else a person withdrew it, for ever.
ALTER TABLE memoir.tombstone ADD COLUMN replaced boolean NOT NULL DEFAULT false;
CREATE POLICY settle ON memoir.tombstone FOR UPDATE
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());

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

ALTER TABLE memoir.transcript ENABLE ROW LEVEL SECURITY;

CREATE POLICY extract ON memoir.transcript FOR SELECT USING (id = memoir.current_transcript());
CREATE POLICY finish ON memoir.transcript FOR UPDATE USING (id = memoir.current_transcript());
CREATE POLICY mine ON memoir.transcript FOR SELECT
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());
CREATE POLICY again ON memoir.transcript FOR UPDATE
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());
CREATE POLICY push ON memoir.transcript FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND member = memoir.current_member()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer')
		OR project IN (SELECT project FROM memoir.access WHERE role >= 'writer')));
