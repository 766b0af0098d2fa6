package secrets

import (
	"strings"

	"memoir/internal/lazyregexp"
)

// loginWords are the ends of names that a map of users with their passwords has:
// `users: {ada: "…", bob: "…"}`. Those that are true name what is in it themselves.
var loginWords = map[string]bool{
	"users": false, "accounts": false, "logins": true, "creds": true, "credentials": true, "passwords": true,
	"stringdata": true, // of Kubernetes
}

// login is a user and what stands beside the name.
type login struct{ name, value extent }

// logins looks at a place where a word stands that may end the name of such a map.
func (a *apart) logins(start, end int) {
	text := a.text
	if end == len(text) || nameChar(text[end]) {
		return
	}
	word := strings.ToLower(text[start:end])
	pos := end
	if text[pos] == '"' || text[pos] == '\'' {
		pos++
	}
	if start > 0 && text[start-1] == '[' && pos+1 < len(text) && text[pos] == ']' && strings.IndexByte("\r\n", text[pos+1]) >= 0 {
		a.admit(a.loginLines(skip(text, pos+1, "\r\n"), 0, "="), loginWords[word])
		return
	}
	if pos = skip(text, pos, " \t"); pos == len(text) || text[pos] != ':' && text[pos] != '=' {
		return
	}
	line := text[pos:min(len(text), pos+maxNameApart)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if strings.TrimRight(line, " \t\r") == ":" {
		begin := a.at.start(start)
		column := skip(text, begin, " \t") - begin
		found := a.loginLines(a.at.end(pos)+1, column+1, ":")
		if word == "stringdata" {
			a.told(found)
		} else {
			a.admit(found, loginWords[word])
		}
		return
	}
	if m := loginOpening.FindString(line); m != "" {
		a.admit(a.loginItems(pos+len(m)), loginWords[word])
	}
}

// loginOpening is what stands between a map's name and its first item, with the map's type.
var loginOpening = lazyregexp.New(`^(?::=|=>|[:=]|:[ ]?[A-Za-z][\w<>, \[\]]{0,40}=)[ \t]{0,8}(?:map\[string\]string\{|[{\[(]|array[ ]?\(|Map\.of\()`)

// loginItems reads a map in brackets: names and strings in quotes.
func (a *apart) loginItems(at int) (found []login) {
	text := a.text
	for len(found) < maxItems {
		at = skip(text, at, ", \t\r\n")
		if at == len(text) {
			return nil
		}
		if strings.IndexByte("}])", text[at]) >= 0 {
			return found
		}
		if text[at] == '#' || strings.HasPrefix(text[at:], "//") {
			at = a.at.end(at)
			continue
		}
		var l login
		var ok bool
		if l.name, at, ok = a.userName(at); !ok {
			return nil
		}
		at = skip(text, at, " \t")
		rest := text[at:min(len(text), at+2)]
		switch {
		case rest == "=>":
			at += 2
		case rest != "" && strings.IndexByte(":=,", rest[0]) >= 0:
			at++
		default:
			return nil
		}
		at = skip(text, at, " \t")
		if at == len(text) || strings.IndexByte("\"'`", text[at]) < 0 {
			return nil
		}
		if l.value, at, ok = a.scalar(at, &a.scalars); !ok {
			return nil
		}
		found = append(found, l)
	}
	return found
}

// loginLines reads a map that has a line for each name, which begins in a column at least.
func (a *apart) loginLines(at, column int, separator string) (found []login) {
	text := a.text
	indent := -1
	for at < len(text) && len(found) < maxItems {
		end := a.at.end(at)
		pos := skip(text, at, " \t")
		if pos >= end || pos-at < column {
			break
		}
		if text[pos] == '#' || text[pos] == ';' {
			at = end + 1
			continue
		}
		if indent < 0 {
			indent = pos - at
		}
		name, next, ok := a.userName(pos)
		next = skip(text, next, " \t")
		if separator == "=" && text[pos] == '[' {
			break
		}
		if !ok || pos-at != indent || next >= end || text[next] != separator[0] {
			return nil
		}
		value := trimExtent(text, extent{next + 1, end}, " \t\r")
		if n := value.end - value.start; n > 1 && strings.IndexByte("\"'", text[value.start]) >= 0 && text[value.start] == text[value.end-1] {
			value = extent{value.start + 1, value.end - 1}
		}
		found = append(found, login{name, value})
		at = end + 1
	}
	return found
}

// userName reads a name in quotes or without, or a symbol of Ruby.
func (a *apart) userName(at int) (name extent, end int, ok bool) {
	text := a.text
	quote := byte(0)
	switch c := text[at]; {
	case c == '"' || c == '\'':
		quote = c
		at++
	case c == ':' && at+1 < len(text):
		at++
	}
	end = at
	for end < len(text) && end-at < maxHead && (nameChar(text[end]) || text[end] == '.' || text[end] == '@') {
		end++
	}
	name = extent{at, end}
	if quote != 0 {
		if end == len(text) || text[end] != quote {
			return name, end, false
		}
		end++
	}
	return name, end, name.start < name.end
}

// admit notes the values of a map of users as their passwords, unless it is one of something else.
func (a *apart) admit(found []login, told bool) {
	chosen := 0
	for _, l := range found {
		if describing[joints.Replace(strings.ToLower(l.name.of(a.text)))] {
			return
		}
		if isChosen(l.value.of(a.text), told) {
			chosen++
		}
	}
	if chosen == 0 || !told && (2*chosen < len(found) || a.alike(found)) {
		return
	}
	for _, l := range found { // beside passwords, weaker ones are passwords, too
		if v := l.value.of(a.text); len(v) >= 6 && strings.IndexByte(v, ' ') < 0 {
			a.addAs("password", l.value)
		}
	}
}

// told notes each value of a map that holds nothing but secrets.
func (a *apart) told(found []login) {
	for _, l := range found {
		if isChosen(l.value.of(a.text), true) {
			a.addAs("password", l.value)
		}
	}
}

// alike reports whether all values begin alike, as those of one kind of ids do.
func (a *apart) alike(found []login) bool {
	first := found[0].value.of(a.text)
	for _, l := range found[1:] {
		if v := l.value.of(a.text); len(v) < 2 || len(first) < 2 || v[:2] != first[:2] {
			return false
		}
	}
	return len(found) > 1
}

// describing are the names of fields that records of users, their tables and their interfaces
// have, and no user.
var describing = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`name type id ids email mail host hostname hosts url uri path file port role roles group groups
		description title default value values key keys kind label user users username login password pass passwd pwd token
		secret ref image version table schema database db dbname format method class style count limit total created createdat
		updated updatedat date time state status source target service resource endpoint query sql get put post create delete
		update list read write enabled required properties items example firstname lastname address phone city country company
		avatar displayname uid gid home shell uuid hash salt data domain server provider engine driver client clientid arn account
		accountid region project owner org team apikey accesskey secretkey accesskeyid secretaccesskey privatekey publickey
		bucket tenant tenantid subscriptionid passphrase mode from to in of and import export helper registry index prefix
		field fields column columns include exclude order primary foreign on as env profile profiles namespace secretname cert ca`) {
		set[word] = true
	}
	return set
}()

