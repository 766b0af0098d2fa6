package secrets

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/viper"
)

// leafs lists the values in a document of each kind, in order.
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

// asJSON returns a text as a JSON string.
func asJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot fail for a string
	}
	return string(quoted)
}

// eachLine adds a prefix and a suffix to each line of a text. {n} in the prefix is the line's number, from 11.
func eachLine(before, behind string) func(string) string {
	return func(s string) string {
		lines := strings.Split(s, "\n")
		for n := range lines {
			lines[n] = strings.ReplaceAll(before, "{n}", strconv.Itoa(n+11)) + lines[n] + behind
		}
		return strings.Join(lines, "\n")
	}
}

// oddPlaces are forms in which tools, agents and people show a text.
var oddPlaces = map[string]func(string) string{
	"as it is":                 func(s string) string { return s },
	"JSON":                     func(s string) string { return `{"content":` + asJSON(s) + `,"n":1}` },
	"JSON, between lines":      func(s string) string { return asJSON("x\n" + s + "\ny") },
	"JSON, behind a line":      func(s string) string { return asJSON("x\n" + s) },
	"JSON in JSON":             func(s string) string { return asJSON(`{"content":` + asJSON(s) + `,"n":1}`) },
	"JSON in JSON, with lines": func(s string) string { return asJSON(`{"content":` + asJSON("x\n"+s+"\ny") + `}`) },
	"JSON three times":         func(s string) string { return asJSON(asJSON(`{"content":` + asJSON("x\n"+s+"\n") + `}`)) },
	"JSON with line ends of Windows": func(s string) string {
		return asJSON("x\r\n" + strings.ReplaceAll(s, "\n", "\r\n") + "\r\ny")
	},
	"an error's argument":    func(s string) string { return fmt.Sprintf("unexpected argument %q for \"x\"", s) },
	"an error's file":        func(s string) string { return fmt.Sprintf("open %q: no such file or directory", s) },
	"an error's error":       func(s string) string { return fmt.Sprintf("level=error msg=%q", fmt.Sprintf("open %q: no", s)) },
	"a list of Python":       func(s string) string { return "['sh', '" + shellQuoted(s) + "']" },
	"a shell's quotation":    func(s string) string { return "+ printf %s $'" + shellQuoted(s) + "'" },
	"numbers and arrows":     eachLine("    {n}→", ""),
	"numbers and tabs":       eachLine("    {n}\t", ""),
	"numbers and bars":       eachLine("{n} | ", ""),
	"numbers and colons":     eachLine("{n}:", ""),
	"a list with numbers":    eachLine("{n}. ", ""),
	"grep":                   eachLine("conf/x.y:{n}:", ""),
	"grep and a space":       eachLine("./conf/x.y:{n}: ", ""),
	"grep's lines around":    eachLine("conf/x.y-{n}-", ""),
	"an added line":          eachLine("+", ""),
	"a removed line":         eachLine("-", ""),
	"a list":                 eachLine("- ", ""),
	"a list of code":         eachLine("* `", "`"),
	"a quotation":            eachLine("> ", ""),
	"a table":                eachLine("| x | ", " |"),
	"code in a table":        eachLine("| x | `", "` |"),
	"a box":                  eachLine("│ ", " │"),
	"a comment of a shell":   eachLine("# ", ""),
	"a comment of C":         eachLine("// ", ""),
	"a comment of C, inside": eachLine(" * ", ""),
	"a comment of SQL":       eachLine("-- ", ""),
	"a comment of a .ini":    eachLine("; ", ""),
	"a log with levels":      eachLine("2026-05-20T12:00:{n}.123Z INFO  ", ""),
	"a log with names":       eachLine("2026-05-20 12:00:{n},123 DEBUG [main] ", ""),
	"a log of the system":    eachLine("May 20 12:00:{n} host app[123]: ", ""),
	"a log of containers":    eachLine("web_1  | ", ""),
	"a log with a time":      eachLine("[12:00:{n}] ", ""),
	"a prompt":               eachLine("$ ", ""),
	"a trace":                eachLine("+ ", ""),
	"spaces":                 eachLine("        ", "  "),
	"line ends of Windows":   eachLine("", "\r"),
	"colours":                eachLine("\x1b[32m", "\x1b[0m"),
	"colours, escaped":       func(s string) string { return asJSON(eachLine("\x1b[01;32m", "\x1b[m\x1b[K")(s)) },
	"an element":             eachLine("<code>", "</code>"),
	"HTML":                   func(s string) string { return "<pre title=\"&quot;\">" + html.EscapeString(s) + "</pre>" },
	"a form":                 func(s string) string { return "q=%22" + url.PathEscape(s) + "%22" },
}

// shellQuoted escapes a text for a shell's $'…' quotes.
func shellQuoted(s string) string {
	return strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(s)
}

