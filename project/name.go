package project

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
)

// maxNameBytes bounds a project's name, which becomes part of a directory's name.
const maxNameBytes = 48

// id makes the project's id, which is also the name of its folder. The hash keeps
// apart what has the same name, /a/b-c and /a-b/c for one.
func id(name, identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return name + "-" + hex.EncodeToString(sum[:])[:12]
}

// nameOf takes a project's name from its identity alone, so that every session of
// a project finds the same name.
func nameOf(identity string) string {
	base := path.Base(identity)
	// A bare repository often hides in a folder of the project.
	if base == ".bare" || base == ".git" {
		base = path.Base(path.Dir(identity))
	}
	return sanitise(strings.TrimSuffix(base, ".git"))
}

// sanitise makes any text a single path element that no file system and no shell
// finds special: letters, digits, "_", "." and "-", not beginning with either of
// the latter.
func sanitise(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range memoir.WithoutFloods(text) {
		if unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			continue // shows nothing
		}
		if r == utf8.RuneError || !(r == '_' || r == '.' || unicode.In(r, unicode.L, unicode.N, unicode.M)) {
			dash = true
			continue
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	name := strings.TrimLeft(b.String(), ".-")
	for len(name) > maxNameBytes {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	name = strings.TrimRight(name, ".-")
	if name == "" {
		return "project"
	}
	return name
}
