module github.com/dynalith/dynalithtest/embedded

go 1.21

require github.com/dynalith/dynalithtest v0.0.0
