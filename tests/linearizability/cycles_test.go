package main

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// txn makes a transaction from words: "x+1,2" appends, "x=1,2" reads, "x#2" reads the length.
func txn(client int, call, end int64, state status, words ...string) *transaction {
	t := &transaction{Client: client, Call: call, Return: end, Status: state}
	for _, word := range words {
		i := strings.IndexAny(word, "+=#")
		x, values := touch{Key: word[:i]}, []int64{}
		for _, text := range strings.Split(word[i+1:], ",") {
			var n int64
			if _, err := fmt.Sscan(text, &n); err == nil {
				values = append(values, n)
			}
		}
		switch word[i] {
		case '+':
			x.Appended = values
		case '=':
			x.IsRead, x.Read, x.Length = true, values, len(values)
		case '#':
			x.IsRead, x.Length = true, int(values[0])
		}
		t.Touches = append(t.Touches, x)
	}
	return t
}

// final reads everything after everything.
func final(words ...string) *transaction { return txn(9, 1000, 1001, done, words...) }

// Each planted anomaly must be found under its name; its neighbour, which differs in little, has none.
var planted = []struct {
	name, kind string
	history    []*transaction
}{
	{"two appends in one order", "", []*transaction{txn(1, 0, 9, done, "x+1", "y+1"), txn(2, 0, 9, done, "x+2", "y+2"), final("x=1,2", "y=1,2")}},
	{"two appends in two orders", "G0", []*transaction{txn(1, 0, 9, done, "x+1", "y+1"), txn(2, 0, 9, done, "x+2", "y+2"), final("x=1,2", "y=2,1")}},
	{"a value of a transaction that failed", "G1a", []*transaction{txn(1, 0, 9, failed, "x+1"), txn(2, 0, 9, done, "x=1")}},
	{"a value of a transaction that was lost", "", []*transaction{txn(1, 0, 9, lost, "x+1"), txn(2, 0, 9, done, "x=1")}},
	{"a read between transactions", "", []*transaction{txn(1, 0, 9, done, "x+1"), txn(3, 0, 9, done, "x+2"), txn(2, 0, 9, done, "x=1"), final("x=1,2")}},
	{"a read in the middle", "G1b", []*transaction{txn(1, 0, 9, done, "x+1,2"), txn(2, 0, 9, done, "x=1"), final("x=1,2")}},
	{"a length in the middle", "G1b", []*transaction{txn(1, 0, 9, done, "x+1,2"), txn(2, 0, 9, done, "x#1", "y+1"), final("x=1,2", "y=1")}},
	{"two that read each other's writes", "G1c", []*transaction{txn(1, 0, 9, done, "x+1", "y=1"), txn(2, 0, 9, done, "y+1", "x=1")}},
	{"one that reads the other's write", "", []*transaction{txn(1, 0, 9, done, "x+1", "y="), txn(2, 0, 9, done, "y+1", "x=1"), final("y=1")}},
	{"half of another's writes", "G-single", []*transaction{txn(1, 0, 9, done, "x+1", "y+1"), txn(2, 0, 9, done, "x=1", "y="), final("y=1")}},
	{"all of another's writes", "", []*transaction{txn(1, 0, 9, done, "x+1", "y+1"), txn(2, 0, 9, done, "x=1", "y=1")}},
	{"a lost update", "G-single", []*transaction{txn(1, 0, 9, done, "x=", "x+1"), txn(2, 0, 9, done, "x=", "x+2"), final("x=1,2")}},
	{"an update after the other", "", []*transaction{txn(1, 0, 9, done, "x=", "x+1"), txn(2, 0, 9, done, "x=1", "x+2"), final("x=1,2")}},
	{"two that are each other's condition", "G2", []*transaction{txn(1, 0, 9, done, "x#0", "y+1"), txn(2, 0, 9, done, "y#0", "x+1"), final("x=1", "y=1")}},
	{"one that is the other's condition", "", []*transaction{txn(1, 0, 9, done, "x#0", "y+1"), txn(2, 0, 9, done, "y#1", "x+1"), final("x=1", "y=1")}},
	{"a stale read", "G-single-realtime", []*transaction{txn(1, 0, 1, done, "x+1"), txn(2, 5, 9, done, "x="), final("x=1")}},
	{"a read beside the write", "", []*transaction{txn(1, 0, 6, done, "x+1"), txn(2, 5, 9, done, "x="), final("x=1")}},
	{"reads that go back", "G-single-realtime", []*transaction{txn(1, 0, 99, done, "x+1"), txn(2, 5, 9, done, "x=1"), txn(3, 10, 11, done, "x="), final("x=1")}},
	{"an order against time", "G0-realtime", []*transaction{txn(1, 0, 1, done, "x+1"), txn(2, 2, 3, done, "x+2"), final("x=2,1")}},
	{"a write that was acknowledged and is gone", "lost write", []*transaction{txn(1, 0, 1, done, "x+1"), final("x=")}},
	{"a write that was lost and never was", "", []*transaction{txn(1, 0, 1, lost, "x+1"), final("x=")}},
	{"half a transaction that was lost", "half a transaction", []*transaction{txn(1, 0, 1, lost, "x+1", "y+1"), txn(2, 5, 6, done, "x=1"), final("y=")}},
	{"a transaction that was lost and seen later", "", []*transaction{txn(1, 0, 1, lost, "x+1", "y+1"), txn(2, 5, 6, done, "y="), final("x=1", "y=1")}},
	{"a value twice", "duplicate", []*transaction{txn(1, 0, 1, done, "x+1"), final("x=1,1")}},
	{"a value from nowhere", "unknown value", []*transaction{txn(1, 0, 1, done, "x+1"), final("x=1,7")}},
	{"two orders of values", "incompatible order", []*transaction{txn(1, 0, 9, done, "x+1"), txn(2, 0, 9, done, "x+2"), txn(3, 0, 9, done, "x=2"), final("x=1,2")}},
	{"what a failed transaction saw", "G-single", []*transaction{txn(1, 0, 9, done, "x+1", "y+1"), txn(2, 0, 9, failed, "x=1", "y=", "z+1"), final("y=1", "z=")}},
}

