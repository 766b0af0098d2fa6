package isolate

import (
	"bytes"
	"os"
	"strconv"
)

// oomBonus is how many thousandths of the machine's memory a worker counts as larger
// than it is when the kernel needs memory: it goes before its watcher. With more, it
// would also go before a stranger that took the memory.
const oomBonus = 100

// yield makes this process go first, before its watcher, when memory is short.
func yield() {
	const file = "/proc/self/oom_score_adj"
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if now, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil {
		_ = os.WriteFile(file, []byte(strconv.Itoa(min(now+oomBonus, 1000))), 0)
	}
}

// oomKills is how many processes the kernel has killed for want of memory; 0 if it does
// not say.
func oomKills() int {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if n, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			kills, _ := strconv.Atoi(string(bytes.TrimSpace(n)))
			return kills
		}
	}
	return 0
}
