package secrets

import (
	"strings"
	"testing"
)

// filled replaces the placeholders of a form and returns the values, too.
func filled(n int, form string) (text string, values []string) {
	m := maker{newRandom(uint64(n))}
	text = placeholder.ReplaceAllStringFunc(form, func(p string) string {
		var value string
		switch kind := p[2 : len(p)-2]; kind {
		case "twowords":
			value = "Kor" + m.word(1) + "Vel" + m.word(1)
		case "joined":
			value = "Kor" + m.word(1) + "_Vel" + m.word(1) + m.text(numbers, 1)
		case "wordnumber":
			value = m.word(4) + m.text(numbers, 1)
		case "mixed":
			value = m.text(lowers, 3) + m.text(uppers, 1) + m.text(lowers, 1) + m.text(uppers, 3) + m.text(lowers, 2)
		case "groups":
			value = m.text(lowers, 2) + m.text(uppers, 3) + "-" + m.text(uppers, 2) + m.text(lowers, 3) + "-" + m.text(lowers, 3) + m.text(uppers, 2)
		case "words":
			value = "kori velu tumo rand"
		case "hyphened":
			value = "miro-tavi-nolu"
		case "three":
			value = "kori velu tumo"
		case "mysql":
			value = "*" + strings.ToUpper(m.text(hexes, 40))
		case "scram":
			value = "SCRAM-SHA-" + "256$4096:" + m.base64(16) + "$" + m.base64(32) + ":" + m.base64(32)
		case "marked":
			value = "!Kor" + m.word(1) + m.text(numbers, 1)
		default:
			value, _ = m.value(kind)
		}
		values = append(values, value)
		return value
	})
	return text, values
}

