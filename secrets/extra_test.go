package secrets

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// fake joins the parts of a made-up secret, so that no scanner reports this repository.
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
		{"prose", "password-line", "always use ansible_become_pass: ", fake("Tr0ub4", "dor-x9"), " when you deploy"},
		{"letters in prose", "password-line", "admin_password: ", fake("kQzWxV", "bTnRp"), " for the host"},
		{"an option", "password-option", "mytool login --password ", fake("hun", "ter-27"), " --user x"},
		{"an option with an equals sign", "password-environment", "mytool --db-password=", fake("hun", "ter-27"), ""},
		{"an option of several words", "password-phrase", "gpg --passphrase '", fake("three pla", "in words"), "' -c x"},
		{"a code of digits", "pin-code", "npm publish --otp ", fake("481", "516"), " --tag next"},
		{"a PIN in an environment", "pin-code", "export DEPLOY_PIN=", fake("8493", "0217"), "\n"},
		{"a PIN in YAML", "pin-code", "pin: ", fake("834", "921"), "\n"},
		{"a quoted PIN in YAML", "pin-code", "SIM_PIN: \"", fake("12", "34"), "\"\n"},
		{"a code of a second factor", "pin-code", "MFA_CODE=", fake("829", "104"), "\n"},
		{"an option of a second factor", "pin-code", "x login --mfa-code=", fake("829", "104"), ""},
		{"a pass code of digits", "pin-code", "x login --passcode ", fake("829", "104"), " --user y"},
		{"an option in an argument list", "password-option", `["mytool", "--password", "`, fake("hun", "ter-27"), `"]`},
		{"a list of settings", "password-connection-string", "Server=db;User Id=sa;Password=", pass, ";Encrypt=true"},
		{"a principal", "principal-password", "kadmin: addprinc -pw ", fake("riverx", "106Fox"), " ada\n"},
		{"a kept session", "principal-password", "[Passwords]\nssh22:ada@x=", fake("YqNtY1Hx511ljr06", "n4zC5cOmR+tgoSFL"), "\n"},
		{"a bouncer", "keyed-hash", "<Pass password>\nMethod = sha256\nHash = ", fake("53ae2fd63cce63e7c1457de612baf023", "c76ec6622cbd328eef331e91125e5c39"), "\nSalt = x\n"},
		{"a secret for a swarm", "secret-piped", "printf '", fake("Orchid_", "033Fox"), "' | docker secret create db_pass -\n"},
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

// plantings are forms of a secret in a transcript.
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

// newRandom returns a source of the same numbers for the same seed.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func mustLoad(t testing.TB, extra bool) *ruleSet {
	t.Helper()
	set, err := loadRules(Options{}, extra)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestWhatIsToldOrHandedOverIsRedacted(t *testing.T) {
	t.Parallel()
	checkGone(t, []string{
		// people
		"the API key for the weather thing: {{alnum33}}\n", "- **Maps API key**: `{{alnum33}}`\n", "WARN api key {{alnum40}} is about to expire",
		"log in with admin/{{camel}} and go on",
		"PW for the archive is {{weak}}", "Das Passwort lautet {{weak}}", "Le mot de passe est {{weak}}", "user ada, Kennwort {{camel}}", "The PSK is {{weak}}.",
		"I reset your password to \"{{camel}}\", please change it", "The demo account is **a**, password **{{camel}}**.", "ssh key passphrase - {{weak}}",
		// words
		"auth: { user: 'a', pass: 'korivelutumorand' }",
		// calls
		"let password = String::from(\"{{weak}}\");", "let(:password) { '{{weak}}' }", "Net::FTP.open('ftp.test', 'ada', '{{weak}}')", "$smtp->auth('ada@mail.test', '{{weak}}');",
		"r.setValue(\"{{uuid}}\", forHTTPHeaderField: \"X-API-Key\")", "r.setValue(\"Basic {{basic}}\", forHTTPHeaderField: \"Authorization\")", "proxy_set_header X-Api-Key {{alnum40}};", "open db.test:5432:*:ada:{{weak}}: no such file",
		// next to its name
		"PasswordPlain={{weak}}", "pop3pass={{weak}}", "DB_PASS ?= {{weak}}", "password: kori.velu28\n",
		"#define MQTT_PASS \"{{weak}}\"", "TOTP_SECRET = \"{{base32}}\"", "basic.auth.user.info=APP:{{alnum33}}",
		// servers and devices
		"user ada on >{{camel}} ~* +@all", "sentinel auth-pass main {{camel}}", ": RSA key.pem \"{{weak}}\"", "register => 123:{{camel}}@sip.test/1", "createUser ada SHA \"{{weak}}\" AES \"{{camel}}\"",
		"rocommunity {{camel}} 10.0.0.0/8", "echo 'db db/root_password password {{camel}}' | debconf-set-selections", "\toption key '{{camel}}'", "set snmp community {{camel}} authorization read-only",
		"334 UGFzc3dvcmQ6\n{{basic}}\n235 ok", "+334 UGFzc3dvcmQ6\n+{{basic}}\n", "S: 334 UGFzc3dvcmQ6\nC: {{basic}}\n", "printf '334 UGFzc3dvcmQ6\\r\\n{{basic}}\\r\\n'", "Password for the [elastic] user successfully reset.\nNew value: {{alnum33}}\n", "'Recovery key\nValue:   {{alnum33}} ' '-lc'",
		// commands
		"$ aws ssm get-parameter --name /db --query Parameter.Value --output text\n{{alnum33}}\n", "$ wg genkey\n{{base64}}\n", "mosquitto_passwd -b /etc/passwd ada {{camel}}",
		"mc alias set local http://x.test:9000 admin {{camel}}", "oathtool --totp -b {{base32}}", "doveadm pw -s CRYPT -p {{camel}}", "echo '{{camel}}' | sudo openconnect --passwd-on-stdin vpn.test",
		"irb(main):002:0> User.first.api_token\n=> \"{{alnum40}}\"\n",
		"User.update(password: bcrypt('{{weak}}'))", "az sql server create -u ada -p {{camel}}", "drush upwd admin \"{{camel}}\"",
		"{ \"primaryKey\": \"{{base64}}\" }", "$ bin/shop config:show payment/private_key\n{{hex32}}\n", "the Pre-shared key: {{weak}}",
		// addresses
		`{"url":"mysql:\/\/root:{{camel}}@db.test\/shop"}`, "https://chat.test/hooks/{{lower26}}", "https://hc-ping.com/{{uuid}}",
	}, "korivelu", "kori.velu28")
}