// oddLines are lines in which the position identifies the secret.
var oddLines = []string{
	"db.test:5432:main:app:{{weak}}", "*:*:*:app:{{strongplain}}",
	"password {{weak}}", "  password {{weak}}", "requirepass {{weak}}", "masterauth {{strongplain}}", "bindpw {{weak}}",
	"smtp_password: {{weak}}", "password = {{weak}}", "  db_pass: {{weak}}",
	"DB_PASSWORD={{weak}}", "export API_SECRET={{alnum33}}", "ENV API_SECRET {{alnum33}}", "set -gx API_TOKEN {{alnum33}}",
	"enable secret 5 {{md5crypt}}", " username admin password 7 {{hexupper}}", "snmp-server community {{weak}} RO",
	" neighbor 10.0.0.1 password {{weak}}", "tacacs-server key 7 {{hexupper}}", "    user app insecure-password {{weak}}",
	"    stats auth admin:{{weak}}", "cache_peer p.test parent 3128 0 login=user:{{weak}}",
	"proxy_set_header Authorization \"Bearer {{alnum33}}\";", "rootpw {{weak}}",
	"machine api.test\n  login deploy\n  password {{weak}}",
	"mysql -u root -p{{weak}} app", "curl -u deploy:{{weak}} https://x.test", "sshpass -p {{weak}} ssh x",
	"echo {{weak}} | sudo -S id", "https://deploy:{{weak}}@git.test/x.git",
	"-----BEGIN RSA PRIVATE KEY-----\n{{b64line}}\n{{b64line}}\n{{b64line}}\n{{b64line}}",
	"{{b64line}}\n{{b64line}}\n{{b64line}}\n-----END RSA PRIVATE KEY-----",
}

func TestALineThatTellsASecretIsKnownWhereverItStands(t *testing.T) {
	t.Parallel()
	for n, line := range oddLines {
		m := maker{newRandom(uint64(n))}
		for name, place := range oddPlaces {
			told, secrets := m.fill(line)
			text := place(told)
			out, _ := ours.Redact(text)
			for _, secret := range secrets {
				if piece := pieceOf(secret, out); piece != "" {
					t.Errorf("%s in %s: %q is left of %q", line, name, piece, out)
				}
			}
			if strings.Count(out, "\n") != strings.Count(text, "\n") || json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
				t.Errorf("%s in %s: %q became %q", line, name, text, out)
			}
		}
	}
}

// pieceOf returns the first substring of minRepeated bytes of a secret that a text contains, "" if there is none.
func pieceOf(secret, text string) string {
	for at := 0; at+minRepeated <= len(secret); at++ {
		if piece := secret[at : at+minRepeated]; strings.Contains(text, piece) {
			return piece
		}
	}
	return ""
}

func TestWordsOfAShellGoWholeHoweverTheyAreQuoted(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(1)}
	for _, command := range []string{
		"curl -u='x':'{1}' https://x.test", "curl -u 'x':'{1}' https://x.test", "curl -u \"x:\"'{1}' https://x.test",
		"curl --user=x:'{1} {2}' https://x.test", "curl --user 'x:{1}'\"{2}\" https://x.test", "curl -u $'x:{1}' https://x.test",
		"curl -u \"$NAME:{1}\" https://x.test", "curl https://x.test -ux:{1}",
		"mysql -uroot -p'{1}' app", "mysql -uroot -p'{1}'\"{2}\" app", "mysql -uroot -p{1}'{2}' app", "mysql -p\"{1} {2}\" app",
		"mysql -uroot --password=\"{1}\"'{2}' app", "tool --password '{1}'\"{2}\"", "tool --db-password=\"{1}\"",
		"sshpass -p '{1} {2}' ssh x", "sshpass -p{1} ssh x", "redis-cli -a\"{1}\" ping", "redis-cli -a '{1}'\"{2}\" ping",
		"docker login -u x -p '{1}'\"{2}\" r.test", "openssl x -passin pass:'{1}'\"{2}\"", "openssl enc -k '{1}' -in a",
		"[\"mysql\", \"-u\", \"root\", \"-p{1}\"]", "['sshpass', '-p', '{1}', 'ssh']", "[\n  \"redis-cli\",\n  \"-a\",\n  \"{1}\"\n]",
		"[\"curl\", \"-u\", \"x:{1}\", \"https://x.test\"]", "[\"tool\",\n \"--password\",\n \"{1}\"]", "exec.Command(\"sshpass\", \"-p\", \"{1}\")",
		"echo '{1}' | sudo -S id", "printf '{1}\\n' | sudo -S id", "printf '%s' '{1}' | docker login --password-stdin",
		"sudo -S id <<< '{1}'", "PGPASSWORD='{1}'\"{2}\" psql",
	} {
		one, two := m.word(3)+m.text(numbers, 3), m.word(3)+m.text(numbers, 3)
		told := strings.NewReplacer("{1}", one, "{2}", two).Replace(command)
		for name, place := range map[string]func(string) string{
			"as it is": oddPlaces["as it is"], "JSON": oddPlaces["JSON"], "JSON in JSON": oddPlaces["JSON in JSON"],
			"an error's argument": oddPlaces["an error's argument"], "a trace": oddPlaces["a trace"],
		} {
			if strings.Contains(command, "\n") && name == "a trace" {
				continue // a trace has one line
			}
			out, _ := ours.Redact(place(told))
			for _, secret := range []string{one, two} {
				if piece := pieceOf(secret, out); piece != "" {
					t.Errorf("%s in %s: %q is left of %q", command, name, piece, out)
				}
			}
		}
	}
	r := ours.Session()
	r.Text("mysql -uroot -p'" + "kirlan'" + "\"vusmet47\" app")
	if out := r.Text("then kirlan" + "vusmet47 worked"); strings.Contains(out, "vusmet47") {
		t.Errorf("the word is left without its quotes: %s", out)
	}
}
