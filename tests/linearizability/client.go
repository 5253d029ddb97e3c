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
	Item, Attributes    json.RawMessage
	Items               []json.RawMessage
	Responses           []struct{ Item json.RawMessage }
	CancellationReasons []struct {
		Code string
		Item json.RawMessage
	}
}

// sent is what became of a request.
type sent int

const (
	unsent     sent = iota // there was no connection, or the server says that it did nothing: it may be tried again
	unanswered             // it was carried out, or not
	answered
)

// Refusals: the server did nothing and the client may try again.
var refusals = map[string]bool{"TransactionConflictException": true, "ThrottlingException": true, "ProvisionedThroughputExceededException": true,
	"TransactionInProgressException": true}

// client is one application: it does one operation after the other.
type client struct {
	id      int
	run     *run
	random  *rand.Rand
	http    *http.Client
	writes  int64
	lengths map[string]int // of lists, as they were seen last
	only    string         // the server that all requests go to; "": any
	seen    [slots]struct {
		group    *group
		versions [keys]int64 // as the last answer showed them
	}
}

// call sends one request to one of the servers.
func (c *client) call(operation string, body any) (a answer, s sent) {
	s = c.ask("DynamoDB_20120810", operation, body, &a)
	a.Type = a.Type[strings.LastIndex(a.Type, "#")+1:]
	return a, s
}

func (c *client) ask(service, operation string, body, reply any) sent {
	text, _ := json.Marshal(body)
	address := c.run.addresses[c.random.Intn(len(c.run.addresses))]
	if c.only != "" {
		address = c.only
	}
	request, _ := http.NewRequest("POST", "http://"+address, bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", service+"."+operation)
	request.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0")
	response, err := c.http.Do(request)
	if err != nil {
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return unsent
		}
		return unanswered
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	switch {
	case response.StatusCode == http.StatusServiceUnavailable:
		return unsent
	case err != nil || response.StatusCode >= 500 || json.Unmarshal(text, reply) != nil:
		return unanswered
	}
	return answered
}

// isRefused tells whether the server did nothing, and the client may try again.
func (c *client) isRefused(name string, a answer) bool {
	if a.Type == "TransactionCanceledException" {
		for _, r := range a.CancellationReasons {
			if r.Code != "None" && r.Code != "ConditionalCheckFailed" {
				return true
			}
		}
		return false
	}
	if a.Type != "" && a.Type != "ConditionalCheckFailedException" && !refusals[a.Type] {
		c.run.wrong("%s was answered with %s: %s", name, a.Type, a.Message)
		return true
	}
	return refusals[a.Type]
}

// send sends a request. A transaction with a token whose answer was lost is sent again until an answer comes: it counts once.
func (c *client) send(name string, body object) (answer, sent) {
	for wasLost := false; ; time.Sleep(2 * time.Millisecond) {
		a, s := c.call(name, body)
		wasLost = wasLost || s == unanswered
		again := body["ClientRequestToken"] != nil && wasLost && time.Now().Before(c.run.end)
		switch {
		case s == answered && !c.isRefused(name, a):
			return a, answered
		case again:
		case wasLost:
			return a, unanswered
		default:
			time.Sleep(2 * time.Millisecond)
			return a, unsent
		}
	}
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

func rowOf(text json.RawMessage) (r row) {
	if len(text) > 0 && json.Unmarshal(text, &r) != nil {
		return row{"n": {"N": "-1"}}
	}
	return r
}

func read(text json.RawMessage) item { return parse(rowOf(text)) }

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

// output turns an answer into the model's words.
func (c *client) output(in input, body object, a answer) (out output) {
	switch {
	case a.Type == "ConditionalCheckFailedException":
		return output{failed, []item{read(a.Item)}, []bool{true}}
	case a.Type != "":
		out.Status = failed
		for _, r := range a.CancellationReasons {
			out.Items, out.Failed = append(out.Items, read(r.Item)), append(out.Failed, r.Code != "None")
		}
	case in.Name == "get":
		out.Items = []item{read(a.Item)}
	case in.Name == "query":
		var rows []row
		for _, r := range a.Items {
			rows = append(rows, rowOf(r))
		}
		out.Items = listed(rows, body["IndexName"] != nil)
	case in.Name == "transact-get":
		for _, r := range a.Responses {
			out.Items = append(out.Items, read(r.Item))
		}
	case in.Name == "write":
		out.Items = []item{read(a.Attributes)}
	}
	return out
}

// once does an operation; false: nothing was done, or nothing was learned.
func (c *client) once(in input, name string, body object) (output, bool) {
	switch a, s := c.send(name, body); {
	case s == answered:
		return c.output(in, body, a), true
	case s == unanswered && in.Actions != nil:
		return output{Status: lost}, true
	}
	return output{}, false
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
		if c.random.Intn(2) == 0 {
			c.listStep()
			continue
		}
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