func TestAShellsVariableForAKeyTellsASecretByTheFormOfItsValue(t *testing.T) {
	t.Parallel()
	told := []string{fake("s3cr3t-", "Value-99"), fake("s3cr3t", "Value99"), fake("Zx9qLm", "N2aa"), "kor vel " + "tum", fake("kQzWxV", "bTnRp")}
	value := strings.NewReplacer("{1}", told[0], "{2}", told[1], "{3}", told[2], "{4}", told[3], "{5}", told[4])
	for _, form := range []string{
		"DEPLOY_KEY={1} make x", "SIGNING_KEY={2}", "AGE_KEY={3}", "GH_PAT={3}", "make deploy KEY={3}", "export RELEASE_KEY='{1}' && make",
		"docker run -e MAP_KEY={3} x", "env LICENSE_KEY=\"{2}\" x", "$ BOT_PAT={5} ./x", "HOME=/root\x00DEPLOY_KEY={3}\x00PORT=1", "DEPLOY_KEY={{base64}}",
		"DEPLOY_KEY={{small4}}7{{alnum24}}q", "PGPASSWORD='{4}' psql", "DB_PASS=\"{4}\"\n",
	} {
		checkGone(t, []string{value.Replace(form)}, told...)
	}
}

func TestASecretWithAnEqualsSignInItGoesAsAWhole(t *testing.T) {
	t.Parallel()
	one := "q9ZkuEF2" + "=vhTJKm84wnRp56xbs"
	many := strings.Repeat("api_key = kf83hKd93kdf"+"H38dkfQ2\n", 32+1)
	for _, text := range []string{"proxy_set_header X-Api-Key ", many + "proxy_set_header X-Api-Key "} {
		if out, _ := ours.Redact(text + one + ";\n"); !strings.HasSuffix(out, "proxy_set_header X-Api-Key [REDACTED:header-set];\n") {
			t.Errorf("redacted %q", out)
		}
	}
}

