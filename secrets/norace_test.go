//go:build !race

package secrets

const raced = false
