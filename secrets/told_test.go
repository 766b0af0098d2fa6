package secrets

import (
	"strconv"
	"strings"
	"testing"
)

func TestWhatIsToldOrHandedOverIsRedacted(t *testing.T) {
	t.Parallel()
	for n, text := range []string{
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
		// beside its name

		"PasswordPlain={{weak}}", "pop3pass={{weak}}", "DB_PASS ?= {{weak}}", "password: kori.velu28\n",
		"#define MQTT_PASS \"{{weak}}\"", "TOTP_SECRET = \"{{base32}}\"", "basic.auth.user.info=APP:{{alnum33}}",

		// servers and devices
		"user ada on >{{camel}} ~* +@all", "sentinel auth-pass main {{camel}}", ": RSA key.pem \"{{weak}}\"", "register => 123:{{camel}}@sip.test/1", "createUser ada SHA \"{{weak}}\" AES \"{{camel}}\"",
		"rocommunity {{camel}} 10.0.0.0/8", "echo 'db db/root_password password {{camel}}' | debconf-set-selections", "\toption key '{{camel}}'", "set snmp community {{camel}} authorization read-only",
		"334 UGFzc3dvcmQ6\n{{basic}}\n235 ok", "+334 UGFzc3dvcmQ6\n+{{basic}}\n", "S: 334 UGFzc3dvcmQ6\nC: {{basic}}\n", "printf '334 UGFzc3dvcmQ6\\r\\n{{basic}}\\r\\n'", "Password for the [elastic] user successfully reset.\nNew value: {{alnum33}}\n", "'Recovery key\nValue:   {{alnum33}} ' '-lc'",
		// commands
		"$ aws ssm get-parameter --name /db --query Parameter.Value --output text\n{{alnum33}}\n", "$ wg genkey\n{{b32bytes}}\n", "mosquitto_passwd -b /etc/passwd ada {{camel}}",
		"mc alias set local http://x.test:9000 admin {{camel}}", "oathtool --totp -b {{base32}}", "doveadm pw -s CRYPT -p {{camel}}", "echo '{{camel}}' | sudo openconnect --passwd-on-stdin vpn.test",
		"irb(main):002:0> User.first.api_token\n=> \"{{alnum40}}\"\n",
		"User.update(password: bcrypt('{{weak}}'))", "az sql server create -u ada -p {{camel}}", "drush upwd admin \"{{camel}}\"",
		"{ \"primaryKey\": \"{{b32bytes}}\" }", "$ bin/shop config:show payment/private_key\n{{hex32}}\n", "the Pre-shared key: {{weak}}",
		// addresses
		`{"url":"mysql:\/\/root:{{camel}}@db.test\/shop"}`, "https://chat.test/hooks/{{hook}}", "https://hc-ping.com/{{uuid}}",
	} {
		m := maker{newRandom(uint64(n))}
		leaked := []string{"kori velu", "korivelu", "kori-velu", "kori.velu28"}
		text := placeholder.ReplaceAllStringFunc(text, func(p string) string {
			value := ""
			switch kind := p[2 : len(p)-2]; kind {
			case "b32bytes":
				value = m.base64(32)
			case "b64bytes":
				value = m.base64(64)
			case "hook":
				value = m.text(lowers+numbers, 26)
			default:
				value, _ = m.value(kind)
			}
			leaked = append(leaked, value)
			return value
		})
		checkGone(t, text, leaked)
	}
}

// checkGone redacts a text, by itself, among other lines and in JSON, and looks for what must be
// gone.
func checkGone(t *testing.T, text string, leaked []string) {
	t.Helper()
	for _, text := range []string{text, "a line\n" + text + "\nanother\n", `{"output":` + strconv.Quote("x\n"+text+"\ny") + `}`} {
		out, _ := ours.Redact(text)
		for _, value := range leaked {
			if strings.Contains(out, value) {
				t.Errorf("%s is left in %s", value, out)
			}
		}
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
