-- What the serving role needs, and nothing else. migrate runs this after every migration; $ROLE is that role.
REVOKE ALL ON SCHEMA memoir FROM PUBLIC, $ROLE;
REVOKE ALL ON ALL TABLES IN SCHEMA memoir FROM PUBLIC, $ROLE;
GRANT USAGE ON SCHEMA memoir TO $ROLE;
GRANT SELECT ON memoir.migration, memoir.organisation, memoir.member, memoir.code, memoir.token, memoir.project,
	memoir.access, memoir.statement, memoir.tombstone, memoir.hub TO $ROLE;
GRANT INSERT ON memoir.token, memoir.project, memoir.statement, memoir.tombstone, memoir.audit TO $ROLE;
GRANT DELETE ON memoir.code, memoir.statement TO $ROLE;
GRANT UPDATE (hash, expires, revoked, seen) ON memoir.token TO $ROLE;
GRANT UPDATE (seq) ON memoir.project TO $ROLE;
GRANT UPDATE (epoch, fingerprint) ON memoir.hub TO $ROLE;
