#!/usr/bin/env python3
"""The Go modules dynalithtest, dynalithtest/embedded and dynalithtest/inprocess in a project that has nothing but them and the SDK.

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

EMBEDDED, IN_PROCESS = "dynalithtest/embedded", "dynalithtest/inprocess"

HEAD = '''package orders

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynalith/dynalithtest"
	_ "github.com/dynalith/dynalithtest/embedded"
)

var _, _, _, _, _, _, _ = io.ReadAll, context.Background, fmt.Sprint, http.Get, os.Create, strings.Repeat, time.Sleep
var _ = dynamodb.NewFromConfig
'''


def in_process(test):
    """The same test with the server in its own process."""
    assert EMBEDDED in test
    return test.replace(EMBEDDED, IN_PROCESS)


def project(folder, test, **more):
    folder.mkdir(exist_ok=True)
    (folder / "orders_test.go").write_text(test)
    used = "inprocess" if IN_PROCESS in test else "embedded"
    requires = "".join(f"\t{name} {version}\n" for name, version in SDK.items())
    (folder / "go.mod").write_text(f"module orders\n\ngo 1.24\n\nrequire (\n\tgithub.com/dynalith/dynalithtest v0.0.0\n\tgithub.com/dynalith/dynalithtest/{used} v0.0.0\n{requires})\n\n"
                                   f"replace (\n\tgithub.com/dynalith/dynalithtest => {MODULES}\n\tgithub.com/dynalith/dynalithtest/{used} => {MODULES}/{used}\n)\n")
    shutil.copy(ROOT / "tests/e2e/go/go.sum", folder / "go.sum")
    run([GO, "mod", "tidy"], folder)
    run([GO, "test", "-c", "-o", "tests", "."], folder, **more)
    return folder / "tests"


def test_readme(folder, form=str):
    assert "PASS" in run([project(folder, form(blocks(README, "go")[0])), "-test.v"], folder)


def test_races(folder):
    """Two that read, then write without a condition: the order is found, with the clients' names; by ADD there is none."""
    tests = project(folder, HEAD.replace('"github.com/aws/aws-sdk-go-v2/service/dynamodb"', """"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types\"""") + """
var key = map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "page"}}
var one = &types.AttributeValueMemberN{Value: "1"}

func count(client *dynamodb.Client) (int, error) {
	n := 0
	found, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("shop"), Key: key, ConsistentRead: aws.Bool(true)})
	if err == nil && found.Item != nil {
		fmt.Sscan(found.Item["n"].(*types.AttributeValueMemberN).Value, &n)
	}
	return n, err
}

func visit(config aws.Config, isRight bool) error {
	client := dynamodb.NewFromConfig(config)
	if isRight {
		_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{TableName: aws.String("shop"), Key: key, UpdateExpression: aws.String("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": one}})
		return err
	}
	n, err := count(client)
	if err == nil {
		_, err = client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("shop"),
			Item: map[string]types.AttributeValue{"pk": key["pk"], "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n + 1)}}})
	}
	return err
}

func race(t *testing.T, isRight bool) {
	dynalithtest.Races(t, dynalithtest.Race{
		Before: func(config aws.Config) error {
			_, err := dynamodb.NewFromConfig(config).CreateTable(context.Background(), &dynamodb.CreateTableInput{TableName: aws.String("shop"), BillingMode: "PAY_PER_REQUEST",
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}})
			return err
		},
		Check: func(config aws.Config) error {
			n, err := count(dynamodb.NewFromConfig(config))
			if err == nil && n != 2 {
				err = fmt.Errorf("two visits, %d counted", n)
			}
			return err
		},
		Options: []string{"--budget", "20"},
	}, func(config aws.Config) error { return visit(config, isRight) }, func(config aws.Config) error {
		time.Sleep(50 * time.Millisecond)
		return visit(config, isRight)
	})
}

func TestRight(t *testing.T) { race(t, true) }
func TestWrong(t *testing.T) { race(t, false) }
""")
    assert "None found" in run([tests, "-test.v", "-test.run", "TestRight"], folder)
    found = run([tests, "-test.run", "TestWrong"], folder, status=1)
    assert "Found after" in found and "is client1" in found and "is client2" in found and "two visits, 1 counted" in found, found


