package prompts

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain is the character that a reader takes another one for: of a letter of another script
// or style that looks like a Latin one that letter, of a full-width, circled, superscript or
// accented form what it is a form of. Characters that look like no ASCII one are returned
// as they are.
func Plain(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if plain, ok := lookAlikes[r]; ok {
		return plain
	}
	if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
		return r
	}
	var form [utf8.UTFMax]byte
	made := norm.NFKD.Properties(form[:utf8.EncodeRune(form[:], r)]).Decomposition()
	first, _ := utf8.DecodeRune(made)
	switch plain, ok := lookAlikes[first]; {
	case ok:
		return plain
	case len(made) > 0 && first > ' ' && first < utf8.RuneSelf:
		return first
	}
	return r
}

// lookAlikes are letters of other scripts by the Latin ones that they look like.
var lookAlikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'с': 'c', 'р': 'p', 'х': 'x', 'у': 'y', 'і': 'i', 'ѕ': 's', 'ј': 'j', 'һ': 'h',
	'ԁ': 'd', 'ո': 'n', 'ԛ': 'q', 'ԝ': 'w', 'м': 'm', 'т': 't', 'к': 'k', 'в': 'b', 'н': 'h', 'г': 'r', 'п': 'n',
	'ӏ': 'l', 'ѵ': 'v', 'ү': 'y', 'ҽ': 'e', 'օ': 'o', 'ս': 'u', 'ռ': 'n', 'ց': 'g', 'հ': 'h', 'լ': 'l', 'ք': 'p',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'Х': 'X',
	'І': 'I', 'Ѕ': 'S', 'Ј': 'J', 'Ү': 'Y', 'Ԁ': 'D',
	'ο': 'o', 'ι': 'i', 'α': 'a', 'ν': 'v', 'ρ': 'p', 'υ': 'u', 'τ': 't', 'κ': 'k', 'ε': 'e', 'η': 'n', 'χ': 'x',
	'σ': 'o', 'ϲ': 'c', 'ϳ': 'j',
	'Ι': 'I', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Η': 'H', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T',
	'Υ': 'Y', 'Χ': 'X', 'Ζ': 'Z', 'Ϲ': 'C',
	'ⲟ': 'o', 'ⲥ': 'c', 'ⲣ': 'p', 'ⲧ': 't', 'ⲓ': 'i', 'Ꭰ': 'D', 'Ꭱ': 'R', 'Ꭲ': 'T', 'Ꭼ': 'E', 'Ꮇ': 'M', 'Ꮋ': 'H',
	'Ꮪ': 'S', 'Ꮯ': 'C', 'Ꮲ': 'P', 'Ꭵ': 'i', 'ꓳ': 'O', 'ꓢ': 'S', 'ꓚ': 'C', 'ꓔ': 'T', 'ꓰ': 'E', 'ꓲ': 'I',
	'ſ': 's', '\u212a': 'K', 'ı': 'i', 'ɩ': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ⅼ': 'l', 'ƚ': 'l', 'ɫ': 'l', 'ø': 'o', 'đ': 'd',
	'℮': 'e', 'ʋ': 'u',
	'İ': 'İ', // a letter of its own, beside which an ASCII one begins a word
	'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɢ': 'g', 'ʜ': 'h', 'ɪ': 'i', 'ᴊ': 'j', 'ᴋ': 'k',
	'ʟ': 'l', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w',
	'ʏ': 'y', 'ᴢ': 'z',
}
