// Command write puts the fixture sessions into a directory and prints the
// moment that they are meant to be read at.
package main

import (
	"fmt"
	"os"
	"time"

	"memoir/testdata"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write DIR")
		os.Exit(2)
	}
	if _, err := testdata.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
	fmt.Println(testdata.Now.Format(time.RFC3339))
}