func TestPlanted(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			found := checkLists(p.history)
			if p.kind == "" && len(found) > 0 || p.kind != "" && (len(found) == 0 || found[0].Kind != p.kind) {
				t.Errorf("found %v, not %q", found, p.kind)
			}
		})
	}
}

// level is how an invented database treats transactions that are under way at the same time.
type level int

const (
	serial          level = iota // one at a time
	snapshot                     // each reads its snapshot, and fails where another has written what it writes
	lostUpdates                  // each reads its snapshot, and nobody looks
	readUncommitted              // each step takes effect at once, also those of transactions that fail
)

// invent gives the history of transactions of a few clients on a database of some level.
func invent(random *rand.Rand, how level) []*transaction {
	current := map[string][]int64{}
	type running struct {
		t     *transaction
		seen  map[string][]int64
		step  int
		fails bool
	}
	var history []*transaction
	var open []*running
	now, value := int64(0), int64(0)
	for now < 400 || len(open) > 0 {
		now++
		if len(open) < 4 && now < 400 && random.Intn(2) == 0 {
			r := &running{t: &transaction{Client: int(now), Call: now}, seen: map[string][]int64{}, fails: random.Intn(8) == 0}
			for key, list := range current {
				r.seen[key] = list
			}
			for _, k := range random.Perm(4)[:1+random.Intn(3)] {
				x := touch{Key: fmt.Sprint("k", k), IsRead: random.Intn(3) > 0}
				if !x.IsRead || random.Intn(2) == 0 {
					value++
					x.Appended = []int64{value}
				}
				r.t.Touches = append(r.t.Touches, x)
			}
			open = append(open, r)
			continue
		}
		if len(open) == 0 {
			continue
		}
		i := random.Intn(len(open))
		if how == serial {
			i = 0
		}
		r := open[i]
		for {
			x := &r.t.Touches[r.step]
			r.step++
			source := r.seen
			if how == serial || how == readUncommitted {
				source = current
			}
			if x.IsRead {
				x.Read = append([]int64{}, source[x.Key]...)
				x.Length = len(x.Read)
			}
			if how == readUncommitted {
				current[x.Key] = append(current[x.Key][:len(current[x.Key]):len(current[x.Key])], x.Appended...)
			}
			if how != serial || r.step == len(r.t.Touches) {
				break
			}
		}
		if r.step < len(r.t.Touches) {
			continue
		}
		for _, x := range r.t.Touches {
			r.fails = r.fails || how == snapshot && len(x.Appended) > 0 && len(current[x.Key]) != len(r.seen[x.Key])
		}
		if r.fails {
			r.t.Status = failed
		}
		for _, x := range r.t.Touches {
			if !r.fails && how != readUncommitted {
				current[x.Key] = append(current[x.Key][:len(current[x.Key]):len(current[x.Key])], x.Appended...)
			}
		}
		now++
		r.t.Return = now
		history = append(history, r.t)
		open = append(open[:i], open[i+1:]...)
	}
	last := &transaction{Client: 99, Call: now + 1, Return: now + 2}
	for key, list := range current {
		last.Touches = append(last.Touches, touch{Key: key, IsRead: true, Read: list, Length: len(list)})
	}
	return append(history, last)
}

// What an invented database allows is found in its histories; what it excludes is not.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name             string
		how              level
		allows, excluded []string
	}{
		{"serial", serial, nil, []string{"G", "lost", "half", "unknown", "incompatible", "duplicate"}},
		{"snapshot", snapshot, []string{"G2"}, []string{"G0", "G1", "G-single", "lost", "half", "unknown", "incompatible", "duplicate"}},
		{"lost updates", lostUpdates, []string{"G-single"}, []string{"G0", "G1a", "G1b", "lost", "half", "unknown", "incompatible", "duplicate"}},
		{"read uncommitted", readUncommitted, []string{"G1a", "G0", "G1c"}, []string{"lost", "half", "unknown", "incompatible", "duplicate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := map[string]int{}
			for seed := range int64(100) {
				for _, a := range checkLists(invent(rand.New(rand.NewSource(seed)), c.how)) {
					found[a.Kind]++
				}
			}
			for _, kind := range c.allows {
				if found[kind] == 0 {
					t.Errorf("no %s in %v", kind, found)
				}
			}
			for kind := range found {
				for _, prefix := range c.excluded {
					if strings.HasPrefix(kind, prefix) {
						t.Errorf("%d times %s", found[kind], kind)
					}
				}
			}
		})
	}
}