func TestSecretsThatTheirPlaceTellsAreRedacted(t *testing.T) {
	t.Parallel()
	checkGone(t, []string{
		// default values of variables
		"const secret = process.env.SECRET || '{{camel}}';", `const key = process.env.API_KEY ?? "{{alnum}}";`,
		"token = os.getenv('TOKEN') or '{{alnum}}'", `pwd = getpass.getpass() or "{{camel}}"`,
		"password: <%= ENV['X'] || '{{camel}}' %>", "password: ${RABBIT_PASSWORD:{{camel}}}", "X=${DB_PASSWORD:-{{weak}}}",
		`@Value("${api.key:{{alnum}}}") String key;`, "secret = ENV['JWT_SECRET'] || '{{camel}}'",
		// declarations with a type
		`var password: String? = "{{weak}}"`, `char pass[] = "{{camel}}";`, `public string Password { get; set; } = "{{strongplain}}";`,
		`password <- "{{camel}}"`, `const SECRET: &str = "{{alnum}}";`, `passwd := []byte("{{weak}}")`, `secretToken: String? = "{{alnum}}"`,
		"password = '''{{weak}}'''", `config.pepper = '{{hex128}}'`,
		// short names and weak values
		"db_pass: {{camel}}", "  admin_password = {{camel}}", "pw: {{camel}}", "LDAP_BIND_PW={{camel}}",
		// positional arguments
		`DriverManager.getConnection(url, "app", "{{weak}}")`, `mysqli_connect("db", "root", "{{weak}}", "shop")`,
		`pymysql.connect("db", "app", "{{camel}}", "shop")`, `new Sequelize('shop', 'app', '{{weak}}', {})`,
		`DBI->connect($dsn, "app", "{{camel}}")`, `smtp.PlainAuth("", "ada@mail.test", "{{strongplain}}", "mail.test")`,
		`http.basic_auth 'ada', '{{weak}}'`, `client.basic_auth("ada", Some("{{camel}}"))`, `db.auth("app", "{{camel}}")`,
		`WiFi.begin("net", "{{camel}}");`, `creds = ("app", "{{camel}}")`,
		`jwt.sign({ id }, '{{camel}}', { expiresIn: '1h' })`, `jwt.verify(t, "{{alnum}}")`, `jwt.encode(payload, "{{camel}}", algorithm="HS256")`,
		`JWT.encode payload, '{{camel}}', 'HS256'`, `token.SignedString([]byte("{{camel}}"))`, `sessions.NewCookieStore([]byte("{{alnum}}"))`,
		`secret := []byte("{{alnum}}")`, `new SecretKeySpec("{{alnum16}}".getBytes(), "AES")`, `.signWith(SignatureAlgorithm.HS256, "{{alnum}}")`,
		`crypto.createCipheriv('aes-256-cbc', '{{alnum}}', iv)`, `openssl_encrypt($d, 'aes-256-cbc', '{{alnum}}')`,
		`var key = Encoding.UTF8.GetBytes("{{alnum}}");`, `new AuthenticationHeaderValue("Bearer", "{{alnum}}")`,
		`fill_in 'Password', with: '{{camel}}'`, `page.fill('input[type="password"]', '{{weak}}')`,
		`cy.get('input[name=password]').type('{{strongplain}}')`,
		// output and sentences
		"[password] => {{camel}}\n", `["password"]=> string(12) "{{weak}}"`, "{Username:app Password:{{camel}} Host:db}",
		"A temporary password is generated for root@localhost: {{strongplain}}", "credentials: admin:{{weak}}\n", "SMTP_CREDENTIALS=ada:{{camel}}\n",
		"log in with user admin and password {{weak}}", "it uses the password {{weak}} now", "use the api key {{alnum}} and go on",
		"I set `DB_PASSWORD` to `{{weak}}`.", "$ pass show shop/db\n{{strongplain}}\n", "$ openssl rand -hex 32\n{{hex64}}\n",
		"$ cat /run/secrets/db_password\n{{alnum16}}\n", "$ terraform output db_password\n\"{{strongplain}}\"\n",
		`MNEMONIC="kor vel tum ran dok lim saf ber nor pel wim tas"`,
	}, "kor vel tum")
}

