-- What the serving role needs, and nothing else. migrate runs this at its end; $ROLE is that role.
REVOKE ALL ON SCHEMA memoir FROM PUBLIC, $ROLE;
REVOKE ALL ON ALL TABLES IN SCHEMA memoir FROM PUBLIC, $ROLE;
GRANT USAGE ON SCHEMA memoir TO $ROLE;
GRANT SELECT ON memoir.migration, memoir.organisation, memoir.member, memoir.code, memoir.token, memoir.project,
	memoir.access, memoir.statement, memoir.tombstone, memoir.hub, memoir.archive, memoir.generation, memoir.ledger,
	memoir.transcript, memoir.edit, memoir.erased TO $ROLE;
GRANT INSERT ON memoir.token, memoir.project, memoir.statement, memoir.tombstone, memoir.audit, memoir.archive,
	memoir.generation, memoir.ledger, memoir.transcript, memoir.edit TO $ROLE;
GRANT DELETE ON memoir.code, memoir.statement, memoir.archive, memoir.edit TO $ROLE;
GRANT UPDATE (hash, expires, revoked, seen) ON memoir.token TO $ROLE;
GRANT UPDATE (seq, consumed) ON memoir.project TO $ROLE;
GRANT UPDATE (id) ON memoir.organisation TO $ROLE; -- to lock the row: it is generated, and the policy refuses changes
GRANT UPDATE (items, state, error, redacted, ended, sent) ON memoir.transcript TO $ROLE;
GRANT UPDATE (replaced) ON memoir.tombstone TO $ROLE;
GRANT UPDATE (archive, state) ON memoir.generation TO $ROLE;
GRANT UPDATE (tokens, cost, ended) ON memoir.ledger TO $ROLE;
GRANT UPDATE (epoch, fingerprint) ON memoir.hub TO $ROLE;
GRANT EXECUTE ON FUNCTION memoir.administer(bytea, text, text, text) TO $ROLE;

-- Of River's tables. It has no right to migrate or to reindex.
REVOKE ALL ON SCHEMA river FROM PUBLIC, $ROLE;
REVOKE ALL ON ALL TABLES IN SCHEMA river FROM PUBLIC, $ROLE;
GRANT USAGE ON SCHEMA river TO $ROLE;
GRANT SELECT, INSERT, UPDATE, DELETE ON river.river_job, river.river_leader, river.river_queue TO $ROLE;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA river TO $ROLE;
