package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
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

// maker makes what stands for the placeholders of testdata/leaks.txtar.
type maker struct{ *rand.Rand }

func (m maker) text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

// word is a made-up word that can be spoken.
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

// strong is a password with characters of every kind, of those given among others.
func (m maker) strong(special string) string {
	return m.text(uppers, 1) + m.text(letters, 4) + m.text(special, 1) + m.text(letters, 4) + m.text(numbers, 1) + m.text(special, 1) + m.text(letters, 1)
}

// plain are the values of one alphabet, and how long they are in bytes.
var plain = map[string]struct {
	alphabet string
	bytes    int
}{
	"alnum": {letters, 32}, "alnum16": {letters, 16}, "alnum33": {letters, 33}, "alnum40": {letters, 40}, "alnum68": {letters, 68},
	"alnum17": {letters, 17}, "alnum22": {letters, 22}, "alnum24": {letters, 24}, "alnum35": {letters, 35},
	"base32": {uppers + "234567", 32}, "bech58": {"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58}, "slackteam": {uppers + numbers, 9},
	"alnum48": {letters, 48}, "alnum107": {letters, 107}, "bech58lower": {"qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58},
	"lower26": {lowers + numbers, 26}, "base64url43": {letters + "-_", 43}, "crypt8": {crypted, 8}, "crypt22": {crypted, 22},
	"hex32": {hexes, 32}, "hex40": {hexes, 40}, "hex64": {hexes, 64}, "hex128": {hexes, 128}, "aws": {letters + "/+", 40},
}

// value makes one value, and what of it must not stay.
func (m maker) value(kind string) (string, []string) {
	one := func(s string) (string, []string) { return s, []string{s} }
	lines := func(s string) (string, []string) {
		return s, regexp.MustCompile(`[A-Za-z0-9+/]{20,}`).FindAllString(s, -1)
	}
	if p, ok := plain[kind]; ok {
		return one(m.text(p.alphabet, p.bytes))
	}
	switch kind {
	case "weak":
		return one(m.word(2) + m.text(numbers, 2))
	case "word":
		return one(m.word(3))
	case "dashed":
		return one(m.word(2) + "-" + m.word(1) + m.text(numbers, 1))
	case "camel":
		return one("Kor" + m.word(1) + "Vel" + m.word(1) + m.text(numbers, 3))
	case "strong":
		return one(m.strong("!#%^*-_+?"))
	case "strongplain":
		return one(m.strong("!-_+*"))
	case "weird":
		return one(m.word(2) + "!#@" + m.text(numbers, 3))
	case "percent":
		return one(url.QueryEscape(m.strong("/@#")))
	case "percentb64":
		return one(url.QueryEscape(m.base64(31) + "="))
	case "salt":
		return one(m.text(letters, 10) + m.text("!#$%^&*()-_[]{}|;:,.?/~+=", 6) + m.text(letters, 8) + m.text("!#$%^*()-_[]|;:,.?/~+=", 4) + m.text(letters, 22))
	case "hexupper":
		return one(strings.ToUpper(m.text(hexes, 28)))
	case "hexupper40":
		return one(strings.ToUpper(m.text(hexes, 40)))
	case "base64":
		return one(m.base64(32))
	case "base64short":
		return one(m.base64(20)[:27])
	case "base64long":
		return one(m.base64(90))
	case "base64url":
		return one(strings.NewReplacer("+", "-", "/", "_").Replace(m.base64(90)))
	case "b64line":
		return one(m.base64(48))
	case "b64weak":
		return one(base64.StdEncoding.EncodeToString([]byte(m.word(3) + m.text(numbers, 2))))
	case "discord":
		return one("M" + m.text(letters, 23) + "." + m.text(letters, 6) + "." + m.text(letters, 27))
	case "basic":
		return one(base64.StdEncoding.EncodeToString([]byte(m.word(2) + ":" + m.strong("!#%"))))
	case "uuid":
		return one(m.text(hexes, 8) + "-" + m.text(hexes, 4) + "-4" + m.text(hexes, 3) + "-a" + m.text(hexes, 3) + "-" + m.text(hexes, 12))
	case "awsid":
		return one("AKI" + "A" + m.text(uppers+"234567", 16))
	case "awstemp":
		return one("ASI" + "A" + m.text(uppers+"234567", 16))
	case "githubpat":
		return one("gh" + "p_" + m.text(letters, 36))
	case "slack":
		return one("xox" + "b-" + m.text(numbers, 12) + "-" + m.text(numbers, 12) + "-" + m.text(letters, 24))
	case "googlesecret":
		return one("GOC" + "SPX-" + m.text(letters+"_-", 28))
	case "jwt":
		return one("ey" + "J" + m.text(letters, 33) + ".eyJ" + m.text(letters, 60) + "." + m.text(letters+"_-", 43))
	case "jwe":
		return one("ey" + "J" + m.text(letters, 33) + "." + m.text(letters, 80) + "." + m.text(letters, 16) + "." + m.text(letters, 60) + "." + m.text(letters+"_-", 22))
	case "apr1":
		return one("$apr1$" + m.text(crypted, 8) + "$" + m.text(crypted, 22))
	case "bcrypt":
		return one("$2y$12$" + m.text(crypted, 53))
	case "sha512crypt":
		return one("$6$" + m.text(crypted, 16) + "$" + m.text(crypted, 86))
	case "md5crypt":
		return one("$1$" + m.text(crypted, 4) + "$" + m.text(crypted, 22))
	case "yescrypt":
		return one("$y$j9T$" + m.text(crypted, 22) + "$" + m.text(crypted, 43))
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
	panic("no placeholder is called " + kind)
}

var (
	placeholder = regexp.MustCompile(`\{\{([a-z0-9A-Z:]+)\}\}`)
	leakName    = regexp.MustCompile(`(?m)^-- (.+) --\n`)
)

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
				leaked := map[string]bool{}
				text := placeholder.ReplaceAllStringFunc(bodies[n], func(p string) string {
					value, parts := m.value(p[2 : len(p)-2])
					for _, part := range parts {
						leaked[part] = true
					}
					return value
				})
				out, _ := ours.Redact(text)
				for value := range leaked {
					for line := range strings.Lines(out) {
						if strings.Contains(line, value) {
							t.Errorf("%s is left in %s", value, line)
						}
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