func TestAPasswordOfLettersIsRedactedWhereOnlyAValueStands(t *testing.T) {
	t.Parallel()
	checkGone(t, []string{
		"production:\n  adapter: mysql2\n  password: \"{{word}}\"\n", "$cfg['Servers'][$i]['password'] = '{{word}}';", "spring.security.user.password={{word}}\n", "password = {{word}}\n",
		"environment:\n  MYSQL_PASSWORD: {{word}}\n  MYSQL_USER: app\n", "<Pass>{{word}}</Pass>", "<user name=\"ada\" password=\"{{word}}\" roles=\"admin\"/>", "<property name=\"hibernate.connection.password\">{{word}}</property>",
		"CREATE USER ada WITH PASSWORD '{{word}}';", "set smtp_pass='{{word}}'", "keyPassword \"{{word}}\"", "session.setPassword(\"{{word}}\");", "ssh.connect('h', username='root', password='{{word}}')",
		"my %conf = ( user => 'adm', password => '{{word}}' );", "ada\tUser-Password == \"{{word}}\"", "mysql --user=root --password={{word}} -e 'show tables'", "jwt_key_pass_phrase: {{word}}\n",
		"poll imap.test protocol IMAP username \"ada\" password {{word}}\n", "$db = new mysqli(\"127.0.0.1\", \"adm\", \"{{word}}\", \"shop\");",
		"irc.command = \"/msg nickserv identify {{word}}\"",
		"protocol=noip, login=bob, password={{word}} home.test\n", "login=bob,password={{word}}", "connect(\"host=h user=bob password={{word}}\")", "airflow users create --username admin --password {{word}} --role Admin", "\toption key '{{word}}'\n", "<keyMaterial>{{word}}</keyMaterial>", "#define WIFI_PASS \"{{word}}\"",
		"char pass[] = \"{{word}}\";", "machine smtp.test port 587 login ada password {{word}}\n", "password: {{word}}spring\n",
		"grant all on a.* to b@localhost identified by '{{word}}';", "define(\"DB_PASS\", \"{{word}}\");", "set :scm_passphrase, \"{{word}}\"",
	})
}

func TestPasswordsMadeOfWordsOrOfLettersAreRedacted(t *testing.T) {
	t.Parallel()
	checkGone(t, []string{
		"  password: {{twowords}}\n", "password = \"{{twowords}}\"\n", "\"pass\": \"{{twowords}}\",", "<Pass>{{twowords}}</Pass>", "<user name=\"a\" password=\"{{twowords}}\"/>", "mysql --user=root --password='{{twowords}}' x\n",
		"  password: {{joined}}\n", "MYSQL_ROOT_PASSWORD: {{joined}}\n", "vncviewer -password {{joined}} 10.0.0.2:1\n", "bind_pw = {{joined}}\n", "AuthPass={{twowords}}\n",
		"spring.mail.password: {{wordnumber}}\n", "  adminPassword: {{wordnumber}}\n", "'PASSWORD': '{{mixed}}',", "\"host=db user=app password={{mixed}} dbname=app\"", "$dbpass = '{{mixed}}';", "\"password\": \"{{groups}}\",", "user=app password={{groups}} to db\n",
		"CREATE USER 'a'@'%' IDENTIFIED BY '{{twowords}}';", "CREATE LOGIN [a] WITH PASSWORD = N'{{twowords}}', X;", "    var password: String = \"{{twowords}}\"", "ENV DB_PASS {{word}}\n", "masterauth {{twowords}}\n",
		"set wpa2-pre-shared-key=\"{{twowords}}\"\n", "10.0.0.1 : PSK \"{{twowords}}\"\n", "s.send(b\"PASS {{wordnumber}}\\r\\n\")", "a_password={{twowords}}\nb_password={{twowords}}\nc_password={{twowords}}\n",
		// settings and calls
		"passwd2={{hex16}}7a\n", "mysql_real_connect(conn, \"db.test\", \"webapp1\", \"{{weak}}\", \"shop\", 0, NULL, 0)", "mysqli_real_connect($l, 'db', 'webapp1', '{{weak}}', 'shop2')",
		"let basicAuth = (\"app\", \"{{weak}}\")", "CONNECT system/{{weak}}@//db.test:1521/ORCL\n", "conn app/{{strongplain}}@PROD\n",
		"\"ada\"	*	\"Banana55$\"	10.0.0.5\n", "$ cat config/master.key\n{{hex32}}\n",
		"Const ADMIN_PWD As String = \"{{weak}}\"", "val auth = Credentials.basic(\"ada\", \"{{weak}}\")", "c.connect('db.test', 22, 'webapp1', '{{weak}}')", "c.connect('db.test', 22, 'root', '{{twowords}}')", "local db = driver.mysql():connect(\"shop\", \"root\", \"{{weak}}\", \"db.test\")",
		"$db = new PDO($dsn, 'root', '{{twowords}}');", "expect \"assword:\" { send \"{{strongplain}}\\r\" }", "machine smtp.test login ada port 587 password {{weak}}\n", "   - password :: {{weak}}\n", "<pre-shared-key>{{word}}</pre-shared-key>",
		"    - service_key: {{hex32}}\n", "api:\n  encryption:\n    key: \"{{base64}}\"\n",
		"java -jar jenkins-cli.jar -s $URL -auth ada:{{hex32}} build x", "  app:dbPassword: {{joined}}\n", "\tsmtppass = {{twowords}}\n", "d-i passwd/root-password-again password {{twowords}}\n", "radius-server host 10.0.0.2 key \"{{twowords}}\"\n",
		"$wgUpgradeKey = \"8f3a1c9be27d4056\";", "PasswordPOP3={{weird}}\n", "* wifi pass -> {{weird}}\n", "the old key was {{alnum40}}, gone", "the password was changed to {{wordnumber}}.",
		"//10.0.0.2/x /mnt cifs username=ada,password={{twowords}},uid=1 0 0\n", "drpass { restart \"{{weak}}\"; die \"{{weak}}\"; }", "db.auth('app', '{{wordnumber}}');", "crypto isakmp key {{word}} address 10.0.0.2\n", "CONNECT system/{{twowords}}@//db.test/X\n", "stats auth admin:{{twowords}}\n",
		"beaker.session.secret = {{twowords}}\n", "Group/Title;Username;Password;URL\nWeb;ada;{{camel}};https://a.test\n",
	}, "Banana55", "8f3a1c9be27d4056")
}

