package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	uppers  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numbers = "0123456789"
	letters = lowers + uppers + numbers
	hexes   = numbers + "abcdef"
	crypted = letters + "./"
)

// maker makes the values for the placeholders of testdata/leaks.txtar.
type maker struct{ *rand.Rand }

func (m maker) text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

// word returns a made-up pronounceable word.
func (m maker) word(syllables int) string {
	var b strings.Builder
	for range syllables {
		b.WriteString(m.text("bdfgklmnprstvz", 1) + m.text("aeiou", 1) + m.text("klmnrst", 1))
	}
	return b.String()
}

func (m maker) base64(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func (m maker) pem(kind string, indent string) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + kind + "PRIVATE KEY-----\n")
	for range 6 {
		b.WriteString(indent + m.base64(48) + "\n")
	}
	b.WriteString(indent + m.base64(31) + "\n" + indent + "-----END " + kind + "PRIVATE KEY-----")
	return b.String()
}

// strong returns a password of letters, a digit and two of the special characters.
func (m maker) strong(special string) string {
	return m.text(uppers, 1) + m.text(letters, 4) + m.text(special, 1) + m.text(letters, 4) + m.text(numbers, 1) + m.text(special, 1) + m.text(letters, 1)
}

// alphabets are the characters of placeholders whose names end in their length.
var alphabets = map[string]string{
	"alnum": letters, "lower": lowers + numbers, "upper": uppers + numbers, "small": lowers, "big": uppers, "digits": numbers,
	"hex": hexes, "hexupper": numbers + "ABCDEF", "nano": letters + "_-", "crypt": crypted, "b64-": letters + "+/",
	"base32-": uppers + "234567", "base32lower": lowers + "234567",
	"base58-": numbers[1:] + "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
	"bech-":   "qpzry9x8gf2tvdw0s3jn54khce6mua7l", "bechupper": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	"crockford": numbers + "ABCDEFGHJKMNPQRSTVWXYZ", "crockfordlower": "023456789acdefghjklmnpqrstuvwxyz",
}

// composed are the placeholders made of others.
var composed = map[string]string{
	"weak":         "{{syllables2}}{{digits2}}",
	"word":         "{{syllables3}}",
	"dashed":       "{{syllables2}}-{{syllables1}}{{digits1}}",
	"camel":        "Kor{{syllables1}}Vel{{syllables1}}{{digits3}}",
	"twowords":     "Kor{{syllables1}}Vel{{syllables1}}",
	"joined":       "Kor{{syllables1}}_Vel{{syllables1}}{{digits1}}",
	"wordnumber":   "{{syllables4}}{{digits1}}",
	"mixed":        "{{small3}}{{big1}}{{small1}}{{big3}}{{small2}}",
	"groups":       "{{small2}}{{big3}}-{{big2}}{{small3}}-{{small3}}{{big2}}",
	"weird":        "{{syllables2}}!#@{{digits3}}",
	"alnum":        "{{alnum32}}",
	"base32":       "{{base32-32}}",
	"bech58":       "{{bechupper58}}",
	"bech58lower":  "{{bech-58}}",
	"base64url43":  "{{nano43}}",
	"aws":          "{{b64-40}}",
	"slackteam":    "{{upper9}}",
	"hexupper":     "{{hexupper28}}",
	"base64":       "{{bytes32}}",
	"base64long":   "{{bytes90}}",
	"b64line":      "{{bytes48}}",
	"uuid":         "{{hex8}}-{{hex4}}-4{{hex3}}-a{{hex3}}-{{hex12}}",
	"uuidupper":    "{{hexupper8}}-{{hexupper4}}-7{{hexupper3}}-A{{hexupper3}}-{{hexupper12}}",
	"mac":          strings.Repeat("{{hex2}}:", 5) + "{{hex2}}",
	"fingerprint":  strings.Repeat("{{hex2}}:", 15) + "{{hex2}}",
	"discord":      "M{{alnum23}}.{{alnum6}}.{{alnum27}}",
	"awsid":        "AKIA{{base32-16}}",
	"awstemp":      "ASIA{{base32-16}}",
	"githubpat":    "ghp_{{alnum36}}",
	"slack":        "xoxb-{{digits12}}-{{digits12}}-{{alnum24}}",
	"googlesecret": "GOCSPX-{{nano28}}",
	"jwt":          "eyJ{{alnum33}}.eyJ{{alnum60}}.{{nano43}}",
	"jwe":          "eyJ{{alnum33}}.{{alnum80}}.{{alnum16}}.{{alnum60}}.{{nano22}}",
	"apr1":         "$apr1${{crypt8}}${{crypt22}}",
	"bcrypt":       "$2y$12${{crypt53}}",
	"sha512crypt":  "$6${{crypt16}}${{crypt86}}",
	"md5crypt":     "$1${{crypt4}}${{crypt22}}",
	"yescrypt":     "$y$j9T${{crypt22}}${{crypt43}}",
}

