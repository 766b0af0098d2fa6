package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A net finds canaries in whatever form they stand: as they are, escaped as in JSON or in
// a URL, in base64 wherever in a group of three bytes they begin, and in hexadecimal.
type net struct {
	filter [1 << 10]uint64 // bits by hash of the first eight bytes of a form
	forms  map[uint64][]form
	caught map[string]string // a passage, by what the canary was and where it was found
}

type form struct{ text, canary, what string }

func newNet(canaries map[string]string) *net {
	n := &net{forms: map[uint64][]form{}, caught: map[string]string{}}
	for canary, what := range canaries {
		seen := map[string]bool{}
		add := func(text, how string) {
			if len(text) < 8 || seen[text] {
				return
			}
			seen[text] = true
			head := binary.LittleEndian.Uint64([]byte(text))
			n.forms[head] = append(n.forms[head], form{text, canary, what + how})
			h := hash(head)
			n.filter[h>>6] |= 1 << (h & 63)
		}
		add(canary, "")
		escaped, _ := json.Marshal(canary)
		inner := string(escaped[1 : len(escaped)-1])
		add(inner, ", escaped")
		again, _ := json.Marshal(inner)
		twice := string(again[1 : len(again)-1])
		add(twice, ", escaped twice")
		thrice, _ := json.Marshal(twice)
		add(string(thrice[1:len(thrice)-1]), ", escaped three times")
		var plain bytes.Buffer
		e := json.NewEncoder(&plain)
		e.SetEscapeHTML(false)
		_ = e.Encode(canary)
		add(strings.Trim(plain.String(), "\"\n"), ", escaped")
		add(url.QueryEscape(canary), ", in a URL")
		add(url.PathEscape(canary), ", in a URL")
		add(hex.EncodeToString([]byte(canary)), ", in hexadecimal")
		add(strings.ToUpper(hex.EncodeToString([]byte(canary))), ", in hexadecimal")
		for before := range 3 {
			code := base64.StdEncoding.EncodeToString([]byte("xxx"[:before] + canary))
			code = code[(before*8+5)/6 : (before+len(canary))*8/6]
			add(code, ", in base64")
			add(strings.NewReplacer("+", "-", "/", "_").Replace(code), ", in base64")
		}
	}
	return n
}

func hash(head uint64) uint64 { return head * 0x9E3779B97F4A7C15 >> 48 }

func (n *net) search(where string, data []byte) {
	for i := 0; i+8 <= len(data); i++ {
		head := binary.LittleEndian.Uint64(data[i:])
		h := hash(head)
		if n.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, f := range n.forms[head] {
			if bytes.HasPrefix(data[i:], []byte(f.text)) {
				n.caught[fmt.Sprintf("%s, in %s", f.what, where)] = fmt.Sprintf("%q in %q", f.canary, data[max(0, i-60):min(len(data), i+len(f.text)+20)])
			}
		}
	}
}

// home searches all that is in a home, but for the content of files whose name begins with
// what is left out: names of files, their content, and what archives hold.
func (n *net) home(t *testing.T, home, without string) (bytes int) {
	t.Helper()
	must(t, filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(home, path)
		n.search("a name", []byte(name))
		if !entry.Type().IsRegular() || without != "" && strings.HasPrefix(name, without) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		bytes += len(data)
		n.search(name, data)
		if strings.HasSuffix(name, ".zst") {
			d, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer d.Close()
			if data, err = d.DecodeAll(data, nil); err != nil {
				return err
			}
			bytes += len(data)
			n.search(name+", unpacked", data)
		}
		return nil
	}))
	return bytes
}

func TestTheNetCatchesACanaryInEveryForm(t *testing.T) {
	t.Parallel()
	const canary = `q"7/+&mZ` + "k2Wx"
	quotedOnce := string(quoted(canary))
	for _, text := range []string{
		"x" + canary + "y", quotedOnce, string(quoted(quotedOnce)), url.QueryEscape(canary), url.PathEscape(canary),
		hex.EncodeToString([]byte("a" + canary)), fmt.Sprintf("%X", canary), base64.StdEncoding.EncodeToString([]byte(canary)),
		base64.URLEncoding.EncodeToString([]byte("a" + canary + "b")), base64.StdEncoding.EncodeToString([]byte("ab" + canary)),
	} {
		n := newNet(map[string]string{canary: "x"})
		if n.search("a text", []byte(text)); len(n.caught) == 0 {
			t.Errorf("not caught in %q", text)
		}
	}
}