func TestValuesThatStandApartFromTheirNamesAreRedacted(t *testing.T) {
	t.Parallel()
	checkGone(t, []string{
		"env:\n  - name: POSTGRES_PASSWORD\n    value: {{weak}}\n  - name: PORT\n    value: 80\n",
		"  - name: JWT_SECRET\n    value: \"{{alnum}}\"\n",
		"- name: adminPassword\n  value: {{camel}}\n",
		"- name: API_TOKEN\n  type: string\n  value: {{hex40}}\n",
		`{"environment":[{"name":"DB_PASSWORD","value":"{{weak}}"},{"name":"PORT","value":"80"}]}`,
		`{"key":"password","enabled":true,"type":"text","value":"{{strongplain}}"}`,
		"{\n  \"key\": \"api_token\",\n  \"value\": \"{{hex40}}\"\n}\n",
		`{"name":"Cookie","value":"sid={{alnum}}; theme=dark"}`,
		`{"name":"Authorization","value":"Basic {{basic}}"}`,
		`{"key":"X-API-Key","value":"{{alnum}}"}`,
		`{"ParameterKey":"DbPassword","ParameterValue":"{{weak}}"}`,
		"[[env]]\nname = \"DB_PASSWORD\"\nvalue = \"{{weak}}\"\n",
		`env: [{ name: 'DB_PASSWORD', value: '{{weak}}' }]`,
		"| user | Password |\n|------|:--------:|\n| ada | `{{weak}}` |\n| bob | **{{strongplain}}** |\n",
		"+------+----------+\n| name | password |\n+------+----------+\n| ada  | {{weak}} |\n+------+----------+\n",
		" id | login | api_token\n----+-------+-----------\n  1 | ada   | {{hex40}}\n",
		"┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ ada  │ {{camel}} │\n└──────┴──────────┘\n",
		"url,username,password,note\nhttps://a.test,ada,{{weak}},x\nhttps://b.test,bob,\"{{strongplain}}\",\n",
		"name\ttoken\nci\t{{hex40}}\n",
		"Access key ID,Secret access key\n{{awsid}},{{aws}}\n",
		" id | api_key | reset\n----+---------+-------\n  1 | {{hex40}} |\n",
		"id|token\n1|{{alnum40}}\n2|{{hex40}}\n",
	})
}

func TestWhatNULsSeparateIsRedacted(t *testing.T) {
	t.Parallel()
	forms := []string{
		// the environment of a process
		"HOME=/root|DB_PASSWORD={{weak}}|PORT=1|", "PATH=/bin|AWS_SECRET_ACCESS_KEY={{alnum40}}|_=/bin/env|", "API_TOKEN={{hex32}}|", "A=b c|DATABASE_URL=postgres://app:{{camel}}@db.test/shop|B=c|",
		"PGPASSWORD={{camel}}|PGUSER=ada|", "A=1|NPM_TOKEN={{uuid}}|", "X=y|REDIS_PASSWORD={{camel}}||",
		// the arguments of a process
		"server|--token|{{alnum33}}|--port|80|", "tool|--api-key|{{hex32}}|", "tool|--password|{{weak}}|-v|", "tool|--password={{weak}}|-v|", "curl|-u|ada:{{camel}}|https://x.test|",
		"curl|-H|Authorization: Bearer {{alnum40}}|https://x.test|", "mysql|-uroot|-p{{camel}}|shop|", "sshpass|-p|{{camel}}|ssh|x.test|", "redis-cli|-a|{{camel}}|ping|", "psql|postgres://app:{{camel}}@db.test/shop|",
	}
	for _, between := range []string{"\x00", "\uFFFD"} {
		checkGone(t, strings.Split(strings.ReplaceAll(strings.Join(forms, "\n"), "|", between), "\n"))
	}
}
