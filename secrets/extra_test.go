package secrets

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// fake joins the parts of a made-up secret, so that no file of this repository
// looks as if it held one.
func fake(parts ...string) string { return strings.Join(parts, "") }

var (
	fakeToken  = fake("ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1Ue0o")
	fakeOpaque = fake("q8Zr", "T2mVx0", "LpYw4Nc", "7KdHs9Bf3J")
	fakeAWSKey = fake("kW3vT9xQ/", "z7RbN2mLp8+", "YcJf5HdS0g", "UaXe4V1iZo")
	fakeKey    = strings.Repeat(fake("MIIEvgIBADANBgkqhkiG9w0BAQEFAASC", "BKgwggSkAgEAAoIBAQDY3E8o1NEFcjMM")+"\n", 6)
	beginKey   = fake("-----BEGIN RSA ", "PRIVATE KEY-----")
	endKey     = fake("-----END RSA ", "PRIVATE KEY-----")
)

func TestExtraRulesFindWhatGitleaksMisses(t *testing.T) {
	t.Parallel()
	pass := fake("Tr0ub4", "dor&3")
	for _, test := range []struct{ name, rule, before, secret, after string }{
		{"a connection string", "url-credentials", "DATABASE_URL=postgres://app:", fake("s9", "Kd0qPz"), "@db.internal:5432/app"},
		{"a password of words in a URL", "url-credentials", "redis://:", fake("open", "sesame"), "@cache:6379"},
		{"a git remote", "url-credentials", "https://oauth2:", fakeOpaque, "@git.test/x/y.git"},
		{"a driver's data source", "dsn-credentials", "app:", fake("k2", "Lm9"), "@tcp(127.0.0.1:3306)/app"},
		{"a basic Authorization header", "authorization-header", "> Authorization: Basic ", fake("YWxhZGRpb", "jpvcGVuc2VzYW1l"), "\n"},
		{"a bearer Authorization header", "authorization-header", "authorization: Bearer ", fakeOpaque, "\r\n"},
		{"a header in code", "authorization-header", `{"Authorization": "Bearer `, fakeOpaque, `"}`},
		{"a header in JSON in JSON", "authorization-header", `{\"Authorization\": \"Bearer `, fakeOpaque, `\"}`},
		{"a bearer token in prose", "bearer-token", "the server wants Bearer ", fakeOpaque, " now"},
		{"a quoted password", "password-assignment", `cfg.DBPassword = "`, pass, `"`},
		{"a password in JSON", "password-assignment", `{"user":"x","password":"`, pass, `"}`},
		{"a password in JSON in JSON", "password-assignment", `"{\"password\":\"`, pass, `\"}"`},
		{"a password in a hash", "password-assignment", `:password => '`, pass, `'`},
		{"an environment file", "password-environment", "HOST=db\nDB_PASSWORD=", pass, "\nPORT=1"},
		{"a variable before a command", "password-environment", "$ PGPASSWORD=", fake("z8Kq", "w0"), " psql -h db"},
		{"YAML", "password-line", "db:\n  password: ", pass, "\n  port: 1"},
		{"properties", "password-line", "spring.datasource.password = ", fake("9dk", "Fq2ls"), ""},
		{"notes", "password-line", "> - Password: ", fake("m4Te", "ks!w"), "\n"},
		{"an option", "password-option", "mytool login --password ", fake("hun", "ter-27"), " --user x"},
		{"an option with an equals sign", "password-environment", "mytool --db-password=", fake("hun", "ter-27"), ""},
		{"an option in an argument list", "password-option", `["mytool", "--password", "`, fake("hun", "ter-27"), `"]`},
		{"a list of settings", "password-connection-string", "Server=db;User Id=sa;Password=", pass, ";Encrypt=true"},
		{"a principal", "principal-password", "kadmin: addprinc -pw ", fake("riverx", "106Fox"), " ada\n"},
		{"a kept session", "principal-password", "[Passwords]\nssh22:ada@x=", fake("YqNtY1Hx511ljr06", "n4zC5cOmR+tgoSFL"), "\n"},
		{"a bouncer", "keyed-hash", "<Pass password>\nMethod = sha256\nHash = ", fake("53ae2fd63cce63e7c1457de612baf023", "c76ec6622cbd328eef331e91125e5c39"), "\nSalt = x\n"},
		{"a secret for a swarm", "password-piped", "printf '", fake("Orchid_", "033Fox"), "' | docker secret create db_pass -\n"},
		{"an expected prompt", "scripted-answer", "expect \"*?assword:*\"\nsend -- \"", fake("Quartz!8", "87Fox"), "\\r\"\n"},
		{"an expected prompt in braces", "scripted-answer", "expect \"password:\" { send \"", fake("Quartz!8", "87Fox"), "\\r\" }\n"},
		{"a share", "share-password", "net use Z: \\\\srv\\share ", fake("river_9", "50zebra"), " /user:CORP\\ada\n"},
		{"a community of letters", "device-password", "snmp-server community ", fake("teOMb", "wDNPB"), " RW\n"},
		{"a server's password of letters", "device-password", "requirepass ", fake("jonJcFUv", "yMLfBLMb"), "\n"},
		{"a login that is told", "login-told", "the new vpn login is ada / ", fake("Tuesday$2", "05zebra"), " until Friday"},
		{"netrc", "netrc-password", "machine api.test\n  login me\n  password ", fake("abra", "kadabra"), "\n"},
		{"sshpass", "password-flag", "sshpass -p '", fake("wolf", "77x"), "' ssh host"},
		{"an AWS secret", "aws-secret-access-key", "AWS_SECRET_ACCESS_KEY=", fakeAWSKey, "\n"},
		{"an AWS secret in JSON", "aws-secret-access-key", `"SecretAccessKey": "`, fakeAWSKey, `",`},
		{"an AWS secret as an argument", "aws-secret-access-key", "aws configure set aws_secret_access_key ", fakeAWSKey, ""},
		{"a key without its end", "private-key-fragment", "", beginKey + "\n" + strings.TrimSpace(fakeKey), "\n[output cut]"},
		{"a key without its end on one line", "private-key-fragment", `{"key":"`,
			beginKey + `\n` + strings.ReplaceAll(strings.TrimSpace(fakeKey), "\n", `\n`), `"}`},
		{"a key without its beginning", "private-key-tail", "[cut]\n", fakeKey + endKey, "\nok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := test.before + test.secret + test.after
			out, counts := ours.Redact(text)
			want := test.before + markerOpen + test.rule + markerClose +
				strings.Repeat("\n", strings.Count(test.secret, "\n")) + test.after
			if out != want || counts[test.rule] != 1 {
				t.Errorf("Redact(%q)\n got %q, %v\nwant %q", text, out, counts, want)
			}
		})
	}
}

