package secrets

import (
	"strings"
	"testing"
)

// leftIn redacts a text whose placeholders are filled, alone, among other lines and in
// JSON, and tells of each value that is left.
func leftIn(t *testing.T, n int, form string) {
	t.Helper()
	m := maker{newRandom(uint64(n))}
	var leaked []string
	text := placeholder.ReplaceAllStringFunc(form, func(p string) string {
		value := ""
		switch kind := p[2 : len(p)-2]; kind {
		case "descrypt":
			value = m.text(crypted, 11) + m.text(uppers, 1) + m.text(numbers, 1)
		case "HEX32":
			value = strings.ToUpper(m.text(hexes, 32))
		case "pin":
			value = m.text("3456789", 6)
		case "at":
			value = "Ko@" + m.word(2) + m.text(numbers, 3)
		case "b64bytes":
			value = m.base64(64)
		default:
			value, _ = m.value(kind)
		}
		leaked = append(leaked, value)
		return value
	})
	leaked = append(leaked, "dimo_1983", "d14m0ndwint43", "bakaka2989")
	checkGone(t, text, leaked)
}

func TestAPasswordOfLettersIsRedactedWhereOnlyAValueStands(t *testing.T) {
	t.Parallel()
	for n, text := range []string{
		"production:\n  adapter: mysql2\n  password: \"{{word}}\"\n", "$cfg['Servers'][$i]['password'] = '{{word}}';", "spring.security.user.password={{word}}\n", "password = {{word}}\n",
		"environment:\n  MYSQL_PASSWORD: {{word}}\n  MYSQL_USER: app\n", "<Pass>{{word}}</Pass>", "<user name=\"ada\" password=\"{{word}}\" roles=\"admin\"/>", "<property name=\"hibernate.connection.password\">{{word}}</property>",
		"CREATE USER ada WITH PASSWORD '{{word}}';", "set smtp_pass='{{word}}'", "keyPassword \"{{word}}\"", "session.setPassword(\"{{word}}\");", "ssh.connect('h', username='root', password='{{word}}')",
		"my %conf = ( user => 'adm', password => '{{word}}' );", "ada\tUser-Password == \"{{word}}\"", "mysql --user=root --password={{word}} -e 'show tables'", "jwt_key_pass_phrase: {{word}}\n",
		"poll imap.test protocol IMAP username \"ada\" password {{word}}\n", "$db = new mysqli(\"127.0.0.1\", \"adm\", \"{{word}}\", \"shop\");",

		"irc.command = \"/msg nickserv identify {{word}}\"",
		"protocol=noip, login=bob, password={{word}} home.test\n", "login=bob,password={{word}}", "connect(\"host=h user=bob password={{word}}\")", "airflow users create --username admin --password {{word}} --role Admin", "\toption key '{{word}}'\n", "<keyMaterial>{{word}}</keyMaterial>", "#define WIFI_PASS \"{{word}}\"",
		"char pass[] = \"{{word}}\";", "machine smtp.test port 587 login ada password {{word}}\n", "password: {{word}}spring\n",
		"grant all on a.* to b@localhost identified by '{{word}}';", "define(\"DB_PASS\", \"{{word}}\");", "set :scm_passphrase, \"{{word}}\"",
	} {
		leftIn(t, n, text)
	}
}
