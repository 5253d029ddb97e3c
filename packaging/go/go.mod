module github.com/dynalith/dynalithtest

go 1.21
