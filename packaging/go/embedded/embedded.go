// Package embedded brings the server along in the test binary: import _ "dynalith.test/dynalithtest/embedded".
package embedded

import "dynalith.test/dynalithtest"

func init() { dynalithtest.Embedded = binary }
