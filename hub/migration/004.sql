-- What members made of lines of generations: before is the line as the generation numbered generation had it, after
-- what it is now; empty: it was removed. An edit is withdrawn by a tombstone, as a statement is.
CREATE TABLE memoir.edit (
	organisation bigint NOT NULL,
	project      bigint NOT NULL,
	member       bigint NOT NULL,
	hash         bytea NOT NULL,
	seq          bigint NOT NULL,
	generation   bigint NOT NULL,
	day          date NOT NULL,
	before       text NOT NULL,
	after        text NOT NULL,
	PRIMARY KEY (organisation, project, member, hash),
	UNIQUE (project, seq),
	FOREIGN KEY (organisation, project) REFERENCES memoir.project (organisation, id),
	FOREIGN KEY (organisation, member) REFERENCES memoir.member (organisation, id)
);

-- Members get edits by generations, so each sees only their own.
ALTER TABLE memoir.edit ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON memoir.edit FOR SELECT
	USING (organisation = memoir.current_organisation() AND member = memoir.current_member());
CREATE POLICY push ON memoir.edit FOR INSERT WITH CHECK (organisation = memoir.current_organisation()
	AND member = memoir.current_member()
	AND (EXISTS (SELECT FROM memoir.access WHERE project IS NULL AND role >= 'writer')
		OR project IN (SELECT project FROM memoir.access WHERE role >= 'writer')));
CREATE POLICY withdraw ON memoir.edit FOR DELETE USING (organisation = memoir.current_organisation()
	AND member = memoir.current_member());
CREATE POLICY work ON memoir.edit FOR SELECT USING (organisation = memoir.current_organisation()
	AND project = memoir.current_work());
