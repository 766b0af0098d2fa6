package model

import "syscall"

// dieWithUs has the kernel kill a program when we are killed, so that it does not go on
// asking, and being paid for, with nobody left to hear it. It ends with the thread that
// started it, which run therefore keeps.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
