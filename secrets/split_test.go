package secrets

import (
	"strings"
	"testing"
)

func TestAValueThatALineEndSplitsGoesAsAWhole(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(23)}
	for name, end := range map[string]string{"a line end": "\n", "an indented line": "\n    ", "a shell": "\\\n", "a mail": "=\n", "Windows": "\r\n"} {
		for _, told := range []string{
			"use {} for it\n", "Authorization: Bearer {}\n", "api_key = \"{}\"\n", "export API_TOKEN={}\nmake\n",
		} {
			value := "gh" + "p_" + m.text(letters, 36)
			text := "before\n" + strings.Replace(told, "{}", value[:19]+end+value[19:], 1) + "after it all is fine\n"
			for form, text := range map[string]string{"as it is": text, "JSON": asJSON(text)} {
				out, _ := ours.Redact(text)
				if strings.Contains(out, value[4:19]) || strings.Contains(out, value[19:]) || !strings.Contains(out, "after it all is fine") {
					t.Errorf("%s, %s: left in %q", name, form, out)
				}
				if strings.Count(out, "\n") != strings.Count(text, "\n") {
					t.Errorf("%s, %s: other lines in %q", name, form, out)
				}
			}
		}
	}
	for _, text := range []string{
		"the version is 20310212abcdef\nabc123def is another\n", "\tTIOCSETVERAUTH = 0x8004741c\n\tTIOCSFLAGS2     = 0x8004\n",
		"sha256 " + m.text(hexes, 64) + "\n" + m.text(hexes, 64) + "\n",
	} {
		if out, _ := ours.Redact(text); out != text {
			t.Errorf("%q became %q", text, out)
		}
	}
}

// firstLines end in a value. The next line may be its rest.
var firstLines = []string{
	"https://h.test/x?token={}", "password: {}", "DB_PASSWORD={}", "Authorization: Bearer {}", "api_key = {}", "the password is {}",
	"--token {}", "SECRET_KEY={}", "export API_TOKEN={}",
}

func TestTheLineBehindASecretStays(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(37)}
	lines := strings.Fields("README.md admin root2 localhost config.yaml Makefile main.go package-lock.json v2.3.1 2.31.0 web-01 db1.internal " +
		"total TestLogin getUserById OAuth2Client XMLHttpRequest utf8mb4 x86_64 k8s-prod i18n arm64v8 ec2-user prod-eu-west-1 S3_BUCKET " +
		"api2.acme.test 192.168.0.12 2031-11-28 20311128 123456789 0x1d5c07 ./run2.sh /etc/init.d feature/login-form2 build-1234 " +
		"{{hex7}} {{hex12}} {{hex32}} {{hex40}} {{hex64}} {{uuid}} ./.git/objects/1b/{{hex38}} app-{{digits4}}.tar.gz Ubuntu-24.04-LTS " +
		"github.com/google/go-cmp@v0.7.0 TLSv1.3 aes-256-gcm IMG_2041.jpg libssl1.1 {{word}} {{weak}} {{dashed}}")
	for _, first := range firstLines {
		for _, value := range []string{"hunter2hunter3", "{{alnum20}}", "{{alnum32}}", "{{b64-43}}", "{{nano43}}", "{{lower28}}", "{{githubpat}}", "Kor{{syllables2}}!7", "{{syllables4}}"} {
			for _, line := range lines {
				for _, end := range []string{"", "\n", "\nthe end\n"} {
					next, _ := m.fill(line)
					secret, _ := m.fill(value)
					text := "x\n" + strings.Replace(first, "{}", secret, 1) + "\n" + next + end
					if out, _ := ours.Redact(text); !strings.HasSuffix(out, "\n"+next+end) {
						t.Errorf("%q became %q", text, out)
					}
				}
			}
		}
	}
}

func TestTheRestOfASecretOnTheNextLineGoes(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(41)}
	left, all := 0, 0
	for _, first := range firstLines {
		for _, value := range []string{
			"{{alnum32}}", "{{alnum40}}", "{{b64-43}}", "{{nano43}}", "{{lower36}}", "{{base32}}", "{{githubpat}}", "{{hex32}}", "{{hex40}}", "{{uuid}}", "{{jwt}}",
		} {
			for range 20 {
				secret, _ := m.fill(value)
				half := len(secret)/2 + m.IntN(5)
				out, _ := ours.Redact("x\n" + strings.Replace(first, "{}", secret[:half]+"\n"+secret[half:], 1) + "\nthe end is here\n")
				if all++; strings.Contains(out, secret[half:]) {
					left++
				}
				if !strings.HasSuffix(out, "\nthe end is here\n") {
					t.Errorf("%s became %s", secret, out)
				}
			}
		}
	}
	if left*20 > all {
		t.Errorf("of %d rests %d are left", all, left)
	}
}

