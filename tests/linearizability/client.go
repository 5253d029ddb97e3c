package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type (
	object map[string]any
	row    map[string]map[string]string // an item on the wire: all its values are strings or numbers
)

type answer struct {
	Type                string `json:"__type"`
	Message             string
	Item, Attributes    row
	Items               []row
	Responses           []struct{ Item row }
	CancellationReasons []struct {
		Code string
		Item row
	}
}

var (
	errUnsent = errors.New("there was no connection: the request was not sent")
	errLost   = errors.New("the answer was lost")

	// Refusals: the server did nothing and the client may try again.
	refusals = map[string]bool{"TransactionConflictException": true, "ThrottlingException": true, "ProvisionedThroughputExceededException": true}
)

// client is one application: it does one operation after the other.
type client struct {
	id     int
	run    *run
	random *rand.Rand
	http   *http.Client
	writes int64
	seen   [slots]struct {
		group    *group
		versions [keys]int64 // as the last answer showed them
	}
}

// call sends one request. errLost: it may have been carried out.
func (c *client) call(operation string, body any) (a answer, err error) {
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest("POST", "http://"+c.run.server.address(), bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0")
	response, err := c.http.Do(request)
	if err != nil {
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return a, errUnsent
		}
		return a, errLost
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 500 || json.Unmarshal(text, &a) != nil {
		return a, errLost
	}
	a.Type = a.Type[strings.LastIndex(a.Type, "#")+1:]
	return a, nil
}

func number(n int64) object { return object{"N": fmt.Sprint(n)} }

func text(s string) object { return object{"S": s} }

// place tells the table and the key of a group's k-th item.
func (g *group) place(k int) (string, object) {
	table, partition := "main", g.name
	switch {
	case k == queried:
		partition += "-aside"
	case k > queried:
		table = "other"
	}
	return table, object{"PK": text(partition), "SK": text(fmt.Sprintf("k%d", k))}
}

func parse(r row) item {
	if len(r) == 0 {
		return item{}
	}
	value := func(name string) int64 {
		n, _ := strconv.ParseInt(r[name]["N"], 10, 64)
		return n
	}
	return item{value("n"), value("c"), value("w")}
}

// request gives the action's members and the name that it has in a transaction; alone, it also asks for the item.
func (a action) request(g *group, alone bool) (string, object) {
	table, key := g.place(a.Key)
	r := object{"TableName": table, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
	values := object{}
	switch a.Expected {
	case unconditional:
	case 0:
		r["ConditionExpression"] = "attribute_not_exists(PK)"
	default:
		r["ConditionExpression"], values[":expected"] = "n = :expected", number(a.Expected)
	}
	name, returned := [...]string{"Put", "Delete", "Update", "ConditionCheck"}[a.Kind], "ALL_OLD"
	switch a.Kind {
	case put:
		key["n"], key["c"], key["w"] = number(a.Item.Version), number(a.Item.Count), number(a.Item.Writer)
		r["Item"] = key
	case add:
		r["Key"], r["UpdateExpression"], values[":one"], returned = key, "ADD n :one, c :one", number(1), "ALL_NEW"
	default:
		r["Key"] = key
	}
	if len(values) > 0 {
		r["ExpressionAttributeValues"] = values
	}
	if alone {
		r["ReturnValues"] = returned
	}
	return name, r
}

// action chooses a change of key k: half of them want the version that this client saw last.
func (c *client) action(k int, expected int64, among kind) action {
	c.writes++
	a := action{Kind: kind(c.random.Intn(int(among))), Key: k, Expected: unconditional, Item: item{expected + 1, 0, c.writes*clients + int64(c.id)}}
	if a.Kind == check || c.random.Intn(2) == 0 {
		a.Expected = expected
	}
	return a
}

// some chooses n different keys.
func (c *client) some(n int) []int { return c.random.Perm(keys)[:n] }

// together reads keys in one transaction.
func (g *group) together(keys []int) (input, string, object) {
	var gets []object
	for _, k := range keys {
		table, key := g.place(k)
		gets = append(gets, object{"Get": object{"TableName": table, "Key": key}})
	}
	return input{Name: "transact-get", Keys: keys}, "TransactGetItems", object{"TransactItems": gets}
}

// operation chooses the next operation, and gives its name and body in the API.
func (c *client) operation(g *group, versions [keys]int64) (in input, name string, body object) {
	switch chance := c.random.Intn(100); {
	case chance < 20:
		in = input{Name: "get", Keys: c.some(1)}
		table, key := g.place(in.Keys[0])
		return in, "GetItem", object{"TableName": table, "Key": key, "ConsistentRead": true}
	case chance < 35:
		body = object{"TableName": "main", "ConsistentRead": true, "KeyConditionExpression": "PK = :g", "ExpressionAttributeValues": object{":g": text(g.name)}}
		if chance%2 == 0 {
			body["IndexName"] = "by-version"
		}
		return input{Name: "query", Keys: []int{0, 1, 2}}, "Query", body
	case chance < 50:
		return g.together(c.some(2 + c.random.Intn(2)))
	case chance < 80:
		k := c.some(1)[0]
		in = input{Name: "write", Actions: []action{c.action(k, versions[k], check)}}
		name, body = in.Actions[0].request(g, true)
		return in, name + "Item", body
	}
	in = input{Name: "transact-write"}
	var writes []object
	for _, k := range c.some(2 + c.random.Intn(2)) {
		a := c.action(k, versions[k], check+1)
		name, body := a.request(g, false)
		in.Actions, writes = append(in.Actions, a), append(writes, object{name: body})
	}
	body = object{"TransactItems": writes}
	if c.random.Intn(2) == 0 {
		body["ClientRequestToken"] = fmt.Sprintf("%d-%d", c.id, c.writes)
	}
	return in, "TransactWriteItems", body
}

// listed gives the items of a query's answer by key. What a query must not give, or in another order, becomes nonsense.
func listed(rows []row, byVersion bool) []item {
	items, last := make([]item, queried), -1
	for i, r := range rows {
		k, err := strconv.Atoi(strings.TrimPrefix(r["SK"]["S"], "k"))
		if err != nil || k >= queried || items[k] != (item{}) || !byVersion && k <= last || byVersion && i > 0 && parse(rows[i-1]).Version > parse(r).Version {
			return []item{nonsense, nonsense, nonsense}
		}
		items[k], last = parse(r), k
	}
	return items
}

// output turns an answer into the model's words; false: the request was refused, and nothing was done.
func (c *client) output(in input, body object, a answer) (out output, ok bool) {
	switch {
	case a.Type == "" && in.Name == "get":
		out.Items = []item{parse(a.Item)}
	case a.Type == "" && in.Name == "query":
		out.Items = listed(a.Items, body["IndexName"] != nil)
	case a.Type == "" && in.Name == "transact-get":
		for _, r := range a.Responses {
			out.Items = append(out.Items, parse(r.Item))
		}
	case a.Type == "" && in.Name == "write":
		out.Items = []item{parse(a.Attributes)}
	case a.Type == "":
	case a.Type == "ConditionalCheckFailedException" && in.Name == "write":
		out = output{failed, []item{parse(a.Item)}, []bool{true}}
	case a.Type == "TransactionCanceledException":
		out.Status = failed
		for _, r := range a.CancellationReasons {
			if r.Code != "None" && r.Code != "ConditionalCheckFailed" {
				return out, false
			}
			out.Items, out.Failed = append(out.Items, parse(r.Item)), append(out.Failed, r.Code != "None")
		}
	default:
		if !refusals[a.Type] {
			c.run.wrong("%s was answered with %s: %s", in.Name, a.Type, a.Message)
		}
		return out, false
	}
	return out, true
}

// once does an operation. A transaction with a token whose answer was lost is sent again until an answer comes: it counts once.
func (c *client) once(in input, name string, body object) (out output, ok bool) {
	for isSent := false; ; time.Sleep(2 * time.Millisecond) {
		a, err := c.call(name, body)
		isSent = isSent || err != errUnsent
		if err == nil {
			out, ok = c.output(in, body, a)
		}
		again := body["ClientRequestToken"] != nil && isSent && time.Now().Before(c.run.end)
		switch {
		case err == nil && (ok || !again):
			return out, ok
		case !again && (!isSent || in.Actions == nil):
			time.Sleep(2 * time.Millisecond)
			return out, false
		case !again:
			return output{Status: lost}, true
		}
	}
}

// do does an operation and writes it into the group's history.
func (c *client) do(g *group, in input, name string, body object) (output, bool) {
	call := c.run.now()
	out, ok := c.once(in, name, body)
	if ok {
		g.record(porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: out, Return: c.run.now()})
	}
	return out, ok
}

// learn keeps the versions that an answer shows.
func (c *client) learn(versions *[keys]int64, in input, out output) {
	for i, k := range in.Keys {
		versions[k] = out.Items[i].Version
	}
	for i, a := range in.Actions {
		switch {
		case out.Status == failed && out.Failed[i]:
			versions[a.Key] = out.Items[i].Version
		case out.Status == done && a.Kind == put:
			versions[a.Key] = a.Item.Version
		case out.Status == done && a.Kind == remove:
			versions[a.Key] = 0
		}
	}
}

func (c *client) work() {
	for time.Now().Before(c.run.end) {
		slot := c.random.Intn(slots)
		g, seen := c.run.join(slot), &c.seen[slot]
		if seen.group != g {
			seen.group, seen.versions = g, [keys]int64{}
		}
		in, name, body := c.operation(g, seen.versions)
		if out, ok := c.do(g, in, name, body); ok {
			c.learn(&seen.versions, in, out)
		}
	}
}
