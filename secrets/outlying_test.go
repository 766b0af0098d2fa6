package secrets

import (
	"strings"
	"testing"
)

func TestWhatIsLikeSecretsOfTestsNotesAndToolsStays(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for _, text := range []string{
		"<input value=\"Sign-in\" id=\"reset-password\">", "<option value=\"none\" name=\"secret\">", "<a value=\"{{ password }}\" name=\"password\">", "<input value=\"Password2\" name=\"password\">",
		"r.addValue(\"application/json2\", forHTTPHeaderField: \"Content-Type\")", "{{ password | password_hash('sha512') }}", "'{{ user }}' | password_hash",
		"And I enter \"something\" into the \"Password\" field", "When I fill in \"Password\" with \"<password>\"", "I fill in \"Password\" with \"password1\"",
		"${PASSWORD}    ${EMPTY}\n", "${PASSWORD}    password\n", "${TOKEN}    Get Token    user2\n", "    Input Password    id=pass    ${PASSWORD}\n", "    Input Text    id=user2    ada77\n", "cp ${TOKEN}  ${DIR}\n",
		"ssh.connect('10.0.0.2', 22, 'root', password)", "FTP(\"ftp.acme.test\", user, password)", "keyring.set_password(service, user, password)",
		"- **API key:** see the vault for it", "**Token:** the value of a header", "**Token:** `identifier-of-a-thing`", "**admin** / **users**", "- **Secret:** name-of-the-secret-in-the-vault",
		"the password for users is hashed", "the password is base64-encoded", "my password was 16-char", "the new password will be sent by mail", "the root pass is O(n2)", "the db password is config.password2", "the user password is in v2.13",
		"the pass is 3x faster", "the server pass = pass2", "my pass: 2nd", "(pw 8chars)", "the first pass is 1.5x slower", "the password is utf8.", "the admin password is at least 8characters",
		"backup codes: none", "the recovery code for 2031-01-02", "recovery code: 404", "error codes: ab12-cd34", "Recovery codes are 10 codes of 8 digits", "backup code in store-2/main-3.go",
		"user = \"www-data:www-data\"\n", "user: \"1000:1000\"\n", "user = \"1000:1000\"\n", "user = \"${UID}:${GID}\"\n", "user = \"ns:system2\"\n",
		"{oldPassword: password1, newPassword: password2}", "{userPassword: req.body.password1}", "{dbPass: string, n: 1}", "{ confirmPassword: hash2, b }", "{dbPassword: getSecret2, b: 1}",
		"QStringLiteral(\"password\")", "password = QStringLiteral(\"Password\")", "cookie_secret = bytes.fromhex(value)", "masterSecret := fromHex(\"" + "8A43D787EE3804EAD4A2A5B3" + "2972F9896B696295645D7222" + "\")", "password:: std.extVar('password1')", "{password, <<\"password\">>}", "{token, value2}",
		"search(\"cn=admin,dc=acme\", \"cn=b2,dc=acme\")", "search(\"cn=admin\", \"(uid=ada2)\")", "(\"cn=admin\", \"memberOf\")", "DB_PASS := $(shell cat pass2)\n", "TOKEN := token\n", "SECRET := ./secret2.txt\n", "API_KEY ?= $(KEY2)\n",
		"\"key\" -> \"the-name-of-some-value-2\"", "gateway.privateKey('name-of-the-key-in-it')", "Password (again): repeat", "password (optional): string2", "http 10.0.0.1 1080\n", "deploy --auth some-plugin-name-of-length-2", "btoa(\"user:password\")", "b64encode(b'content-type:text2')", "btoa(user + \":\" + pass2)", "x.set(\"value1\", forKey: \"name\")",
		"\"auth\": \"basic\"", "\"auth\": \"oauth2Client\"", "\"auth\": \"getUserAuthToken\"", "\"auth\": \"bearer-token-v2\"", "here_is_a_thing_that_is_long_enough_to_be_one",
	} {
		if out, counts := s.Redact(text); out != text {
			t.Errorf("%q became %q, %v", text, out, counts)
		}
	}
	if out, _ := s.Redact(`{"recovery_codes":["ab123-cd456","ef789-gh012"],"n":1}`); strings.Count(out, `"`)%2 != 0 || !strings.HasSuffix(out, `],"n":1}`) {
		t.Errorf("redacted %q", out)
	}
}
