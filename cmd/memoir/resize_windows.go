package main

import "os"

// onResize does nothing: each frame asks for the size.
func onResize(chan os.Signal) {}

// onResume does nothing: there is no stopping of processes here.
func onResume(chan os.Signal) {}

// stopSelf does nothing, likewise.
func stopSelf() {}
