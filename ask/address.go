package ask

import (
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Forms of addresses. sessionScheme is followed by a session's key or a prefix of its id.
const (
	memoryScheme  = "memory://"
	rootAddress   = memoryScheme + "root"
	userAddress   = memoryScheme + "user"
	sessionScheme = "session:"
)

// maxAddress bounds an address, in bytes.
const maxAddress = 500

// address is a place in a project's memory, or a session.
type address struct {
	text    string // as shown to the client
	project string // id of another project; empty: the client's
	place   string // argument of memory.Root.Open; empty: a session
	session string
	line    int // number of a line or an item; 0: none
}

var fragment = lazyregexp.New(`#L?([0-9]{1,7})$`)

// parse parses an address: memory://root/PATH, memory://user/PATH, memory://PROJECT/PATH, session:KEY, or a path in
// the memory. A fragment is the number of a line or an item. memory.Root.Open refuses paths outside the memory.
func parse(text string) (address, error) {
	if text == "" || len(text) > maxAddress {
		return address{}, usage("for example memory://root/MEMORY.md or session:KEY",
			"an address must have 1 to %d bytes, not %d", maxAddress, len(text))
	}
	a := address{text: text}
	if found := fragment.FindStringSubmatch(text); found != nil {
		a.line, _ = strconv.Atoi(found[1]) // cannot fail for 1 to 7 digits
		a.text = strings.TrimSuffix(text, found[0])
	}
	if session, ok := strings.CutPrefix(a.text, sessionScheme); ok && session != "" {
		a.session = session
		return a, nil
	}
	a.place = a.text
	rest, ok := strings.CutPrefix(a.text, memoryScheme)
	if host, path, _ := strings.Cut(rest, "/"); ok && host != "root" {
		a.project, a.place = host, strings.TrimSuffix(rootAddress+"/"+path, "/")
		if host == "user" {
			a.project = memoir.UserProjectID
		}
	}
	return a, nil
}

var errOther = usage("the setting mcp.allProjects allows it", "the memory of other projects is not available here")
