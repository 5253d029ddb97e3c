package embedded

import _ "embed"

//go:embed dynalith_darwin_arm64
var binary []byte
