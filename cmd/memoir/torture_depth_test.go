package main

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// tortureVariable is the depth of the torture tests: all (every moment, hours), dense (an hour), sample (a twentieth of
// dense, as `make torture`), none, or a number for only that moment of each command. Otherwise, it is a few moments.
const tortureVariable = "MEMOIR_TORTURE_TESTS"

// every exceeds the number of moments of any command.
const every = 1 << 30

// by returns the value for the depth. It skips the test if the depth is none.
func by[T any](t testing.TB, few, dense, all T) T {
	t.Helper()
	switch os.Getenv(tortureVariable) {
	case "none":
		t.Skip(tortureVariable + " is none")
	case "sample":
		if a, ok := any(few).(int); ok {
			return any(a + (any(dense).(int)-a)/20).(T)
		}
		return dense
	case "dense":
		return dense
	case "all":
		return all
	}
	return few
}

// seedVariable is the seed of chance, to repeat a choice.
const seedVariable = "MEMOIR_TORTURE_SEED"

var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano()) % 1_000_000
}()

// chance returns a source of the same numbers for the same seed, test and purpose.
func chance(t testing.TB, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.Name()+"\n"+purpose)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// chosenOf chooses many of the numbers from 0 to n-1: a random one in each of many intervals of equal length.
func chosenOf(t testing.TB, purpose string, n, many int) []int {
	t.Helper()
	if only, err := strconv.Atoi(os.Getenv(tortureVariable)); err == nil {
		if only < 1 || only > n {
			return nil
		}
		return []int{only - 1}
	}
	many = min(many, n)
	random, out := chance(t, purpose), make([]int, many)
	for i := range out {
		from, to := i*n/many, (i+1)*n/many
		out[i] = from + random.IntN(to-from)
	}
	return out
}
