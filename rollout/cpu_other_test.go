//go:build !unix

package rollout

import "time"

var began = time.Now()

// cpuTime is the time that has passed, where the system does not say what this
// process has used.
func cpuTime() time.Duration { return time.Since(began) }
