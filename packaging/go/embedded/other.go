//go:build !linux || !(amd64 || arm64)

package embedded

var binary []byte
