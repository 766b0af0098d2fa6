-- A store of OpenCode 1 that OpenCode 2 took over. ses_moved was copied with its first message and went on in version 2;
-- ses_after was begun with version 1 after the copy; ses_second is of version 2 alone, ses_fork is its fork;
-- ses_script was begun by `opencode run` in version 1.
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text NOT NULL, title text, version text, revert text, permission text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL);
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, fork_session_id text, fork_boundary text, slug text NOT NULL, directory text NOT NULL, path text, title text, version text NOT NULL, revert text, permission text, time_created integer NOT NULL, time_updated integer NOT NULL, time_idle integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE UNIQUE INDEX session_message_seq ON session_message (session_id, seq);
CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq integer, type text, data text);

INSERT INTO session VALUES ('ses_moved','p',NULL,'s','/w','Old title','1.18.30',NULL,NULL,1790000000000,1790000001000);
INSERT INTO session VALUES ('ses_after','p',NULL,'s','/w','After','1.18.31',NULL,NULL,1790000500000,1790000500000);
INSERT INTO session VALUES ('ses_script','p',NULL,'s','/w','Script','1.18.30',NULL,'[{"permission":"question","pattern":"*","action":"deny"}]',1790000000000,1790000000000);
INSERT INTO message VALUES ('msg_01','ses_moved',1790000000000,1790000000000,'{"role":"user","time":{"created":1790000000000}}');
INSERT INTO message VALUES ('msg_07','ses_moved',1790000700000,1790000700000,'{"role":"user","time":{"created":1790000700000}}');
INSERT INTO message VALUES ('msg_02','ses_after',1790000500000,1790000500000,'{"role":"user","time":{"created":1790000500000}}');
INSERT INTO message VALUES ('msg_03','ses_script',1790000000000,1790000000000,'{"role":"user","time":{"created":1790000000000}}');
INSERT INTO part VALUES ('prt_01','msg_01','ses_moved',1790000000000,1790000000000,'{"type":"text","text":"Keep the changelog sorted."}');
INSERT INTO part VALUES ('prt_07','msg_07','ses_moved',1790000700000,1790000700000,'{"type":"text","text":"one more in version 1"}');
INSERT INTO part VALUES ('prt_02','msg_02','ses_after',1790000500000,1790000500000,'{"type":"text","text":"begun after the copy"}');
INSERT INTO part VALUES ('prt_03','msg_03','ses_script',1790000000000,1790000000000,'{"type":"text","text":"nobody typed this"}');

INSERT INTO session_v2 VALUES ('ses_moved','p',NULL,NULL,NULL,'s','/w','','New title','1.18.30',NULL,NULL,1790000000000,1790000600000,NULL);
INSERT INTO session_v2 VALUES ('ses_script','p',NULL,NULL,NULL,'s','/w','','Script','1.18.30',NULL,NULL,1790000000000,1790000000000,NULL);
INSERT INTO session_v2 VALUES ('ses_second','p',NULL,NULL,NULL,'s','/w','',NULL,'2.0.26','{"messageID":"msg_30"}',NULL,1790001000000,1790001009000,NULL);
INSERT INTO session_v2 VALUES ('ses_fork','p',NULL,'ses_second','{}','s','/w','','Fork','2.0.26',NULL,NULL,1790002000000,1790002000000,NULL);
INSERT INTO session_message VALUES ('msg_01','ses_moved','user',0,1790000000000,1790000000000,'{"text":"Keep the changelog sorted.","time":{"created":1790000000000}}');
INSERT INTO session_message VALUES ('msg_05','ses_moved','system',1,1790000000000,1790000000000,'{"text":"The available tools have changed."}');
INSERT INTO session_message VALUES ('msg_06','ses_moved','user',2,1790000600000,1790000600000,'{"text":"\"go on in version 2\"","files":[]}');
INSERT INTO session_message VALUES ('msg_03','ses_script','user',0,1790000000000,1790000000000,'{"text":"nobody typed this"}');

INSERT INTO session_message VALUES ('msg_20','ses_second','user',0,1790001000000,1790001000000,'{"text":"why does it fail?"}');
INSERT INTO session_message VALUES ('msg_21','ses_second','assistant',1,1790001002000,1790001002000,'{"agent":"build","finish":"tool-calls","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"I run it."},{"type":"tool","id":"c1","name":"shell","state":{"status":"completed","input":{"command":"make test"},"content":[{"type":"text","text":"2 failed\n"},{"type":"text","text":"Command exited with code 2."}],"metadata":{"exit":2}},"time":{"created":1790001001500}}]}');
INSERT INTO session_message VALUES ('msg_22','ses_second','shell',2,1790001001000,1790001001000,'{"shellID":"s1","command":"git status","status":"exited","exit":0,"output":{"output":"clean","size":5}}');
INSERT INTO session_message VALUES ('msg_23','ses_second','synthetic',3,1790001003000,1790001003000,'{"text":"a file"}');
INSERT INTO session_message VALUES ('msg_24','ses_second','assistant',4,1790001004000,1790001004000,'{"agent":"build","finish":"stop","content":[{"type":"tool","id":"c2","name":"edit","state":{"status":"error","input":{"path":"a.go"},"error":{"type":"permission.rejected","message":"The user rejected permission to use this specific tool call with the following feedback: leave that file"}}},{"type":"text","text":"I left it."}]}');
INSERT INTO session_message VALUES ('msg_25','ses_second','compaction',5,1790001005000,1790001005000,'{"status":"completed","reason":"manual","summary":"We looked at the test.","recent":""}');
INSERT INTO session_message VALUES ('msg_26','ses_second','location-switched',6,1790001006000,1790001006000,'{"location":{"directory":"/w/sub"}}');
INSERT INTO session_message VALUES ('msg_27','ses_second','hologram',7,1790001006000,1790001006000,'{}');
INSERT INTO session_message VALUES ('msg_28','ses_second','user',8,1790001007000,1790001007000,'{"text":"and now?"}');
INSERT INTO session_message VALUES ('msg_29','ses_second','idle',9,1790001008000,1790001008000,'{"outcome":"succeeded"}');
INSERT INTO session_message VALUES ('msg_30','ses_second','user',10,1790001009000,1790001009000,'{"text":"taken back"}');
INSERT INTO session_message VALUES ('msg_40','ses_fork','user',0,1790001000000,1790001000000,'{"text":"why does it fail?"}');
INSERT INTO session_message VALUES ('msg_41','ses_fork','user',1,1790002000000,1790002000000,'{"text":"in the fork"}');
