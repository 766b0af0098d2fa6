// Package failpoint names the moments before and after each write of the program, so
// that a test can kill the process there, or let the disk be full. It does so only in
// a program that was built with the tag failpoint; in any other its functions do
// nothing and cost nothing.
//
// The variable FAILPOINT says what happens, to the program that was built so:
//
//	log FILE         each moment is added to FILE, one a line: process, name, on whose behalf
//	kill N [WHOM]    the process kills itself at the Nth moment, counted from 1; or its
//	                 parent, or its group (WHOM is parent or group)
//	interrupt N [WHOM]
//	                 the process sends itself SIGINT at the Nth moment, or WHOM, and goes on
//	terminate N [WHOM]
//	                 the same with SIGTERM
//	fail N [COUNT]   the Nth write, and those after it up to COUNT in all (0: every
//	                 later one), find no room on the disk
//	stop N           the process stops itself (SIGSTOP) at the Nth moment
//
// With the word "isolated" before it, it happens to the processes of their own that the
// program works in (`run --isolated`), and else to all others.
//
// The variable FAILPOINT_CLOCK names a file with a duration, such as -24h: the wall clock
// of such a program is wrong by as much, from the moment that the file says so.
//
// The order of moments is the same for each run only where one worker writes.
package failpoint
