package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestWhatWasTakenBackIsNoResult(t *testing.T) {
	t.Parallel()
	const client, pause, timer = "/src/app/client.go", "\tclient.Send(request)", "\tclient.Send(request)\n\tstarted := time.Now()\n\tlog.Printf(\"sending took %v\", started)"
	put := func() *talk { return new(talk).says("how long does sending take?").rewrites(client, pause, timer) }
	timed := func() *talk {
		return put().answers("Added a `Send` timer: the client now prints how long one request takes.").says("thanks, now add the retries").edits("/src/app/retry.go").answers("Added the retries in `retry.go` as you asked.")
	}
	for _, test := range []struct {
		name string
		talk *talk
		left bool // something is left of it
	}{
		{"left in", timed(), true},
		{"taken out by an edit", timed().says("take the timer out").rewrites(client, timer, pause).answers("Done."), false},
		{"moved within one edit", timed().says("tidy up").rewrites(client, "\tstarted := time.Now()\n\tprint(started)", "\tprint(started)\n\tstarted := time.Now()").answers("Done."), true},
		{"taken out by hand", timed().says("and the text for the pull request?").runs("git diff main", 0, "diff --git a/client.go b/client.go\n--- a/client.go\n+++ b/client.go\n@@ -1,1 +1,2 @@\n \tclient.Send(request)\n+\tclient.Close()\n").answers("Here it is."), false},
		{"in the listing", timed().says("and the text for the pull request?").runs("git diff main", 0, "diff --git a/client.go b/client.go\n--- a/client.go\n+++ b/client.go\n@@ -1,1 +1,3 @@\n \tclient.Send(request)\n+\tstarted := time.Now()\n+\tlog.Printf(\"sending took %v\", started)\n").answers("Here it is."), true},
		{"a listing that was cut", timed().says("and the text for the pull request?").runs("git diff main", 0, "diff --git a/client.go b/client.go\n--- a/client.go\n+++ b/client.go\n@@ -1,1 +1,3 @@\n \tclient.Send(request)\n").answers("Here it is."), true},
		{"a listing of what is staged", timed().says("and the text for the pull request?").runs("git diff --cached", 0, "diff --git a/client.go b/client.go\n--- a/client.go\n+++ b/client.go\n@@ -1,1 +1,2 @@\n \tclient.Send(request)\n+\tclient.Close()\n").answers("Here it is."), true},
	} {
		e := test.talk.extract(t)
		if got := of(e, memoir.StatementFile); holds(got, "`client.go` — changed") != test.left {
			t.Errorf("%s: files: %q", test.name, got)
		}
		if got := of(e, memoir.StatementOutcome); holds(got, "`Send` timer") != test.left {
			t.Errorf("%s: outcome: %q", test.name, got)
		}
	}
}

func TestTheShapeOfCodeThatWasWrittenAnewIsPast(t *testing.T) {
	t.Parallel()
	shape := "func pause() time.Duration {\n\tall, err := config.Load(home)\n\tcheck(err, home, all)\n\treturn all.Upload.Pause\n}\n\nfunc wait() {\n\ttime.Sleep(pause().Round(time.Second))\n}"
	answer := "Added the pause to the retries of `upload.go`.\n\nThe uploader now reads a whole `Config` for each pause."
	s := func() *talk {
		return work().answers("Done.").says("wait between the attempts").rewrites("/src/app/upload.go", "// pause", shape).answers(answer)
	}
	again := s().says("that is a lot of work for a pause").rewrites("/src/app/upload.go", shape, "func wait(pause time.Duration) {\n\ttime.Sleep(pause)\n}").answers("The pause of `upload.go` is an argument.")
	for name, test := range map[string]struct {
		talk *talk
		want bool
	}{"as it was written": {s(), true}, "written anew": {again, false}} {
		got := strings.Join(of(test.talk.extract(t), memoir.StatementOutcome), "\n")
		if strings.Contains(got, "whole `Config`") != test.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
