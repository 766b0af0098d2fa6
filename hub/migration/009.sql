-- The sessions of members that were erased: under the same name they do not come back, and another member may send them.
CREATE TABLE memoir.erased (
	organisation bigint NOT NULL,
	member       bigint NOT NULL,
	session      text NOT NULL,
	PRIMARY KEY (member, session),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);
ALTER TABLE memoir.erased ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON memoir.erased FOR SELECT
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());

-- As before, and the sessions stay as hashes.
CREATE OR REPLACE FUNCTION memoir.erase(member bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	erased bigint;
BEGIN
	PERFORM memoir.remove(member);
	DELETE FROM memoir.token t WHERE t.member = erase.member;
	INSERT INTO memoir.erased (organisation, member, session)
	SELECT t.organisation, t.member, t.session FROM memoir.transcript t WHERE t.member = erase.member
	UNION SELECT s.organisation, s.member, s.session FROM memoir.statement s WHERE s.member = erase.member
	ON CONFLICT DO NOTHING;
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
