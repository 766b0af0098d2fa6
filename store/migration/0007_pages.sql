-- A page of sessions, the latest first, is found without reading those before it.
CREATE INDEX session_updated ON session (updated_at DESC, key, kind);
