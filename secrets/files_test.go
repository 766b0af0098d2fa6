package secrets

import (
	"strings"
	"testing"
)

// leftIn redacts a text whose placeholders are filled, alone, among other lines and in
// JSON, and tells of each value that is left.
func leftIn(t *testing.T, s *Scanner, n int, form string) {
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
	checkGone(t, s, text, leaked)
}

func TestAPasswordOfLettersIsRedactedWhereOnlyAValueStands(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
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
		leftIn(t, s, n, text)
	}
}

func TestWhatOnlyLooksLikeAFileOfPasswordsStays(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for _, text := range []string{
		"password: string\n", "password = getpassword\n", "type: password\n", "  password: required\n", "password: userinput", "if password == \"something\" {", "Pass 'parameters' and 'arguments'", "passwd = readpassword\n", "'password' => 'nullable'",
		"password: Optional[SecretStr] = None\n", "label for=\"password\">Password</label>", "secret: \"application\"", "secretName: kubernetes", "SECRET: generated\n", "jwt.verify(token, publickey)", "jwt.sign(payload, 'yoursecret')",
		"user name pass through", "the username and password combination", "login with password protection", "root passes v2.1", "is the password right?\nit's in the vault\n", "GPIO PIN 13", "pin 1: ground", "see PINs 4 to 8",
		"main.go:10:20: undefined", "node:18-alpine", "ada:x:1001:1001:Ada:/home/ada:/bin/sh", "daemon:*:18212:0:99999:7:::", "com2sec readonly default public\n", "rocommunity public localhost\n", "a[1]:22 x:y\n", "mail.test    relay:[smtp.test]:587\n",
		"imp from/where", "exp 2/3", "sqlplus / as sysdba", "line 12\n password field\n", "quote the password", "100 => 200,Ada", "github(\"https://github.test/some/repository\")", "OAuthHandler('the-name-of-a-client')", "Github(\"repository-of-the-project\")",
		"environ['API_KEY'] = 'name-of-the-key'", "<key>CFBundleKey</key><string>com.acme.the.name.of.a.thing</string>", "slack: engineering\n", "open -u web ftp.test", "read the code name as the password of", "credentials are stored/kept", "a simple password simple", "\"master\": \"main\"", "newUint64", "password: newUint64", "password: util.sha256", "secret=none\n", "chown root:wheel2 x", "root:x:0:0:root:/root:/bin/sh", "image admin:v2.1.0", "Pass: TestThing\n", "a@mail.test - 2031-01-02\n", "**x**: linux / amd64", "is the pw?\nBob: no\n", "the wifi is down", "user=ada:staff\n", "name = thing, user\n", "signing-key: aes-256\n", "cpanel: ada/files\n", "a.test / b / c\n", "seed: 42\n", "'ada@mail.test','2031-01-02'",
	} {
		if out, counts := s.Redact(text); out != text {
			t.Errorf("%q became %q, %v", text, out, counts)
		}
	}
}
