package secrets

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// planter makes documents with secrets in their keys and values.
type planter struct {
	*rand.Rand
	secrets []string
}

func (p *planter) word() string { return maker{p.Rand}.word(2) }

func (p *planter) secret() string {
	m := maker{p.Rand}
	s := []string{"gh" + "p_" + m.text(letters, 36), "AKI" + "A" + m.text(uppers+"234567", 16), "glp" + "at-" + m.text(letters, 20)}[p.IntN(3)]
	p.secrets = append(p.secrets, s)
	return s
}

func (p *planter) text() string {
	switch p.IntN(6) {
	case 0:
		return p.secret()
	case 1:
		return p.word() + " \"" + p.secret() + "\"\n\tü\\ " + p.word()
	case 2:
		return p.word() + "\r\n" + p.secret() + "\r\n"
	case 3:
		password := maker{p.Rand}.strong("!%*")
		p.secrets = append(p.secrets, password)
		return "DB_PASSWORD=" + password + " make" // a value at the end of a line may continue on the next
	}
	return p.word()
}

func (p *planter) value(depth int) any {
	switch n := p.IntN(9); {
	case depth > 3 || n < 4:
		return p.text()
	case n == 4:
		return []any{p.Float64(), true, nil, p.IntN(1 << 40)}[p.IntN(4)]
	case n < 7:
		object := map[string]any{}
		for range p.IntN(5) {
			key := p.word()
			if p.IntN(6) == 0 {
				key = p.secret()
			}
			object[key] = p.value(depth + 1)
		}
		return object
	}
	list := []any{}
	for range p.IntN(4) {
		list = append(list, p.value(depth+1))
	}
	return list
}

func TestDocumentsStayValidAndHoldNoSecret(t *testing.T) {
	t.Parallel()
	for n := range 300 {
		p := &planter{Rand: newRandom(uint64(n))}
		value := map[string]any{"a": p.value(0), "b": p.value(0), "c": p.value(0)}
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(value, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		document, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var block strings.Builder
		for i, secret := range p.secrets {
			if len(secret) < 20 { // a password, found only after its key
				fmt.Fprintf(&block, "k%d: |\n  first\n  DB_PASSWORD=%s\npassword%d: '%s'\n", i, secret, i, secret)
				continue
			}
			fmt.Fprintf(&block, "k%d: |\n  first\n  %s\nf%d: >-\n  %s\n%s: [%s, '%s', \"%s\"]\n", i, secret, i, secret, p.word()+fmt.Sprint(i), "x", secret, secret)
		}
		for _, form := range []struct {
			name, text string
			valid      func(text string) error
		}{
			{"JSON", string(compact), func(text string) error { return json.Unmarshal([]byte(text), new(any)) }},
			{"indented JSON", string(indented), func(text string) error { return json.Unmarshal([]byte(text), new(any)) }},
			{"lines of JSON", string(compact) + "\n" + string(compact) + "\n", func(text string) error {
				for line := range strings.Lines(text) {
					if err := json.Unmarshal([]byte(line), new(any)); err != nil {
						return err
					}
				}
				return nil
			}},
			{"YAML", string(document), func(text string) error { return yaml.Unmarshal([]byte(text), new(yaml.Node)) }},
			{"blocks of YAML", block.String(), func(text string) error { return yaml.Unmarshal([]byte(text), new(yaml.Node)) }},
		} {
			out, _ := ours.Redact(form.text)
			if err := form.valid(form.text); err != nil {
				t.Fatalf("%s was not valid before: %v", form.name, err)
			}
			if err := form.valid(out); err != nil {
				t.Fatalf("%s is not valid any more: %v\n%s\nwas\n%s", form.name, err, out, form.text)
			}
			for _, secret := range p.secrets {
				if strings.Contains(out, secret) {
					t.Fatalf("%s: %s is left in\n%s", form.name, secret, out)
				}
			}
			if again, counts := ours.Redact(out); again != out || len(counts) > 0 {
				t.Fatalf("%s: redacting twice changes %q to %q", form.name, out, again)
			}
			if a, b := strings.Count(form.text, "\n"), strings.Count(out, "\n"); a != b {
				t.Fatalf("%s: %d lines became %d", form.name, a, b)
			}
		}
	}
}

// Redaction keeps line ends and the Unicode normal form of letters.
func TestLineEndsAndLettersStayAsTheyAre(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + maker{newRandom(5)}.text(letters, 36)
	const marker = markerOpen + "github-pat" + markerClose
	for _, text := range []string{
		"a\r\n%s\r\nb\r\n", "%s\r\n", "\r\n\r\n%s", "key: %s\r\nnext: x\r\n", "mixed\n%s\r\n\rend",
		"Z\u00fcrich %s caf\u00e9", "Zu\u0308rich %s cafe\u0301", "e\u0301%s\u0301", "\ufeff%s", "\u200b%s\u200b", "日本語 %s 。",
	} {
		out, _ := ours.Redact(fmt.Sprintf(text, token))
		if want := fmt.Sprintf(text, marker); out != want {
			t.Errorf("%q became %q, not %q", text, out, want)
		}
	}
	key := beginKey + "\r\n" + strings.ReplaceAll(fakeKey, "\n", "\r\n") + endKey + "\r\nafter\r\n"
	out, _ := ours.Redact(key)
	if strings.Count(out, "\n") != strings.Count(key, "\n") || !strings.HasSuffix(out, "\r\nafter\r\n") || strings.Contains(out, fakeKey[:32]) {
		t.Errorf("a key with CRLF became %q", out)
	}
	pass := "pässwo\u0308rd" + "Zq7!x"
	if out, _ := ours.Redact("DB_PASSWORD=" + pass + "\n"); strings.Contains(out, "rdZq7!x") {
		t.Errorf("a password with letters of both forms: %q", out)
	}
}
