package inprocess

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func opened(t *testing.T, options ...string) *Engine {
	t.Helper()
	e, err := Open(options, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func ask(e *Engine, operation, body string) (int, error) {
	request, _ := http.NewRequest("POST", "http://localhost/", strings.NewReader(body))
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	reply, err := e.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return reply.StatusCode, nil
}

func table(t *testing.T, e *Engine) {
	t.Helper()
	status, err := ask(e, "CreateTable", `{"TableName":"one","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`)
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
}

// A trap ends one engine: its requests say so, others go on.
func TestDead(t *testing.T) {
	one, two := opened(t), opened(t)
	one.mutex.Lock()
	one.handle = 0xfffffff0 // beyond its memory
	one.mutex.Unlock()
	_, first := ask(one, "ListTables", "{}")
	_, second := ask(one, "ListTables", "{}")
	if first == nil || !strings.Contains(first.Error(), "the engine has failed") || second == nil || second.Error() != first.Error() {
		t.Fatal(first, second)
	}
	if one.Close() == nil {
		t.Fatal("close() hides the failure")
	}
	if _, err := ask(one, "ListTables", "{}"); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	table(t, two)
}

// What has no room gets an error of the API.
func TestFull(t *testing.T) {
	e := opened(t, "--data-limit-mb", "8")
	table(t, e)
	status, puts := 200, 0
	for ; status == 200; puts++ {
		var err error
		item := fmt.Sprintf(`{"TableName":"one","Item":{"id":{"S":"%d"},"b":{"S":"%s"}}}`, puts, strings.Repeat("x", 300000))
		if status, err = ask(e, "PutItem", item); err != nil || puts > 100 {
			t.Fatal(puts, err)
		}
	}
	if status < 400 {
		t.Fatal(status)
	}
	if status, err := ask(e, "GetItem", `{"TableName":"one","Key":{"id":{"S":"0"}}}`); status != 200 {
		t.Fatal(status, err)
	}
}

func TestManyGoroutines(t *testing.T) {
	e := opened(t)
	table(t, e)
	var all sync.WaitGroup
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := 0; n < 50; n++ {
				item := fmt.Sprintf(`{"TableName":"one","Item":{"id":{"S":"%d-%d"}}}`, i, n)
				if status, err := ask(e, "PutItem", item); status != 200 {
					t.Error(status, err)
				}
			}
		}()
	}
	all.Wait()
}
