package isolate

import (
	"context"
	"encoding/gob"
	"io"
	"os"
	"time"

	"memoir"
)

// exitWithin is how long a worker whose watcher is gone may take to end.
const exitWithin = 2 * time.Second

// exitCode is that of a program that was interrupted.
const exitCode = 130

// A Work is what a worker does; it returns its answer, also when ctx ends.
type Work func(ctx context.Context) (answer []byte, err error)

// Serve is the worker's side of Command.Run, with stdin and stdout as they are. What
// prepare returns an error about, or a death in it, is not the work's fault. The error is that
// of the work, of memoir.CodeUsage where no task comes, of memoir.CodeInterrupted once the
// watcher is gone or asks for an end, or of writing to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, prepare func(ctx context.Context, task []byte) (Work, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	yield()
	var task []byte
	if err := gob.NewDecoder(in).Decode(&task); err != nil {
		return memoir.Errorf(memoir.CodeUsage, "", "nobody said what to do: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		time.AfterFunc(exitWithin, func() { os.Exit(exitCode) })
		cancel(memoir.Errorf(memoir.CodeInterrupted, "", "the process that watched this one is gone, or asked it to stop"))
	}()
	say := gob.NewEncoder(out)
	work, err := prepare(ctx, task)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return say.Encode(frame{Refusal: &refusal{memoir.CodeOf(err), err.Error(), memoir.HintOf(err)}})
	}
	if err := say.Encode(frame{Begun: true}); err != nil {
		return err
	}
	answer, err := work(ctx)
	if err != nil {
		return err
	}
	return say.Encode(frame{Answer: answer})
}
