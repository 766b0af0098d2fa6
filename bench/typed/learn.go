package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"memoir/extract"
)

// The constants of the learning, chosen by the sentences of other repositories.
const (
	rounds    = 150
	step      = 0.3
	shrinking = 0.00003 // of weights, per round
	most      = 2000    // features that are kept
	scale     = 100     // of the weights in the file
)

// An example is a sentence of learn.tsv with its features.
type example struct {
	features []string
	share    float64 // of the gradient: both labels weigh the same
	lasting  bool
}

// learn writes the weights that extract.Lasts reads: logistic regression over the mean of a sentence's features.
func learn(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var all []example
	n := map[bool]float64{}
	for line := range strings.Lines(string(data)) {
		label, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e := example{features: extract.LastingFeatures(text), lasting: label == "lasting"}
		n[e.lasting]++
		all = append(all, e)
	}
	for i := range all {
		all[i].share = 10 / n[all[i].lasting] / float64(len(all[i].features))
	}
	w := regression(all, nil)
	w = regression(all, strongest(all, w))
	var out bytes.Buffer
	for _, f := range slices.Sorted(maps.Keys(w)) {
		if weight := math.Round(w[f] * scale); weight != 0 {
			fmt.Fprintf(&out, "%.0f %s\n", weight, f)
		}
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}

// regression returns the weights of the features in keep, of all if keep is nil.
func regression(all []example, keep map[string]bool) map[string]float64 {
	w, moved := map[string]float64{}, map[string]float64{}
	for range rounds {
		slope := map[string]float64{}
		for f, v := range w {
			slope[f] = shrinking * v
		}
		for _, e := range all {
			sum := 0.0
			for _, f := range e.features {
				sum += w[f]
			}
			miss := 1 / (1 + math.Exp(-sum/float64(len(e.features))))
			if e.lasting {
				miss--
			}
			for _, f := range e.features {
				if keep == nil || keep[f] {
					slope[f] += miss * e.share
				}
			}
		}
		for f, v := range slope {
			if moved[f] += v * v; v != 0 {
				w[f] -= step * v / math.Sqrt(moved[f])
			}
		}
	}
	return w
}

// strongest returns the features whose weights move the most examples.
func strongest(all []example, w map[string]float64) map[string]bool {
	count := map[string]float64{}
	for _, e := range all {
		for _, f := range e.features {
			count[f]++
		}
	}
	names := slices.SortedFunc(maps.Keys(w), func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Abs(w[b])*math.Sqrt(count[b]), math.Abs(w[a])*math.Sqrt(count[a])), cmp.Compare(a, b))
	})
	keep := map[string]bool{}
	for _, f := range names[:min(most, len(names))] {
		keep[f] = true
	}
	return keep
}
