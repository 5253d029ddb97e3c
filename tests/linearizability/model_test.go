package main

import (
	"path/filepath"
	"testing"

	"github.com/anishathalye/porcupine"
)

func one(client int, call, end int64, in input, out output) porcupine.Operation {
	return porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end}
}

func writes(actions ...action) input { return input{Name: "write", Actions: actions} }

func sees(call, end int64, pairs map[int]item) porcupine.Operation {
	in, out := input{Name: "read"}, output{}
	for k, i := range pairs {
		in.Keys, out.Items = append(in.Keys, k), append(out.Items, i)
	}
	return one(9, call, end, in, out)
}

func putting(k int, version int64) action {
	return action{put, k, unconditional, item{version, 0, version}}
}

func adding(k int) action { return action{Kind: add, Key: k, Expected: unconditional} }

var (
	nothing = item{}
	first   = item{1, 0, 1}
	second  = item{2, 0, 2}
	both    = writes(putting(0, 1), putting(4, 1))
	ifFirst = writes(action{put, 0, 1, second})
	begun   = one(0, 0, 1, writes(putting(0, 1)), output{Items: []item{nothing}})
	stopped = output{failed, []item{second}, []bool{true}}
)

// Each planted anomaly must be rejected, and its neighbour, which differs in little, accepted.
var histories = []struct {
	name    string
	good    bool
	history []porcupine.Operation
}{
	{"a read after the write", true, []porcupine.Operation{begun, sees(2, 3, map[int]item{0: first})}},
	{"a stale read", false, []porcupine.Operation{begun, sees(2, 3, map[int]item{0: nothing})}},
	{"a read beside the write", true, []porcupine.Operation{begun, one(1, 2, 9, ifFirst, output{Items: []item{first}}), sees(3, 4, map[int]item{0: first})}},
	{"reads that go back", false, []porcupine.Operation{begun, one(1, 2, 9, ifFirst, output{Items: []item{first}}),
		sees(3, 4, map[int]item{0: second}), sees(5, 6, map[int]item{0: first})}},
	{"two increments", true, []porcupine.Operation{one(0, 0, 5, writes(adding(0)), output{Items: []item{{2, 2, 0}}}), one(1, 0, 5, writes(adding(0)), output{Items: []item{{1, 1, 0}}})}},
	{"a lost update", false, []porcupine.Operation{one(0, 0, 5, writes(adding(0)), output{Items: []item{{1, 1, 0}}}), one(1, 0, 5, writes(adding(0)), output{Items: []item{{1, 1, 0}}})}},
	{"one of two conditions", true, []porcupine.Operation{begun, one(1, 2, 9, ifFirst, output{Items: []item{first}}), one(2, 2, 9, ifFirst, stopped)}},
	{"both of two conditions", false, []porcupine.Operation{begun, one(1, 2, 9, ifFirst, output{}), one(2, 2, 9, ifFirst, output{})}},
	{"a condition that failed without reason", false, []porcupine.Operation{begun, one(1, 2, 3, ifFirst, output{failed, []item{first}, []bool{true}})}},
	{"a whole transaction", true, []porcupine.Operation{one(0, 0, 9, both, output{}), sees(1, 2, map[int]item{0: nothing, 4: nothing}), sees(3, 4, map[int]item{0: first, 4: first})}},
	{"half a transaction", false, []porcupine.Operation{one(0, 0, 9, both, output{}), sees(3, 4, map[int]item{0: first, 4: nothing})}},
	{"a cancelled transaction that wrote", false, []porcupine.Operation{begun,
		one(1, 2, 3, writes(putting(1, 1), action{check, 0, 7, nothing}), output{failed, []item{nothing, first}, []bool{false, true}}), sees(4, 5, map[int]item{1: first})}},
	{"a transaction that names the wrong condition", false, []porcupine.Operation{begun,
		one(1, 2, 3, writes(putting(1, 1), action{check, 0, 7, nothing}), output{failed, []item{nothing, first}, []bool{true, false}})}},
	{"a lost write that was carried out", true, []porcupine.Operation{begun, one(1, 2, 3, ifFirst, output{Status: lost}), sees(7, 8, map[int]item{0: second})}},
	{"a lost write that never was", true, []porcupine.Operation{begun, one(1, 2, 3, ifFirst, output{Status: lost}), sees(7, 8, map[int]item{0: first})}},
	{"half a lost transaction", false, []porcupine.Operation{one(1, 2, 3, both, output{Status: lost}), sees(7, 8, map[int]item{0: first, 4: nothing})}},
	{"a lost write that is seen and gone", false, []porcupine.Operation{begun, one(1, 2, 3, ifFirst, output{Status: lost}),
		sees(5, 6, map[int]item{0: second}), sees(7, 8, map[int]item{0: first})}},
	{"a lost increment that counts twice", false, []porcupine.Operation{one(1, 2, 3, writes(adding(0)), output{Status: lost}), sees(7, 8, map[int]item{0: {2, 2, 0}})}},
	{"a query that misses an item", false, []porcupine.Operation{begun, sees(2, 3, map[int]item{0: nothing, 1: nothing, 2: nothing})}},
	{"an answer out of order", false, []porcupine.Operation{begun, sees(2, 3, map[int]item{0: nonsense})}},
}

func TestModel(t *testing.T) {
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			folder := t.TempDir()
			if ok := (&group{name: "g", history: h.history}).judge(folder); ok != h.good {
				t.Errorf("accepted: %v, not %v", ok, h.good)
			}
			if files, _ := filepath.Glob(folder + "/*.html"); (len(files) == 0) != h.good {
				t.Errorf("%d visualisations", len(files))
			}
		})
	}
}

func TestQueryOrder(t *testing.T) {
	at := func(k, version string) row { return row{"SK": {"S": k}, "n": {"N": version}} }
	for name, c := range map[string]struct {
		byVersion bool
		rows      []row
		isGood    bool
	}{
		"by key":           {false, []row{at("k0", "2"), at("k2", "1")}, true},
		"by version":       {true, []row{at("k2", "1"), at("k0", "2")}, true},
		"not by key":       {false, []row{at("k2", "1"), at("k0", "2")}, false},
		"not by version":   {true, []row{at("k0", "2"), at("k2", "1")}, false},
		"an item twice":    {true, []row{at("k0", "1"), at("k0", "1")}, false},
		"of another table": {false, []row{at("k4", "1")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := listed(c.rows, c.byVersion)[0] != nonsense; got != c.isGood {
				t.Errorf("accepted: %v", got)
			}
		})
	}
}
