package secrets

import "strings"

const (
	cryptLength = 13 // characters of a hash that crypt made with DES
	maxLogin    = 32 // of a user's name
)

// cryptEnds are the characters that such a hash may end with: its last one holds four bits.
const cryptEnds = ".26AEIMQUYcgkosw"

// hashedLogins returns the hashes in lines that hold a user's name and the hash of a password
// and nothing else, as servers of the web keep them: `name:hash` and `name:realm:hash`.
func hashedLogins(text string) (hashes []extent) {
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		if end += start; end < start {
			end = len(text)
		}
		line := strings.TrimSuffix(text[start:end], "\r")
		if at := len(line) - cryptLength; at > 1 && at <= maxLogin+1 && line[at-1] == ':' && isLogin(line[:at-1]) && isCrypt(line[at:]) {
			hashes = append(hashes, extent{start + at, start + len(line)})
		} else if at := len(line) - md5Length; at > 3 && line[at-1] == ':' && isDigest(line[:at-1]) && isHex(line[at:]) {
			hashes = append(hashes, extent{start + at, start + len(line)})
		}
		start = end + 1
	}
	return hashes
}

const md5Length = 32

// addHashed notes a hash as files of users hold it.
func (a *apart) addHashed(hash extent) {
	if hash.end-hash.start != cryptLength {
		a.addAs("password_hash", hash)
		return
	}
	a.lines.WriteString("user:")
	a.values = append(a.values, segment{a.lines.Len(), hash.start, cryptLength})
	a.lines.WriteString(hash.of(a.text) + ":1:0:0:0:::\n")
}

// isDigest reports whether a text is a user's name and a realm.
func isDigest(text string) bool {
	name, realm, ok := strings.Cut(text, ":")
	if !ok || len(name) > maxLogin || !isLogin(name) || realm == "" || len(realm) > maxHead {
		return false
	}
	for i := range len(realm) {
		if !nameChar(realm[i]) && realm[i] != ' ' && realm[i] != '.' && realm[i] != '@' {
			return false
		}
	}
	return realm[0]|0x20 >= 'a' && realm[0]|0x20 <= 'z'
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}

func isLogin(name string) bool {
	for i := range len(name) {
		if !nameChar(name[i]) && (i == 0 || name[i] != '.' && name[i] != '@') {
			return false
		}
	}
	return name != ""
}

// isCrypt reports whether a word may be a hash of crypt: letters of both kinds with digits or
// marks among them, which no name and no word is written with.
func isCrypt(word string) bool {
	var lower, upper, other, turns int
	last := 0
	for i := range len(word) {
		kind := 0
		switch c := word[i]; {
		case c >= 'a' && c <= 'z':
			lower++
			kind = 1
		case c >= 'A' && c <= 'Z':
			upper++
			kind = 2
		case c >= '0' && c <= '9', c == '.', c == '/':
			other++
			kind = 3
		default:
			return false
		}
		if kind != last {
			turns++
		}
		last = kind
	}
	return lower > 0 && upper > 0 && (turns > 5 || turns > 3 && other > 0) && strings.IndexByte(cryptEnds, word[len(word)-1]) >= 0 && !hasWords(word)
}

// hasWords reports whether a good part of a word is made of others, as a name in camel case,
// of a file or of a version is.
func hasWords(word string) bool {
	words, letters := 0, 0
	for i := 0; i < len(word); {
		start := i
		for i++; i < len(word) && word[i] >= 'a' && word[i] <= 'z'; i++ {
		}
		if i-start >= 3 && word[start]|0x20 >= 'a' && word[start]|0x20 <= 'z' && strings.ContainsAny(word[start:i], "aeiouAEIOU") {
			words++
			letters += i - start
		}
	}
	return words > 1 && letters > 8
}