func TestAPasswordThatEndsInAVersionGoes(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(29)}
	for _, told := range []string{"password: {}", "DB_PASSWORD={}", "tool --password {}", "the password is {}", `"password": "{}"`, "requirepass {}"} {
		for _, version := range []string{"-v2", "_v3", ".v12", "V2"} {
			values := []string{m.text(lowers, 4) + m.text(numbers, 2) + "!" + m.text(letters, 4) + version}
			if version != "V2" && version[0] != '.' { // as names of functions and files end
				values = append(values, m.word(2)+version, m.word(2)+"-"+m.word(2)+"-"+m.word(2)+version, m.word(2)+"_"+m.word(2)+version)
			}
			for _, value := range values {
				if out, _ := ours.Redact("x\n" + strings.Replace(told, "{}", value, 1) + "\ny\n"); strings.Contains(out, value) {
					t.Errorf("left in %s", out)
				}
			}
		}
	}
}

func TestATableBehindPrefixesIsRead(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(31)}
	for _, table := range []string{
		"name,password\nada,{{weak}}\nbob,{{weak}}", "| user | password |\n|---|---|\n| ada | {{weak}} |\n| bob | {{weak}} |",
		"user\tapi_key\nada\t{{alnum33}}\nbob\t{{alnum33}}", "id;secret;x\n1;{{alnum33}};y\n2;{{alnum33}};z",
		"| name | value |\n|---|---|\n| db_password | {{weak}} |\n| api_key | {{alnum33}} |\n| id | 1 |",
		"+------+----------+\n| user | password |\n+------+----------+\n| ada  | {{weak}} |\n+------+----------+",
	} {
		for _, place := range []string{
			"as it is", "JSON", "JSON in JSON", "JSON with line ends of Windows", "numbers and arrows", "numbers and tabs", "numbers and bars",
			"numbers and colons", "grep", "grep and a space", "grep's lines around", "an added line", "a removed line", "a comment of a shell",
			"a log with levels", "a log with names", "a log of the system", "a log of containers", "a log with a time",
		} {
			told, secrets := m.fill(table)
			out, _ := ours.Redact(oddPlaces[place](told))
			for _, secret := range secrets {
				if strings.Contains(out, secret) {
					t.Errorf("%s: %s is left in %s", place, secret, out)
				}
			}
		}
	}
}

func TestAValueThatGoesOnBehindAPrefixGoes(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(43)}
	for _, place := range []string{"numbers and arrows", "numbers and colons", "a quotation", "an added line", "grep's lines around", "a log with levels"} {
		value := "gh" + "p_" + m.text(letters, 36)
		out, _ := ours.Redact(oddPlaces[place]("x = 1\ntoken: " + value[:20] + "\n" + value[20:]))
		if strings.Contains(out, value[4:20]) || strings.Contains(out, value[20:]) {
			t.Errorf("%s: left in %s", place, out)
		}
	}
	value := m.text(letters, 6) + m.text(numbers, 2)
	if out, _ := ours.Redact("password: \"" + value[:7] + "\n" + value[7:] + value + "\"\nREADME2.md\n"); strings.Contains(out, value) ||
		!strings.HasSuffix(out, "\nREADME2.md\n") {
		t.Errorf("left in %s", out)
	}
}

func TestANameThatEscapesHideIsKnown(t *testing.T) {
	t.Parallel()
	value := fake("Zk39", "fjQz7x")
	for _, text := range []string{
		`{"\u043f\u0430\u0440\u043e\u043b\u044c": "` + value + `"}`, `{"contrase\u00f1a": "` + value + `"}`, `{"\u0070assword": "` + value + `"}`,
		`"\u{70}assword": "` + value + `"`, `"\U00000070assword": "` + value + `"`, `"\160assword": "` + value + `"`,
		`contrase\u00f1a: ` + value, "GET /login?next=a%20password:%20" + value + "%20end", "Authorization:%20Bearer%20" + fakeToken, "see%20" + fakeToken,
	} {
		if out, _ := ours.Redact(text); strings.Contains(out, value) || strings.Contains(out, fakeToken) {
			t.Errorf("left in %s", out)
		}
	}
}
