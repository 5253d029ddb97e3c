module dynalith.test/dynalithtest/embedded

go 1.21

require dynalith.test/dynalithtest v0.0.0