func TestPasswordsMadeOfWordsOrOfLettersAreRedacted(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for n, form := range []string{
		"  password: {{twowords}}\n", "password = \"{{twowords}}\"\n", "\"pass\": \"{{twowords}}\",", "<Pass>{{twowords}}</Pass>", "<user name=\"a\" password=\"{{twowords}}\"/>", "mysql --user=root --password='{{twowords}}' x\n",
		"  password: {{joined}}\n", "MYSQL_ROOT_PASSWORD: {{joined}}\n", "vncviewer -password {{joined}} 10.0.0.2:1\n", "bind_pw = {{joined}}\n", "AuthPass={{twowords}}\n",
		"spring.mail.password: {{wordnumber}}\n", "  adminPassword: {{wordnumber}}\n", "'PASSWORD': '{{mixed}}',", "\"host=db user=app password={{mixed}} dbname=app\"", "$dbpass = '{{mixed}}';", "\"password\": \"{{groups}}\",", "user=app password={{groups}} to db\n",
		"CREATE USER 'a'@'%' IDENTIFIED BY '{{twowords}}';", "CREATE LOGIN [a] WITH PASSWORD = N'{{twowords}}', X;", "    var password: String = \"{{twowords}}\"", "ENV DB_PASS {{word}}\n", "masterauth {{twowords}}\n",
		"set wpa2-pre-shared-key=\"{{twowords}}\"\n", "10.0.0.1 : PSK \"{{twowords}}\"\n", "s.send(b\"PASS {{wordnumber}}\\r\\n\")", "a_password={{twowords}}\nb_password={{twowords}}\nc_password={{twowords}}\n",
		// phrases

		// settings and calls
		"passwd2={{hex16}}7a\n", "mysql_real_connect(conn, \"db.test\", \"webapp1\", \"{{weak}}\", \"shop\", 0, NULL, 0)", "mysqli_real_connect($l, 'db', 'webapp1', '{{weak}}', 'shop2')",
		"let basicAuth = (\"app\", \"{{weak}}\")", "CONNECT system/{{weak}}@//db.test:1521/ORCL\n", "conn app/{{strongplain}}@PROD\n",
		"\"ada\"	*	\"Banana{{pin}}$\"	10.0.0.5\n", "$ cat config/master.key\n{{hex32}}\n",
		"Const ADMIN_PWD As String = \"{{weak}}\"", "val auth = Credentials.basic(\"ada\", \"{{weak}}\")", "c.connect('db.test', 22, 'webapp1', '{{weak}}')", "c.connect('db.test', 22, 'root', '{{twowords}}')", "local db = driver.mysql():connect(\"shop\", \"root\", \"{{weak}}\", \"db.test\")",
		"$db = new PDO($dsn, 'root', '{{twowords}}');", "expect \"assword:\" { send \"{{strongplain}}\\r\" }", "machine smtp.test login ada port 587 password {{weak}}\n", "   - password :: {{weak}}\n", "<pre-shared-key>{{word}}</pre-shared-key>",
		"    - service_key: {{hex32}}\n", "api:\n  encryption:\n    key: \"{{base64}}\"\n",
		"java -jar jenkins-cli.jar -s $URL -auth ada:{{hex32}} build x", "  app:dbPassword: {{joined}}\n", "\tsmtppass = {{twowords}}\n", "d-i passwd/root-password-again password {{twowords}}\n", "radius-server host 10.0.0.2 key \"{{twowords}}\"\n",
		"$wgUpgradeKey = \"8f3a1c9be27d4056\";", "PasswordPOP3={{weird}}\n", "* wifi pass -> {{weird}}\n", "the old key was {{alnum40}}, gone", "the password was changed to {{wordnumber}}.",
		"//10.0.0.2/x /mnt cifs username=ada,password={{twowords}},uid=1 0 0\n", "drpass { restart \"{{weak}}\"; die \"{{weak}}\"; }", "db.auth('app', '{{wordnumber}}');", "crypto isakmp key {{word}} address 10.0.0.2\n", "CONNECT system/{{twowords}}@//db.test/X\n", "stats auth admin:{{twowords}}\n",
		"beaker.session.secret = {{twowords}}\n", "Group/Title;Username;Password;URL\nWeb;ada;{{camel}};https://a.test\n",
	} {
		form = strings.ReplaceAll(form, "{{hex16}}", "{{hexed16}}")
		form = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(form, "{{hexed16}}", "8f3a1c9be27d4056"), "{{hex20}}", "{{hex32}}"), "{{pin}}", "55")
		text, values := filled(n, form)
		checkGone(t, s, text, append(values, "8f3a1c9be27d4056", "Banana55"))
	}
	for _, text := range []string{
		"password: InputPassword\n", "password = \"PasswordField\"\n", "password: someValue2\n", "type=\"Password\"", "password: \"ShowHide\"", "PASSWORD=GetValue\n", "password: 'enter a new password here'", "\"password\": \"passwords do not match\"",
		"the passphrase is `never stored on the disk`", "password: the one that you were given\n", "passphrase: required for encrypted keys\n", "my passphrase is lost\n", "PASSWORD=\"Enter it here\"\n", "<password>some text of the page</password>", "DB_PASSWORD=db-password-of-the-vault\n", "--password \"the same as before\"", "password, \"getUserById\"", "<password>PasswordText</password>", "password: user_name2\n", "connect app/server@v2.1.0\n", "Connect to a/b2c@home, then", "passwd = readPassword1\n", "password := FieldValue1\n",
		"mysqli_real_connect($l, 'db', 'app', $password, 'shop2')", "echo user logged in > log\n", "auth_server : PSKs are kept\n", "\"ada\" \"v2.1\"\n",
		"// issue 50987\n", "https://a.test/davis ada bob\n", "Const X As String = \"value\"", "c.connect('db.test', 22, 'root', password)", "the \"password\" { sends it", "<psk>required</psk>", "encryption:\n  key: main\n", "  password = FieldNames\n", "in cleartext \"as it is\"",
		"service_key: name-of-it\n", "{cookie, Value}", "SECRET=default\n", "password FieldName\n", "client.auth('app', 'readWrite')", "drpass { restart \"\"; }", "credentials: {mode: sameOrigin, x: \"SameOrigin\"}", "curl -u user-name-of-the-service: x\n", "the new key was " + strings.Repeat("8f3a1c9b", 5) + " then", "password -> String\n", "login serveradmin first\n",
	} {
		if out, counts := s.Redact(text); out != text {
			t.Errorf("%q became %q, %v", text, out, counts)
		}
	}
}
