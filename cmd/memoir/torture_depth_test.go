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

// tortureVariable says how much these tests do: all, every moment, which takes hours; dense, as many
// as fit into an hour; sample, a twentieth of these, as `make torture` does; none, nothing, for who
// does more in another step; a number, that moment of each command; else a few.
const tortureVariable = "MEMOIR_TORTURE_TESTS"

// every is more moments than any command has.
const every = 1 << 30

// by chooses by how much these tests are to do, and skips one where nothing is to be done.
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

// seedVariable is what chance begins with, so that a choice can be made again.
const seedVariable = "MEMOIR_TORTURE_SEED"

var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano()) % 1_000_000
}()

// chance is the same for the same seed, test and purpose.
func chance(t testing.TB, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.Name()+"\n"+purpose)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// chosenOf chooses so many of n, counted from 0: one at random of each of as many stretches
// of equal length.
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
