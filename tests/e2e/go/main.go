// The AWS SDK for Go v2 against the server at DYNALITH_URL: the patterns of a single table, and how errors arrive.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var (
	ctx    = context.Background()
	client *dynamodb.Client
	app    = aws.String("app")

	underlying = awshttp.NewBuildableClient() // what the SDK takes by itself
)

// thing is a row of the table in Go's own words.
type thing map[string]any

func wire(t thing) map[string]types.AttributeValue {
	return must(attributevalue.MarshalMap(map[string]any(t)))
}

func key(pk, sk string) map[string]types.AttributeValue {
	return wire(thing{"PK": pk, "SK": sk})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func equal(got, want any) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("got %#v, not %#v", got, want))
	}
}

func put(items ...thing) {
	for _, item := range items {
		must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: app, Item: wire(item)}))
	}
}

func get(pk, sk string) thing {
	out := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: app, Key: key(pk, sk), ConsistentRead: aws.Bool(true)}))
	var found thing
	if err := attributevalue.UnmarshalMap(out.Item, &found); err != nil {
		panic(err)
	}
	return found
}

// column gives one attribute of each item, as strings.
func column(items []map[string]types.AttributeValue, name string) []string {
	found := []string{}
	for _, item := range items {
		found = append(found, item[name].(*types.AttributeValueMemberS).Value)
	}
	return found
}

// requests is how many requests the server has answered.
func requests() int {
	response := must(http.Get(os.Getenv("DYNALITH_URL") + "/_dynalith/metrics"))
	defer response.Body.Close()
	total := 0
	for _, match := range regexp.MustCompile(`(?m)^dynalith_requests_total\{.*\} (\d+)$`).FindAllStringSubmatch(string(must(io.ReadAll(response.Body))), -1) {
		total += must(strconv.Atoi(match[1]))
	}
	return total
}

// transport sends a copy of the body. The SDK closes its own as soon as the answer's head is there; net/http may then still ask it for more,
// gets io.EOF from smithy-go's WriteTo where nil is the end (1.28.8), takes that for a failed request and closes the connection while the
// answer is being read.
func transport(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	return underlying.Do(sent)
}

type test struct {
	name string
	run  func()
}

func (t test) passes() (passed bool) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintf(os.Stderr, "e2e go: %s failed: %v\n", t.name, problem)
			passed = false
		}
	}()
	t.run()
	return true
}

func main() {
	cfg := must(config.LoadDefaultConfig(ctx))
	client = dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint, o.HTTPClient = aws.String(os.Getenv("DYNALITH_URL")), smithyhttp.ClientDoFunc(transport)
	})
	failed := 0
	all := append(patterns, errorTests...)
	for _, t := range all {
		if !t.passes() {
			failed++
		}
	}
	fmt.Printf("e2e go: %d passed, %d failed\n", len(all)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
