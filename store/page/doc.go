// Package page reads rows straight from the pages of a SQLite database, as many as
// can be read, where SQLite itself gives up: at the first page that is not what it
// should be. It follows https://www.sqlite.org/fileformat2.html, writes nothing,
// and takes nothing that it reads for granted: whatever the bytes are, reading ends,
// in time and memory that grow with the size of the file.
//
// It knows no table of the program. Read file.go first (which bytes are a page),
// then tree.go (which pages are a table) and record.go (what a row holds).
package page
