module dynalith.test/dynalithtest

go 1.21
