package secrets

// Counts says how many replacements were made, by rule id.
type Counts map[string]int

// Merge adds what other counted.
func (c Counts) Merge(other Counts) {
	for rule, n := range other {
		c[rule] += n
	}
}

// Total is the number of replacements by all rules.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}
