package main

import (
	"encoding/json"
	"time"
)

// After a run, when nobody writes: a stream replayed from its first record is its table, an index has the items of its table, and counts are right.

type rawRow = map[string]any

type shard struct {
	ShardId, ParentShardId string
	SequenceNumberRange    struct{ EndingSequenceNumber string }
}

type record struct {
	EventID, EventName string
	Dynamodb           struct {
		SequenceNumber           string
		Keys, NewImage, OldImage rawRow
	}
}

// canonical gives one text for one value. Members are in the order of their names.
func canonical(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// must asks until there is an answer.
func (c *client) must(service, operation string, body, reply any) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if c.ask(service, operation, body, reply) == answered {
			return true
		}
	}
	c.run.wrong("%s has no answer at the end", operation)
	return false
}

const (
	api     = "DynamoDB_20120810"
	streams = "DynamoDBStreams_20120810"
)

// all scans a table or an index: key to item.
func (c *client) all(table, index string, names []string) map[string]string {
	items := map[string]string{}
	body := object{"TableName": table, "ConsistentRead": index == ""}
	if index != "" {
		body = object{"TableName": table, "IndexName": index}
	}
	for {
		var page struct {
			Items            []rawRow
			LastEvaluatedKey rawRow
		}
		if !c.must(api, "Scan", body, &page) {
			return items
		}
		for _, item := range page.Items {
			k := canonical(keyOf(item, names))
			if _, is := items[k]; is {
				c.run.wrong("%s %s has %s twice", table, index, k)
			}
			items[k] = canonical(item)
		}
		if page.LastEvaluatedKey == nil {
			return items
		}
		body["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

func keyOf(item rawRow, names []string) rawRow {
	k := rawRow{}
	for _, name := range names {
		k[name] = item[name]
	}
	return k
}

// shards gives the shards of a stream, parents first.
func (c *client) shards(arn string) (ordered []shard) {
	var all []shard
	for body := (object{"StreamArn": arn}); ; {
		var reply struct {
			StreamDescription struct {
				Shards               []shard
				LastEvaluatedShardId string
			}
		}
		if !c.must(streams, "DescribeStream", body, &reply) {
			return nil
		}
		all = append(all, reply.StreamDescription.Shards...)
		if reply.StreamDescription.LastEvaluatedShardId == "" {
			break
		}
		body["ExclusiveStartShardId"] = reply.StreamDescription.LastEvaluatedShardId
	}
	waiting := map[string]bool{}
	for _, s := range all {
		waiting[s.ShardId] = true
	}
	for len(ordered) < len(all) {
		before := len(ordered)
		for _, s := range all {
			if waiting[s.ShardId] && !waiting[s.ParentShardId] {
				waiting[s.ShardId], ordered = false, append(ordered, s)
			}
		}
		if len(ordered) == before {
			c.run.wrong("the shards of %s are each other's parents", arn)
			break
		}
	}
	return ordered
}

// records gives those of one shard.
func (c *client) records(arn string, s shard) (all []record) {
	var begin struct{ ShardIterator string }
	c.must(streams, "GetShardIterator", object{"StreamArn": arn, "ShardId": s.ShardId, "ShardIteratorType": "TRIM_HORIZON"}, &begin)
	for iterator := begin.ShardIterator; iterator != ""; {
		var page struct {
			Records           []record
			NextShardIterator string
		}
		if !c.must(streams, "GetRecords", object{"ShardIterator": iterator}, &page) {
			break
		}
		all = append(all, page.Records...)
		if len(page.Records) == 0 && s.SequenceNumberRange.EndingSequenceNumber == "" {
			break
		}
		iterator = page.NextShardIterator
	}
	return all
}

// replay applies all records to an empty table.
func (c *client) replay(table, arn string) (map[string]string, int) {
	items, ids, count := map[string]string{}, map[string]bool{}, 0
	for _, s := range c.shards(arn) {
		last := ""
		for _, r := range c.records(arn, s) {
			count++
			k, number := canonical(r.Dynamodb.Keys), r.Dynamodb.SequenceNumber
			if len(number) < len(last) || len(number) == len(last) && number <= last {
				c.run.wrong("%s: in shard %s record %s follows %s", table, s.ShardId, number, last)
			}
			if ids[r.EventID] {
				c.run.wrong("%s: two records have the id %s", table, r.EventID)
			}
			last, ids[r.EventID] = number, true
			before, is := items[k]
			if is != (r.Dynamodb.OldImage != nil) || is && before != canonical(r.Dynamodb.OldImage) {
				c.run.wrong("%s: %s of %s says that it was %s, the records before say %q", table, r.EventName, k, canonical(r.Dynamodb.OldImage), before)
			}
			want := "MODIFY"
			if !is {
				want = "INSERT"
			}
			if r.Dynamodb.NewImage == nil {
				want = "REMOVE"
				delete(items, k)
			} else {
				items[k] = canonical(r.Dynamodb.NewImage)
			}
			if r.EventName != want {
				c.run.wrong("%s: the record of %s is %s, not %s", table, k, r.EventName, want)
			}
		}
	}
	return items, count
}

func (c *client) same(what string, got, want map[string]string) {
	for k, item := range want {
		if got[k] != item {
			c.run.wrong("%s: %s is %q, in the table %s", what, k, got[k], item)
		}
	}
	for k, item := range got {
		if _, is := want[k]; !is {
			c.run.wrong("%s has %s, which the table lacks: %s", what, k, item)
		}
	}
}

type described struct {
	TableName, LatestStreamArn string
	ItemCount                  int
	KeySchema                  []struct{ AttributeName string }
	GlobalSecondaryIndexes     []indexDescribed
	LocalSecondaryIndexes      []indexDescribed
}

type indexDescribed struct {
	IndexName string
	ItemCount int
	KeySchema []struct{ AttributeName string }
}

func (c *client) describe(table string) described {
	var reply struct{ Table described }
	c.must(api, "DescribeTable", object{"TableName": table}, &reply)
	return reply.Table
}

func (c *client) counted(table string) map[string]int {
	d := c.describe(table)
	got := map[string]int{"": d.ItemCount}
	for _, index := range append(d.GlobalSecondaryIndexes, d.LocalSecondaryIndexes...) {
		got[index.IndexName] = index.ItemCount
	}
	return got
}

// counts waits until all servers count a table and its indexes right: changes of a server that was killed are counted again.
func (c *client) counts(table string, want map[string]int) {
	wait := 3 * patience
	if c.run.hurries {
		wait = 0
	}
	for _, address := range c.run.addresses {
		c.only = address
		got := c.counted(table)
		for end := time.Now().Add(wait); canonical(got) != canonical(want) && time.Now().Before(end); got = c.counted(table) {
			time.Sleep(200 * time.Millisecond)
		}
		if canonical(got) != canonical(want) {
			c.run.wrong("%s: %s counts %v, there are %v", table, address, got, want)
			break
		}
	}
	for i, address := range c.run.addresses {
		if c.only = address; c.run.faults > 0 && i > 0 {
			c.run.wrong("%s: %s counts %v", table, address, c.counted(table))
		}
	}
	c.only = ""
}

func (r *run) aftermath(c *client) {
	for _, table := range []string{"main", "other", "lists", "lists2"} {
		d := c.describe(table)
		var names []string
		for _, k := range d.KeySchema {
			names = append(names, k.AttributeName)
		}
		items := c.all(table, "", names)
		want := map[string]int{"": len(items)}
		if d.LatestStreamArn != "" {
			replayed, count := c.replay(table, d.LatestStreamArn)
			c.same("the stream of "+table, replayed, items)
			if count < len(items) {
				r.wrong("the stream of %s has %d records, the table %d items", table, count, len(items))
			}
		}
		for _, index := range append(d.GlobalSecondaryIndexes, d.LocalSecondaryIndexes...) {
			should := map[string]string{}
			for k, text := range items {
				var item rawRow
				json.Unmarshal([]byte(text), &item)
				isIn := true
				for _, part := range index.KeySchema {
					isIn = isIn && item[part.AttributeName] != nil
				}
				if isIn {
					should[k] = text
				}
			}
			c.same("index "+index.IndexName, c.all(table, index.IndexName, names), should)
			want[index.IndexName] = len(should)
		}
		c.counts(table, want)
	}
}
