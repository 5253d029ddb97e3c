package embedded

import _ "embed"

//go:embed dynalith_linux_amd64
var binary []byte
