module github.com/dynalith/dynalithtest/inprocess

go 1.24

require (
	github.com/dynalith/dynalithtest v0.0.0
	github.com/tetratelabs/wazero v1.11.0
)
