package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
)

// Transactions on lists, for cycles.go. A transaction of DynamoDB either reads or writes; but one whose conditions on the lengths of lists held
// has read these lists, so that it reads some keys and appends to others.

const (
	listSlots  = 6
	listLength = 60 // values of a list; then another takes its place
)

type list struct {
	name  string
	begun int
}

func (l *list) place() (string, object) {
	n, _ := strconv.Atoi(l.name[1:])
	return [...]string{"lists", "lists2"}[n%2], object{"PK": text(l.name)}
}

// listBook has the lists in use and the history of all.
type listBook struct {
	mutex   sync.Mutex
	current [listSlots]*list
	all     []*list
	history []*transaction
}

// choose gives n different lists.
func (b *listBook) choose(c *client, n int) (chosen []*list) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, slot := range c.random.Perm(listSlots)[:n] {
		l := b.current[slot]
		if l == nil || l.begun >= listLength {
			l = &list{name: fmt.Sprintf("l%d", len(b.all))}
			b.current[slot], b.all = l, append(b.all, l)
		}
		l.begun++
		chosen = append(chosen, l)
	}
	return chosen
}

func (b *listBook) record(t *transaction) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.history = append(b.history, t)
}

func (c *client) values() []int64 {
	var values []int64
	for range 1 + c.random.Intn(2) {
		c.writes++
		values = append(values, c.writes*(clients+1)+int64(c.id))
	}
	return values
}

func listOf(values []int64) object {
	list := []object{}
	for _, v := range values {
		list = append(list, number(v))
	}
	return object{"L": list}
}

// parseList gives the list of an item as it came; empty where there is no item.
func parseList(item json.RawMessage) []int64 {
	var row struct {
		L struct {
			L []struct{ N string }
		} `json:"l"`
	}
	values := []int64{}
	if len(item) == 0 || json.Unmarshal(item, &row) != nil {
		return values
	}
	for _, v := range row.L.L {
		n, _ := strconv.ParseInt(v.N, 10, 64)
		values = append(values, n)
	}
	return values
}

// append gives the members of an Update that appends, on condition of a length unless that is negative.
func (l *list) append(values []int64, length int) object {
	table, key := l.place()
	r := object{"TableName": table, "Key": key, "UpdateExpression": "SET l = list_append(if_not_exists(l, :none), :new)",
		"ExpressionAttributeValues": object{":none": listOf(nil), ":new": listOf(values)}}
	l.condition(r, length)
	return r
}

