package embedded

import _ "embed"

//go:embed dynalith_linux_arm64
var binary []byte
