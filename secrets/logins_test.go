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
		checkGone(t, text, append(values, "8f3a1c9be27d4056", "Banana55"))
	}
}