func (l *list) condition(r object, length int) {
	switch {
	case length < 0:
		return
	case length == 0:
		r["ConditionExpression"] = "attribute_not_exists(PK)"
	default:
		r["ConditionExpression"] = "size(l) = :length"
		values, _ := r["ExpressionAttributeValues"].(object)
		if values == nil {
			values = object{}
		}
		values[":length"] = number(int64(length))
		r["ExpressionAttributeValues"] = values
	}
	r["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
}

// readLists reads some in one step.
func (c *client) readLists(lists []*list) bool {
	t := &transaction{Client: c.id}
	var gets []object
	for _, l := range lists {
		table, key := l.place()
		gets = append(gets, object{"Get": object{"TableName": table, "Key": key}})
	}
	name, body := "TransactGetItems", object{"TransactItems": gets}
	if len(lists) == 1 && c.random.Intn(2) == 0 {
		name, body = "GetItem", gets[0]["Get"].(object)
		body["ConsistentRead"] = true
	}
	t.Call = c.run.now()
	a, sent := c.send(name, body)
	t.Return = c.run.now()
	if sent != answered {
		return false
	}
	for i, l := range lists {
		item := a.Item
		if name == "TransactGetItems" {
			item = a.Responses[i].Item
		}
		read := parseList(item)
		t.Touches = append(t.Touches, touch{Key: l.name, IsRead: true, Read: read, Length: len(read)})
		c.lengths[l.name] = len(read)
	}
	c.run.lists.record(t)
	return true
}

// appendAlone appends to one list, and reads what it was before.
func (c *client) appendAlone(l *list) {
	values := c.values()
	t := &transaction{Client: c.id, Touches: []touch{{Key: l.name, Appended: values}}}
	body := l.append(values, -1)
	body["ReturnValues"] = "ALL_NEW"
	t.Call = c.run.now()
	a, sent := c.send("UpdateItem", body)
	t.Return = c.run.now()
	switch {
	case sent == unanswered:
		t.Status = lost
	case sent == unsent:
		t.Status = failed
	default:
		read := parseList(a.Attributes)
		x := &t.Touches[0]
		if n := len(read) - len(values); n < 0 || !isPrefix(values, read[n:]) {
			c.run.wrong("UpdateItem on %s appended %v and answered %v", l.name, values, read)
		} else {
			x.IsRead, x.Read, x.Length = true, read[:n:n], n
		}
		c.lengths[l.name] = len(read)
	}
	c.run.lists.record(t)
}

// writeLists appends to some lists and looks at the length of others, in one step.
func (c *client) writeLists(lists []*list) {
	t := &transaction{Client: c.id}
	var items []object
	for _, l := range lists {
		x, length := touch{Key: l.name}, -1
		if known, is := c.lengths[l.name]; is && c.random.Intn(3) > 0 {
			x.IsRead, x.Length, length = true, known, known
		}
		if x.IsRead && c.random.Intn(2) == 0 {
			table, key := l.place()
			check := object{"TableName": table, "Key": key}
			l.condition(check, length)
			items = append(items, object{"ConditionCheck": check})
		} else {
			x.Appended = c.values()
			items = append(items, object{"Update": l.append(x.Appended, length)})
		}
		t.Touches = append(t.Touches, x)
	}
	body := object{"TransactItems": items}
	if c.random.Intn(2) == 0 {
		c.writes++
		body["ClientRequestToken"] = fmt.Sprintf("%d-%d", c.id, c.writes)
	}
	t.Call = c.run.now()
	a, sent := c.send("TransactWriteItems", body)
	t.Return = c.run.now()
	switch {
	case sent == unanswered:
		t.Status = lost
		c.unread(t)
	case sent == unsent:
		t.Status = failed
		c.unread(t)
	case a.Type != "":
		t.Status = failed
		c.failedReads(t, a)
	default:
		for _, x := range t.Touches {
			if x.IsRead {
				c.lengths[x.Key] = x.Length + len(x.Appended)
			}
		}
	}
	c.run.lists.record(t)
}

// unread takes out what the transaction would have read if it had been carried out; of a lost one, its appends may count all the same.
func (c *client) unread(t *transaction) {
	for i := range t.Touches {
		t.Touches[i].IsRead, t.Touches[i].Length = false, 0
		delete(c.lengths, t.Touches[i].Key)
	}
}

// failedReads puts what a cancelled transaction saw in the place of what it expected.
func (c *client) failedReads(t *transaction, a answer) {
	if len(a.CancellationReasons) != len(t.Touches) {
		c.run.wrong("TransactWriteItems of %d was cancelled for %d reasons", len(t.Touches), len(a.CancellationReasons))
		c.unread(t)
		return
	}
	for i, reason := range a.CancellationReasons {
		if x := &t.Touches[i]; reason.Code == "ConditionalCheckFailed" {
			x.Read = parseList(reason.Item)
			if len(x.Read) == x.Length {
				c.run.wrong("%s has %d values, and the condition that it has so many failed", x.Key, x.Length)
			}
			x.Length = len(x.Read)
			c.lengths[x.Key] = x.Length
		}
	}
}

// listStep does one transaction on lists.
func (c *client) listStep() {
	switch chance := c.random.Intn(100); {
	case chance < 35:
		c.readLists(c.run.lists.choose(c, 1+c.random.Intn(4)))
	case chance < 50:
		c.appendAlone(c.run.lists.choose(c, 1)[0])
	default:
		c.writeLists(c.run.lists.choose(c, 1+c.random.Intn(4)))
	}
}
