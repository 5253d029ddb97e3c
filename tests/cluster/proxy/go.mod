module dynalith.test/proxy

go 1.24
