#!/usr/bin/env python3
"""The Go modules dynalithtest and dynalithtest/embedded in a project that has nothing but them and the SDK.

    tests/packages/go.py FOLDER       by packaging/make-go
"""
import os
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
from check import ROOT, Tests, blocks, killed_leaves_none, run

README = ROOT / "packaging/go/README.md"
MODULES = pathlib.Path()
GO = shutil.which("go") or "/usr/local/go/bin/go"
# The versions that the end-to-end tests have, so that nothing new need be fetched.
SDK = dict(re.findall(r"^\s*(github.com/\S+) (v\S+)", (ROOT / "tests/e2e/go/go.mod").read_text(), flags=re.M))

HEAD = '''package orders

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynalith/dynalithtest"
	_ "github.com/dynalith/dynalithtest/embedded"
)

var _, _, _, _, _, _ = context.Background, fmt.Sprint, http.Get, os.Create, strings.Repeat, time.Sleep
var _ = dynamodb.NewFromConfig
'''


def project(folder, test, **more):
    folder.mkdir(exist_ok=True)
    (folder / "orders_test.go").write_text(test)
    requires = "".join(f"\t{name} {version}\n" for name, version in SDK.items())
    (folder / "go.mod").write_text(f"module orders\n\ngo 1.24\n\nrequire (\n\tgithub.com/dynalith/dynalithtest v0.0.0\n\tgithub.com/dynalith/dynalithtest/embedded v0.0.0\n{requires})\n\n"
                                   f"replace (\n\tgithub.com/dynalith/dynalithtest => {MODULES}\n\tgithub.com/dynalith/dynalithtest/embedded => {MODULES}/embedded\n)\n")
    shutil.copy(ROOT / "tests/e2e/go/go.sum", folder / "go.sum")
    run([GO, "mod", "tidy"], folder)
    run([GO, "test", "-c", "-o", "tests", "."], folder, **more)
    return folder / "tests"


def test_readme(folder):
    assert "PASS" in run([project(folder, blocks(README, "go")[0]), "-test.v"], folder)


def test_workers(folder):
    """200 parallel tests, each with its own tables."""
    tests = project(folder, HEAD + '''
func TestMany(t *testing.T) {
	for i := 0; i < 200; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			tables := dynalithtest.New(t)
			client := dynamodb.NewFromConfig(tables.Config())
			found, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
			if err != nil || len(found.TableNames) != 0 {
				t.Fatal(err, found)
			}
			tables.Checkpoint("a")
			tables.Clock(map[string]any{"advance": "1h"})
			tables.Rollback("a")
		})
	}
}

func TestStart(t *testing.T) {
	begin := time.Now()
	if _, err := dynamodb.NewFromConfig(dynalithtest.New(t).Config()).ListTables(context.Background(), &dynamodb.ListTablesInput{}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("start to first answer,", time.Since(begin).Milliseconds(), "ms")
}
''')
    text = run([tests, "-test.v", "-test.parallel", "4"], folder)
    assert text.count("--- PASS: TestMany/") == 200
    times = sorted(int(re.search(r"first answer, (\d+)", run([tests, "-test.v", "-test.run", "TestStart"], folder)).group(1)) for _ in range(5))
    print(f"packages go: 200 tests, 4 at once: {re.search(r'PASS: TestMany .(.*)s.', text).group(1)} s; start to first answer, median {times[2]} ms")


def test_log(folder):
    tests = project(folder, HEAD + '''
func TestMain(m *testing.M) {
	dynalithtest.Options = []string{"--log-level", "debug"}
	os.Exit(m.Run())
}

func TestFails(t *testing.T) {
	dynamodb.NewFromConfig(dynalithtest.New(t).Config()).ListTables(context.Background(), &dynamodb.ListTablesInput{})
	t.Fail()
}
''')
    text = run([tests], folder, status=1)
    assert "ListTables" in text[text.index("log of dynalith"):]


def test_killed(folder):
    tests = project(folder, HEAD + '''
func TestWaits(t *testing.T) {
	dynalithtest.New(t)
	os.Create("is-running")
	time.Sleep(10 * time.Minute)
}
''')
    killed_leaves_none([tests], folder)


def test_says_why(folder):
    tests = project(folder, HEAD + '''
func TestWrong(t *testing.T) {
	dynalithtest.Options = []string{"--no-such-option"}
	dynalithtest.New(t)
}
''')
    assert re.search(r"the server ended: .*--no-such-option", run([tests], folder, status=1), flags=re.S)


def main():
    global MODULES
    MODULES = pathlib.Path(sys.argv[1]).resolve()
    tests = Tests("go")
    for test in (test_readme, test_workers, test_log, test_killed, test_says_why):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