// contexts are the ways in which a secret stands in a transcript.
var plantings = []struct {
	name  string
	plant func(id, secret string) string
}{
	{"bare", func(_, s string) string { return s }},
	{"key = value", func(id, s string) string { return id + " = " + s + "\n" }},
	{"quoted assignment", func(id, s string) string { return "const " + id + " = \"" + s + "\";\n" }},
	{"YAML", func(id, s string) string { return "service:\n  " + id + ": " + s + "\n  name: x\n" }},
	{"JSON", func(id, s string) string { return "{\"name\":\"x\",\"" + id + "\":" + quote(s) + ",\"n\":1}" }},
	{"JSON in JSON", func(id, s string) string {
		return "{\"arguments\":" + quote("{\"command\":\"echo\\nrun\",\""+id+"\":"+quote(s)+"}\n") + "}"
	}},
	{"shell export", func(id, s string) string {
		return "$ export " + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "='" + s + "' && make\n"
	}},
	{"URL", func(id, s string) string { return "GET https://api.test/v1/x?" + id + "=" + s + "&page=2 200\n" }},
	{"log line", func(id, s string) string { return "12:00:01 INFO  client: using " + id + ": " + s + " (cached)\n" }},
	{"Markdown table", func(id, s string) string { return "| name | value |\n|---|---|\n| " + id + " | `" + s + "` |\n" }},
	{"keyword elsewhere", func(id, s string) string { return s + "\nsee the docs of " + id + " at the end" }},
}

func quote(s string) string { return strconv.Quote(s) }

// newRandom is a source that gives the same numbers each time.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func mustLoad(t testing.TB, extra bool) *ruleSet {
	t.Helper()
	set, err := loadRules(Options{}, extra)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
