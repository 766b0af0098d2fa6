package page

import (
	"encoding/binary"
)

// The kinds of pages of a tree. A table without row ids is stored as an index is.
const (
	innerIndex = 0x02
	innerTable = 0x05
	leafIndex  = 0x0a
	leafTable  = 0x0d
)

// maxDepth bounds a tree: with four entries a page it would hold 4^40 rows.
const maxDepth = 40

// Row is one entry of a tree.
type Row struct {
	ID     int64 // of a table with row ids
	Values []any // nil, int64, float64, string or []byte
}

// Found is what one page of a tree holds.
type Found struct {
	Page  uint32
	Index bool // of an index, or of a table without row ids
	Rows  []Row
	Lost  int // entries that could not be read
}

// Tree reads the tree with a root page and calls visit for each of its pages that
// holds rows. It returns the pages that could not be read: where their rows, or the
// trees below them, should be.
func (f *File) Tree(root uint32, index bool, visit func(Found)) (bad []uint32) {
	seen := map[uint32]bool{}
	var walk func(n uint32, depth int)
	walk = func(n uint32, depth int) {
		if seen[n] || depth > maxDepth {
			bad = append(bad, n)
			return
		}
		seen[n] = true
		found, children, ok := f.entries(n)
		if !ok || found.Index != index {
			bad = append(bad, n)
			return
		}
		if len(found.Rows) > 0 || found.Lost > 0 {
			visit(found)
		}
		if found.Lost > 0 {
			bad = append(bad, n)
		}
		for _, child := range children {
			walk(child, depth+1)
		}
	}
	walk(root, 0)
	return bad
}

// Rows reads the rows of one page by itself, whatever tree it belongs to; ok is
// false if it holds none.
func (f *File) Rows(n uint32) (found Found, ok bool) {
	found, _, ok = f.entries(n)
	return found, ok && len(found.Rows) > 0
}

// entries reads the rows and the children of a page of a tree.
func (f *File) entries(n uint32) (found Found, children []uint32, ok bool) {
	b := f.Page(n)
	if b == nil {
		return found, nil, false
	}
	found.Page = n
	at := 0
	if n == 1 {
		at = headerSize
	}
	kind := b[at]
	cells := int(binary.BigEndian.Uint16(b[at+3:]))
	pointers := at + 8
	inner := kind == innerTable || kind == innerIndex
	if inner {
		pointers = at + 12
	}
	if kind != innerIndex && kind != innerTable && kind != leafIndex && kind != leafTable || pointers+2*cells > f.usable {
		return found, nil, false
	}
	found.Index = kind == innerIndex || kind == leafIndex
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(b[pointers+2*i:]))
		if cell < pointers+2*cells || cell >= f.usable {
			found.Lost++
			continue
		}
		rest := b[cell:f.usable]
		if inner {
			if len(rest) < 4 {
				found.Lost++
				continue
			}
			children = append(children, binary.BigEndian.Uint32(rest))
			rest = rest[4:]
		}
		if kind == innerTable {
			continue
		}
		row, ok := f.row(rest, kind == leafTable)
		if !ok {
			found.Lost++
			continue
		}
		found.Rows = append(found.Rows, row)
	}
	if inner {
		children = append(children, binary.BigEndian.Uint32(b[at+8:]))
	}
	return found, children, true
}

// row reads a cell from its size on.
func (f *File) row(cell []byte, withID bool) (row Row, ok bool) {
	size, n := varint(cell)
	if n == 0 || size < 0 {
		return row, false
	}
	cell = cell[n:]
	most, least := (f.usable-12)*64/255-23, (f.usable-12)*32/255-23
	if withID {
		most = f.usable - 35
		if row.ID, n = varint(cell); n == 0 {
			return row, false
		}
		cell = cell[n:]
	}
	payload, ok := f.payload(cell, size, int64(most), int64(least))
	if !ok {
		return row, false
	}
	row.Values, ok = record(payload)
	return row, ok
}

// payload joins what a cell holds with what its overflow pages do. Most is the largest
// payload that needs none; one that needs them leaves at least the least in its cell.
func (f *File) payload(cell []byte, size, most, least int64) ([]byte, bool) {
	if size <= most {
		if size > int64(len(cell)) {
			return nil, false
		}
		return cell[:size], true
	}
	room := int64(f.usable - 4) // of an overflow page
	local := least + (size-least)%room
	if local > most {
		local = least
	}
	if size > int64(f.pages)*int64(f.size) || local+4 > int64(len(cell)) {
		return nil, false
	}
	if f.left -= size; f.left < 0 { // many cells that lead to the same pages
		return nil, false
	}
	out := append(make([]byte, 0, size), cell[:local]...)
	next := binary.BigEndian.Uint32(cell[local:])
	for int64(len(out)) < size {
		b := f.Page(next)
		if b == nil {
			return nil, false
		}
		out = append(out, b[4:4+min(room, size-int64(len(out)))]...)
		next = binary.BigEndian.Uint32(b)
	}
	return out, next == 0
}
