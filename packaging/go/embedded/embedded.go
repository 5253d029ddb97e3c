// Package embedded brings the server along in the test binary: import _ "github.com/dynalith/dynalithtest/embedded".
package embedded

import "github.com/dynalith/dynalithtest"

func init() { dynalithtest.Embedded = binary }
