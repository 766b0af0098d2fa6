package store

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/store/page"
)

// projectID is the form of a project's id, which is the name of its folder.
var projectIDForm = lazyregexp.New(`^[^./\\:][^/\\:]*-[0-9a-f]{12}$`)

// flags are the columns that say yes or no.
var flags = map[string]bool{"disabled": true, "excluded": true, "forgotten": true, "purge": true, "estimated": true, "isolated": true, "renamed": true}

// fit returns a row's values as the table's columns take them, or false if the row
// can't be one of the table: bytes that were overwritten, or a row of another tree. A
// row may lack the columns that were added after it was written.
func (tb *table) fit(row page.Row) ([]any, bool) {
	if len(row.Values) == 0 || len(row.Values) > len(tb.columns) {
		return nil, false
	}
	values := make([]any, len(row.Values))
	for i, v := range row.Values {
		c := tb.columns[i]
		if c.rowID {
			if v != nil || row.ID <= 0 {
				return nil, false
			}
			values[i] = row.ID
			continue
		}
		value, ok := c.fit(v)
		if !ok {
			return nil, false
		}
		values[i] = value
	}
	if tb.name == "counter" && values[0] != "fence" && values[0] != "purge" && values[0] != "rules" {
		return nil, false
	}
	for i, name := range tb.key { // before the columns that may be missing
		at := tb.keyColumns()[i]
		if at >= len(values) || values[at] == "" && name != "text" && name != "type" {
			return nil, false
		}
	}
	return values, true
}

// fit holds a value against the type of its column and what its name promises.
func (c column) fit(v any) (any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, !c.notNull
	case []byte:
		return v, c.kind == "BLOB" && (c.name != "hash" || len(v) == hashSize) && (c.name != "key" || len(v) == keySize)
	case float64:
		return v, c.kind == "REAL" && !math.IsNaN(v) && !math.IsInf(v, 0)
	case int64:
		switch {
		case c.kind == "REAL": // whole numbers are stored as such
			return float64(v), true
		case c.kind != "INTEGER", flags[c.name] && v>>1 != 0:
			return nil, false
		case c.name == "at" || strings.HasSuffix(c.name, "_at"):
			return v, v > -1e15 && v < 1e15
		}
		return v, true
	case string:
		return v, c.kind == "TEXT" && c.fitText(v)
	}
	return nil, false
}

func (c column) fitText(v string) bool {
	if !utf8.ValidString(v) || strings.IndexByte(v, 0) >= 0 {
		return false
	}
	switch c.name {
	case "project_id", "from_id", "into_id", "id":
		return v == "" && c.name != "id" || projectIDForm.MatchString(v)
	case "session_key":
		return v == "" || isSessionKey(v)
	case "manifest_hash":
		return v == "" || len(v) == 64 && strings.Trim(v, "0123456789abcdef") == ""
	case "phase":
		return v == kindExtract || v == kindConsolidate
	case "path":
		return strings.ContainsAny(v, `/\`)
	case "inputs":
		var inputs map[string]string
		return json.Unmarshal([]byte(v), &inputs) == nil
	}
	return true
}

// isSessionKey reports whether a text has the form of a session's key.
func isSessionKey(key string) bool {
	source, id := memoir.SplitKey(key)
	return source != "" && id != "" && strings.IndexByte(key, ':') > 0
}

// Sizes of blobs in tables that earlier versions wrote, in bytes.
const (
	hashSize = 16
	keySize  = 32
)
