//go:build !(linux || darwin) || !(amd64 || arm64)

package embedded

var binary []byte