def test_workers(folder, form=str):
    """200 parallel tests, each with its own tables."""
    tests = project(folder, form(HEAD) + '''
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
    print(f"packages go: {form.__name__}: 200 tests, 4 at once: {re.search(r'PASS: TestMany .(.*)s.', text).group(1)} s; start to first answer, median {times[2]} ms")


def test_log(folder, form=str):
    tests = project(folder, form(HEAD) + '''
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


def test_wrong_option(folder):
    tests = project(folder, in_process(HEAD) + '''
func TestWrong(t *testing.T) {
	dynalithtest.Options = []string{"--no-such-option"}
	dynalithtest.New(t)
}
''')
    assert "no-such-option" in run([tests], folder, status=1)


def test_bad_input(folder):
    """The module's own tests: a trap, no room, many goroutines."""
    project(folder, in_process(blocks(README, "go")[0]))
    assert run([GO, "test", "github.com/dynalith/dynalithtest/inprocess"], folder).startswith("ok")


def test_engine(folder):
    """An engine without dynalithtest: signatures, time to live without a request, two that do not see each other, its end."""
    head = in_process(HEAD).replace('"github.com/dynalith/dynalithtest"\n', "").replace('_ "github.com/dynalith/dynalithtest/inprocess"', '"github.com/aws/aws-sdk-go-v2/aws"\n\t"github.com/dynalith/dynalithtest/inprocess"')
    tests = project(folder, head + '''
func ask(engine http.RoundTripper, path, target, body string) (int, string, error) {
	request, _ := http.NewRequest("POST", "http://localhost"+path, strings.NewReader(body))
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+target)
	reply, err := engine.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

const table = `{"TableName":"one","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`

func TestEngine(t *testing.T) {
	one, err := inprocess.Open(nil, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	two, err := inprocess.Open([]string{"--body-limit-mb", "1", "--auth=verify"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, text, err := ask(one, "/", "CreateTable", table); status != 200 {
		t.Fatal(status, text, err)
	}
	if _, text, _ := ask(one.For("000000000002", "us-east-1"), "/", "ListTables", "{}"); text != `{"TableNames":[]}` {
		t.Fatal(text)
	}
	ask(one, "/", "UpdateTimeToLive", `{"TableName":"one","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"end"}}`)
	ask(one, "/", "PutItem", `{"TableName":"one","Item":{"id":{"S":"a"},"end":{"N":"`+fmt.Sprint(time.Now().Unix())+`"}}}`)
	ask(one, "/_dynalith/clock", "", `{"advance":"10d"}`)
	for { // the work without a request
		if _, text, _ := ask(one, "/", "Scan", `{"TableName":"one"}`); strings.Contains(text, `"Count":0`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if status, text, _ := ask(two, "/", "ListTables", "{}"); status != 400 || !strings.Contains(text, "MissingAuthenticationToken") {
		t.Fatal(status, text)
	}
	if status, text, _ := ask(two, "/", "PutItem", strings.Repeat(" ", 2<<20)); status != 413 {
		t.Fatal(status, text)
	}
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "000000000000", SecretAccessKey: "any"}, nil
	})
	config := aws.Config{Region: "us-east-1", Credentials: keys, HTTPClient: &http.Client{Transport: one}}
	if found, err := dynamodb.NewFromConfig(config).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil || len(found.TableNames) != 1 {
		t.Fatal(err)
	}
	if one.Close() != nil || one.Close() != nil {
		t.Fatal("close")
	}
	if _, _, err := ask(one, "/", "ListTables", "{}"); err != inprocess.ErrClosed {
		t.Fatal(err)
	}
	if status, _, err := ask(two, "/_dynalith/health", "", ""); status != 405 && status != 200 {
		t.Fatal(status, err)
	}
}
''')
    assert "PASS" in run([tests, "-test.v"], folder)


def main():
    global MODULES
    MODULES = pathlib.Path(sys.argv[1]).resolve()
    tests = Tests("go")
    for test in (test_readme, test_races, test_workers, test_log, test_killed, test_says_why):
        tests.run(test)
    if (MODULES / "inprocess/dynalith.wasm").stat().st_size:
        for test in (test_readme, test_workers, test_log):
            tests.run(test, in_process)
        tests.run(test_wrong_option)
        tests.run(test_bad_input)
        tests.run(test_engine)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
