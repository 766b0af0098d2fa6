package config

import "os"

// replaceFile writes a file. Windows promises no step that is atomic.
var replaceFile = os.WriteFile