var (
	placeholder = regexp.MustCompile(`\{\{([a-z0-9A-Z:-]+)\}\}`)
	numbered    = regexp.MustCompile(`^(.*\D)(\d+)$`)
	leakName    = regexp.MustCompile(`(?m)^-- (.+) --\n`)
)

// fill replaces the placeholders of a form. It returns the text and the secrets in it.
func (m maker) fill(form string) (text string, secrets []string) {
	text = placeholder.ReplaceAllStringFunc(form, func(p string) string {
		value, parts := m.value(p[2 : len(p)-2])
		secrets = append(secrets, parts...)
		return value
	})
	return text, secrets
}

// value returns a value for a placeholder and the secrets in it, such as the lines of a key.
func (m maker) value(kind string) (string, []string) {
	one := func(s string) (string, []string) { return s, []string{s} }
	lines := func(s string) (string, []string) {
		return s, regexp.MustCompile(`[A-Za-z0-9+/]{20,}`).FindAllString(s, -1)
	}
	if form, ok := composed[kind]; ok {
		text, _ := m.fill(form)
		return one(text)
	}
	switch kind {
	case "strong":
		return one(m.strong("!#%^*-_+?"))
	case "strongplain":
		return one(m.strong("!-_+*"))
	case "percent":
		return one(url.QueryEscape(m.strong("/@#")))
	case "percentb64":
		return one(url.QueryEscape(m.base64(31) + "="))
	case "salt":
		return one(m.text(letters, 10) + m.text("!#$%^&*()-_[]{}|;:,.?/~+=", 6) + m.text(letters, 8) + m.text("!#$%^*()-_[]|;:,.?/~+=", 4) + m.text(letters, 22))
	case "base64short":
		return one(m.base64(20)[:27])
	case "base64url":
		return one(strings.NewReplacer("+", "-", "/", "_").Replace(m.base64(90)))
	case "b64weak":
		return one(base64.StdEncoding.EncodeToString([]byte(m.word(3) + m.text(numbers, 2))))
	case "basic":
		return one(base64.StdEncoding.EncodeToString([]byte(m.word(2) + ":" + m.strong("!#%"))))
	case "pem:RSA":
		return lines(m.pem("RSA ", ""))
	case "pem:OPENSSH":
		return lines(m.pem("OPENSSH ", ""))
	case "pemindented":
		return lines(m.pem("", "    "))
	case "pemescaped":
		return lines(strings.ReplaceAll(m.pem("", "")+"\n", "\n", `\n`))
	case "pemcut":
		return lines(strings.Join(strings.Split(m.pem("EC ", ""), "\n")[:4], "\n"))
	case "pgp":
		s := strings.ReplaceAll(m.pem("PGP ", ""), "PRIVATE KEY-", "PRIVATE KEY BLOCK-")
		return lines(strings.Replace(s, "-----\n", "-----\nVersion: GnuPG v2\n\n", 1))
	}
	parts := numbered.FindStringSubmatch(kind)
	n, _ := strconv.Atoi(parts[2])
	switch parts[1] {
	case "syllables":
		return one(m.word(n))
	case "bytes":
		return one(m.base64(n))
	}
	return one(m.text(alphabets[parts[1]], n))
}

// checkGone fills each form and redacts it alone, between lines and in JSON. The result must contain neither the values
// nor others, and must not change when redacted again.
func checkGone(t *testing.T, forms []string, others ...string) {
	t.Helper()
	for n, form := range forms {
		text, secrets := maker{newRandom(uint64(n))}.fill(form)
		object := `{"output":` + strconv.Quote("x\n"+text+"\ny") + `}`
		for _, text := range []string{text, "a line\n" + text + "\nanother\n", object, `{"output":` + asJSON(object) + `}`} {
			out, _ := ours.Redact(text)
			for _, secret := range append(secrets, others...) {
				if strings.Contains(out, secret) {
					t.Errorf("%s is left in %s", secret, out)
				}
			}
			if again, _ := ours.Redact(out); again != out {
				t.Errorf("redacted again, %s becomes %s", out, again)
			}
		}
	}
}

func TestWhatPeopleLeakIsRedactedInEveryForm(t *testing.T) {
	t.Parallel()
	archive, err := os.ReadFile("testdata/leaks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	names := leakName.FindAllStringSubmatch(string(archive), -1)
	bodies := leakName.Split(string(archive), -1)[1:]
	for n, name := range names {
		t.Run(name[1], func(t *testing.T) {
			t.Parallel()
			m := maker{newRandom(uint64(n))}
			for range 20 {
				text, leaked := m.fill(bodies[n])
				out, _ := ours.Redact(text)
				for _, value := range leaked {
					if strings.Contains(out, value) {
						t.Errorf("%s is left in %s", value, out)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
