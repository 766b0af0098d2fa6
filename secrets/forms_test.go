package secrets

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/viper"
)

// leafs lists what a document holds besides its marks, in order.
var leafs = map[string]func(text string) ([]string, error){
	"TOML": func(text string) (out []string, err error) {
		v := viper.New()
		v.SetConfigType("toml")
		if err = v.ReadConfig(strings.NewReader(text)); err == nil {
			for n := range 6 {
				for _, name := range []string{"password", "plain", "key"} {
					out = append(out, fmt.Sprint(v.Get(fmt.Sprintf("s.%s%d", name, n))))
				}
			}
		}
		return out, err
	},
	"XML": func(text string) (out []string, err error) {
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if err == io.EOF {
				return out, nil
			}
			if err != nil {
				return nil, err
			}
			switch token := token.(type) {
			case xml.StartElement:
				out = append(out, token.Name.Local)
				for _, a := range token.Attr {
					out = append(out, a.Name.Local, a.Value)
				}
			case xml.CharData:
				out = append(out, string(token))
			}
		}
	},
	"CSV": func(text string) (out []string, err error) {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		for _, row := range rows {
			out = append(out, row...)
		}
		return out, err
	},
	"lines": func(text string) ([]string, error) { return strings.Split(text, "\n"), nil },
	"lines in JSON in JSON": func(text string) ([]string, error) {
		for range 2 {
			var inner string
			if err := json.Unmarshal([]byte(text), &inner); err != nil {
				return nil, err
			}
			text = inner
		}
		return strings.Split(text, "\n"), nil
	},
}

// Of documents with secrets, nothing but the secrets changes.
func TestDocumentsOfOtherKindsStayValidAndKeepWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for n := range 10 {
		m := maker{newRandom(uint64(n))}
		var toml, doc, lines, names, values strings.Builder
		var told []string
		doc.WriteString("<c>\n")
		toml.WriteString("[s]\n")
		for i := range 6 {
			password, token := m.strong("!%*"), "gh"+"p_"+m.text(letters, 36)
			told = append(told, password, token)
			plain := []string{m.word(3), "the " + m.word(2) + " of the " + m.word(2) + " password " + m.word(2) + "-" + m.text(numbers, 1) + ".", m.word(2) + ".test"}[m.IntN(3)]
			fmt.Fprintf(&toml, "password%d = %q\nplain%d = %q\nkey%d = '%s'\n", i, password, i, plain, i, token)
			fmt.Fprintf(&doc, "<password%d>%s</password%d>\n<add key=\"db_password\" value=\"%s\"/><plain a=\"%s\">%s</plain><token><![CDATA[%s]]></token>\n", i, password, i, password, plain, plain, token)
			fmt.Fprintf(&lines, "export DB_PASSWORD=%s\n%s\nnext_%s=\n  - %s\npassword:\n%s_%s1: %s %s\n%s-%s\n",
				password, plain, m.word(1), token, m.word(2), m.word(2), m.word(4), m.word(5), m.word(5), plain)
			fmt.Fprintf(&names, "password%d,plain%d,", i, i)
			fmt.Fprintf(&values, "%q,%s,", password, plain)
		}
		doc.WriteString("</c>\n")
		for kind, text := range map[string]string{
			"TOML": toml.String(), "XML": doc.String(), "lines": lines.String(), "lines in JSON in JSON": asJSON(asJSON(lines.String())),
			"CSV": names.String() + "end\n" + values.String() + "1\n",
		} {
			out, _ := ours.Redact(text)
			before, err := leafs[kind](text)
			if err != nil {
				t.Fatalf("%s was not valid before: %v\n%s", kind, err, text)
			}
			after, err := leafs[kind](out)
			if err != nil || len(after) != len(before) {
				t.Fatalf("%s is not valid any more: %v, %d parts and not %d\n%s\nwas\n%s", kind, err, len(after), len(before), out, text)
			}
			for i := range before {
				secret := false
				for _, value := range told {
					secret = secret || strings.Contains(before[i], value)
					if strings.Contains(after[i], value) {
						t.Errorf("%s: %s is left in %q", kind, value, after[i])
					}
				}
				if !secret && after[i] != before[i] {
					t.Errorf("%s: %q became %q in\n%s", kind, before[i], after[i], text)
				}
			}
		}
	}
}

func TestNothingHidesBehindAMarker(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(3)}
	token, password := "gh"+"p_"+m.text(letters, 36), m.strong("!%*")
	for _, text := range []string{
		"[REDACTED:%[1]s]", "[REDACTED:github-pat]%[1]s", "%[1]s[REDACTED:github-pat]", "[REDACTED:github-pat%[1]s]", "[REDACTED:\n%[1]s", "REDACTED:x]%[1]s[REDACTED",
		`password="[REDACTED:password-assignment]%[2]s"`, `password="%[2]s[REDACTED:password-assignment]"`, `{"password":"[REDACTED]%[2]s"}`,
		"DB_PASSWORD=[REDACTED:github-pat]%[2]s", "DB_PASSWORD=[REDACTED:%[2]s]", "postgres://u:[REDACTED:url-credentials]%[2]s@h.test/x",
		"mysql -p[REDACTED:password-flag]%[2]s db", "--password '[REDACTED:password-option]%[2]s'",
	} {
		text = fmt.Sprintf(text+"%.0[1]s%.0[2]s", token, password)
		out, _ := ours.Redact(text)
		if strings.Contains(out, token) || strings.Contains(out, password) {
			t.Errorf("%q became %q", text, out)
		}
		if again, _ := ours.Redact(out); again != out {
			t.Errorf("%q becomes %q", out, again)
		}
	}
}

func TestQuotesAndSpacesOfOthersHideNothing(t *testing.T) {
	t.Parallel()
	const value = "kormel" + "!47Zx"
	for _, text := range []string{
		`sh -c 'curl -u '\''api:%s'\'' https://x.test'`,
		`{"u":"https:\/\/u:%s@h.test\/x"}`, `url=jdbc\:postgresql\://u\:%s@h\:5432/x`, `export DB\_PASSWORD=%s`,
		"args:\n  - --password\n  - %s\n", "<string>--password</string>\n<string>%s</string>", "<db_password><![CDATA[%s]]></db_password>",
		"Invoke-Tool -Password '%s'", "db_password: |\n  %s\nnext: 1\n", "grant to x identified by %s;",
	} {
		text = fmt.Sprintf(text, value)
		out, counts := ours.Redact(text)
		rule := ""
		for id := range counts {
			rule = id
		}
		if want := strings.Replace(text, value, markerOpen+rule+markerClose, 1); out != want && !strings.Contains(text, "api:") || strings.Contains(out, value) {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func TestAKeyEndsWithItsLastLine(t *testing.T) {
	t.Parallel()
	key := maker{newRandom(12)}.pem("RSA ", "")
	for _, text := range []string{
		"TLS_KEY='%s' TIMEOUT=/srv/x.conf make\n", `{"k":%q,"a":"x","n":{"k":%[1]q,"b":"y"}}`, "f(key=%q, timeout='/srv/x', z=2)\n",
	} {
		text = fmt.Sprintf(text, key)
		out, _ := ours.Redact(text)
		for _, stays := range []string{"TIMEOUT=/srv/x.conf", `"a":"x"`, `"b":"y"`, "timeout='/srv/x'"} {
			if strings.Contains(text, stays) && !strings.Contains(out, stays) {
				t.Errorf("%s is gone from %s", stays, out)
			}
		}
		if strings.Contains(out, "PRIVATE KEY") {
			t.Errorf("left in %s", out)
		}
	}
}
