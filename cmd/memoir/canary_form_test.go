package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
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

// A net finds canaries in plain form, escaped for JSON or a URL, and in base64 at any of the three alignments.
type net struct {
	forms  map[uint64][]form // by first eight bytes
	caught map[string]string // text around a match, by description and location
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
		}
		add(canary, "")
		escaped, _ := json.Marshal(canary)
		inner := string(escaped[1 : len(escaped)-1])
		add(inner, ", escaped")
		again, _ := json.Marshal(inner)
		add(string(again[1:len(again)-1]), ", escaped twice")
		add(url.QueryEscape(canary), ", in a URL")
		for before := range 3 {
			code := base64.StdEncoding.EncodeToString([]byte("xxx"[:before] + canary))
			code = code[(before*8+5)/6 : (before+len(canary))*8/6]
			add(code, ", in base64")
			add(strings.NewReplacer("+", "-", "/", "_").Replace(code), ", in base64")
		}
	}
	return n
}

func (n *net) search(where string, data []byte) {
	for i := 0; i+8 <= len(data); i++ {
		for _, f := range n.forms[binary.LittleEndian.Uint64(data[i:])] {
			if bytes.HasPrefix(data[i:], []byte(f.text)) {
				n.caught[fmt.Sprintf("%s, in %s", f.what, where)] = fmt.Sprintf("%q in %q", f.canary, data[max(0, i-60):min(len(data), i+len(f.text)+20)])
			}
		}
	}
}

// home searches the names and contents of all files of a home, and the contents of archives.
func (n *net) home(t *testing.T, home string) {
	t.Helper()
	must(t, filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(home, path)
		n.search("a name", []byte(name))
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n.search(name, data)
		n.search(name+", unpacked", []byte(packedIn(path)))
		if strings.HasSuffix(name, ".zst") {
			d, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer d.Close()
			if data, err = d.DecodeAll(data, nil); err != nil {
				return err
			}
			n.search(name+", unpacked", data)
		}
		return nil
	}))
}

// packedIn returns the texts that a database has packed, "" if it has none.
func packedIn(path string) (texts string) {
	mode := "?mode=ro"
	if _, err := os.Stat(path + "-wal"); err != nil { // a reader would leave one
		mode += "&immutable=1"
	}
	db, err := sql.Open("sqlite3", "file:"+path+mode)
	if err != nil {
		return ""
	}
	defer db.Close()
	rows, err := db.Query(`SELECT tools FROM searchable`)
	if err != nil {
		return ""
	}
	defer rows.Close()
	for rows.Next() {
		var packed []byte
		if rows.Scan(&packed) == nil {
			texts += unpacked(packed)
		}
	}
	return texts
}

func unpacked(packed []byte) string {
	z, err := zstd.NewReader(nil)
	if err != nil {
		return ""
	}
	defer z.Close()
	text, _ := z.DecodeAll(packed, nil)
	return string(text)
}