var (
	// noChoice is what stands beside names and is no password: words, names, numbers, ids,
	// addresses, paths, versions, hashes and expressions.
	noChoice = lazyregexp.New(`^(?:[A-Za-z]+(?:[-_. /:]*[A-Za-z]+)*[-_]?\d?|[\d.,:/+-]+|[A-Za-z]{1,4}[-_:]?\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}|v?\d+(?:\.\w+)+|` +
		`\w+@[\w-]+(?:\.[\w-]+)+|(?i:u?int|float|utf|sha|md|base|hs|rs|es|aes|varchar)[-_]?\d+\w*|[\w-]+(?:\.[\w-]*[A-Za-z])+|[\w.-]*[/\\:][\w./\\:@-]*|[a-z]+(?:[-_][a-z0-9]+)+|` +
		`[./~$<{(\[@%&*!-].*[/>})\]%]|[$~/<{%].*|.*(?:\$\{|\{\{|\(|://).*)$`)
	// coined is a password made of words, or of letters by chance, for which a rule is stricter.
	coined      = lazyregexp.New(`^(?:(?:[A-Z][a-z]{2,11}){2,3}\d?|[A-Z]?[a-z]{2,11}_[A-Z][a-z]{2,11}\d|[A-Za-z]*[A-Z][a-z][A-Z][A-Za-z]*)$`)
	hexadecimal = lazyregexp.New(`^[0-9a-fA-F]{8,}$`)
	counted     = lazyregexp.New(`[A-Za-z].*\d|\d.*[A-Za-z]|[A-Za-z].*[!@#$%^&*?+=]|[!@#$%^&*?+=].*[A-Za-z]`)
)

// isChosen reports whether a value has the form of a password that somebody chose or made.
func isChosen(value string, told bool) bool {
	if len(value) < 6 || len(value) > 64 || strings.ContainsAny(value, " \t\"\\") {
		return false
	}
	return told && coined.MatchString(value) || counted.MatchString(value) && !noChoice.MatchString(value) && (told || !hexadecimal.MatchString(value))
}
