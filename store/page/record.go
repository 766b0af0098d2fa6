package page

import (
	"encoding/binary"
	"math"
)

// maxColumns is how many columns SQLite allows by default.
const maxColumns = 2000

// varint reads a number of one to nine bytes; n is 0 where there is none.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			return int64(u<<8 | uint64(b[i])), 9
		}
		u = u<<7 | uint64(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return int64(u), i + 1
		}
	}
	return 0, 0
}

// record reads the columns of a row. Its parts must fill it exactly.
func record(b []byte) ([]any, bool) {
	size, n := varint(b)
	if n == 0 || size < int64(n) || size > int64(len(b)) {
		return nil, false
	}
	types, body := b[n:size], b[size:]
	var values []any
	for len(types) > 0 {
		kind, n := varint(types)
		if n == 0 || len(values) == maxColumns {
			return nil, false
		}
		types = types[n:]
		value, length, ok := column(kind, body)
		if !ok {
			return nil, false
		}
		values, body = append(values, value), body[length:]
	}
	return values, len(body) == 0
}

// column reads one value and returns how many bytes it took.
func column(kind int64, b []byte) (value any, length int64, ok bool) {
	switch {
	case kind < 0 || kind == 10 || kind == 11:
		return nil, 0, false
	case kind == 0:
		return nil, 0, true
	case kind == 8 || kind == 9:
		return kind - 8, 0, true
	case kind <= 7:
		length = []int64{0, 1, 2, 3, 4, 6, 8, 8}[kind]
	default:
		length = (kind - 12) / 2
	}
	if length > int64(len(b)) {
		return nil, 0, false
	}
	b = b[:length]
	switch {
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), length, true
	case kind < 7:
		v := int64(int8(b[0]))
		for _, next := range b[1:] {
			v = v<<8 | int64(next)
		}
		return v, length, true
	case kind%2 == 1:
		return string(b), length, true
	}
	return append([]byte{}, b...), length, true
}
