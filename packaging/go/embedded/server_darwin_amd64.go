package embedded

import _ "embed"

//go:embed dynalith_darwin_amd64
var binary []byte
