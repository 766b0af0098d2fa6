package rollout

import (
	"bytes"
	"io"
)

// Some agents write a session as one JSON document, printed or not, whose
// entries are an array: {"sessionId":…, "messages":[…]}. A document gives its
// other members, as far as they stand before the array, as the first record, and
// each entry as a record: so it streams like lines do.

// maxMember bounds a member of the head: what is longer is not wanted, but for what
// OpenCode says of a session, which may hold a list of changes.
func maxMember(key []byte) int {
	if string(key) == `"info"` {
		return 4 << 20
	}
	return 64 << 10
}

// entriesKeys name the array of entries: Gemini CLI and OpenCode, Codex's
// TypeScript version.
var entriesKeys = []string{"messages", "items"}

// isDocument tells a document from lines by its first bytes.
func isDocument(head []byte) bool {
	head = bytes.TrimLeft(head, "\xEF\xBB\xBF \t\r\n\x00")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) == 1 && line[0] == '{' {
		return !bytes.Contains(head, []byte("\n{")) && !entriesFirst(head) // else lines that someone printed
	}
	known, info, entries := false, false, false
	each(line, func(key, value []byte) bool {
		switch string(key) {
		case "messages", "items":
			entries = isArray(value)
			return false
		case "projectHash", "sessionId", "session":
			known = true
		case "info":
			info = isObject(value)
		case "type", "$set":
			return false
		}
		return true
	})
	return (known || info) && entries
}

// entriesFirst reports that messages stand before all that says whose they are, as
// where a program sorted the members: such a document is read as one record.
func entriesFirst(head []byte) bool {
	first := false
	each(head, func(key, _ []byte) bool {
		switch string(key) {
		case "messages":
			first = true
			return false
		case "projectHash", "sessionId", "session", "info":
			return false
		}
		return true
	})
	return first
}

// document reads a document's records.
type document struct {
	r       *Reader
	begun   bool
	inArray bool
	head    []byte
}

// Next returns the next record as Reader.Next does.
func (d *document) Next() ([]byte, error) {
	d.r.pretty = true
	if !d.begun {
		d.begun = true
		if c, ok := d.r.peek(); !ok || c != '{' {
			return d.end()
		}
		d.r.pos++
		if err := d.readHead(); err != nil {
			return nil, err
		}
		return d.head, nil
	}
	for d.inArray {
		c, ok := d.r.peek()
		switch {
		case !ok:
			d.r.CutTail = true
			return d.end()
		case c == ']':
			d.inArray = false
		case c == '{':
			raw, err := d.r.Next()
			return raw, err
		default:
			d.r.Malformed++
			d.r.pos++
		}
	}
	return d.end()
}

func (d *document) end() ([]byte, error) {
	if d.r.err != nil {
		return nil, d.r.err
	}
	return nil, io.EOF
}

// readHead collects the members before the array of entries.
func (d *document) readHead() error {
	d.head = append(d.head, '{')
	defer func() { d.head = append(d.head, '}') }()
	for {
		c, ok := d.r.peek()
		if !ok || c == '}' {
			d.r.CutTail = !ok
			return nil
		}
		if c != '"' {
			d.r.Malformed++
			return nil
		}
		key, ok := d.scalar()
		if !ok {
			d.r.CutTail = true
			return nil
		}
		if c, ok = d.r.peek(); !ok || c != ':' {
			d.r.CutTail = !ok
			return nil
		}
		d.r.pos++
		c, ok = d.r.peek()
		if !ok {
			d.r.CutTail = true
			return nil
		}
		var value []byte
		switch {
		case c == '[' && isEntries(key):
			d.r.pos++
			d.inArray = true
			d.r.gave++
			return nil
		case c == '{' || c == '[':
			var how ending
			if value, how = d.r.value(); how == endCut {
				d.r.CutTail = true
				return nil
			} else if how != endWhole {
				value = nil
			}
		default:
			if value, ok = d.scalar(); !ok {
				d.r.CutTail = true
				return nil
			}
		}
		if len(value) > 0 && len(value) <= maxMember(key) {
			if len(d.head) > 1 {
				d.head = append(d.head, ',')
			}
			d.head = append(append(append(d.head, key...), ':'), value...)
		}
	}
}

func isEntries(key []byte) bool {
	for _, k := range entriesKeys {
		if string(key) == `"`+k+`"` {
			return true
		}
	}
	return false
}

// scalar reads a string, number or word, keeping at most 64 KiB of it.
func (d *document) scalar() ([]byte, bool) {
	var out []byte
	quoted, escaped := d.r.in[d.r.pos] == '"', false
	for first := true; ; first = false {
		if d.r.pos == d.r.end && !d.r.fill() {
			return nil, false
		}
		c := d.r.in[d.r.pos]
		if !quoted && (c == ',' || c == '}' || c == ']' || c <= ' ') {
			return out, true
		}
		d.r.pos++
		if len(out) <= 64<<10 {
			out = append(out, c)
		}
		if !quoted || first {
			continue
		}
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			return out, true
		}
	}
}
