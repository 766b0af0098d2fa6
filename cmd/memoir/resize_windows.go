package main

import "os"

// onResize does nothing: each frame asks for the size.
func onResize(chan os.Signal) {}
