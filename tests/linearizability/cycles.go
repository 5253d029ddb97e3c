package main

import (
	"fmt"
	"sort"
	"strings"
)

// Are the transactions serializable, in an order that real time allows? In the manner of Elle (Kingsbury, Alvaro: "Elle: Inferring Isolation
// Anomalies from Experimental Observations", 2020): each key holds a list to which transactions append values that are written once. The longest
// list that was read is the order of a key's versions. From it follow the dependencies: ww (wrote the next version), wr (read what the other
// wrote), rw (read the version before the one that the other wrote), and rt (ended before the other began). A circle of dependencies is an anomaly.

// touch is what a transaction did with one key: it read the list, or at least its length, or it appended to it, or both.
type touch struct {
	Key      string
	IsRead   bool
	Read     []int64 // the list before what this transaction appended
	Length   int     // of Read, which is nil where only the length is known
	Appended []int64
}

type transaction struct {
	Client       int
	Call, Return int64
	Status       status // failed: it did nothing, but what it read counts; lost: it was carried out, or not
	Touches      []touch
}

func (t *transaction) String() string {
	var text []string
	for _, x := range t.Touches {
		switch {
		case x.IsRead && x.Read == nil:
			text = append(text, fmt.Sprintf("%s has %d", x.Key, x.Length))
		case x.IsRead:
			text = append(text, fmt.Sprintf("%s is %v", x.Key, x.Read))
		}
		if len(x.Appended) > 0 {
			text = append(text, fmt.Sprintf("%s + %v", x.Key, x.Appended))
		}
	}
	return fmt.Sprintf("[client %d, %d to %d, %s: %s]", t.Client, t.Call, t.Return, [...]string{"done", "failed", "lost"}[t.Status], strings.Join(text, "; "))
}

type dependency uint8

const (
	ww dependency = 1 << iota
	wr
	rw
	rt
)

func (d dependency) String() string {
	for i, name := range []string{"ww", "wr", "rw", "rt"} {
		if d&(1<<i) != 0 {
			return name // the first is what counts most
		}
	}
	return "?"
}

// anomaly is what no serializable order explains. Kind is Adya's name for it, or says what happened to a value.
type anomaly struct {
	Kind string
	Text string
}

type lists struct {
	history   []*transaction
	writer    map[string]map[int64]*transaction // of the value of a key
	order     map[string][]int64
	edges     map[*transaction]map[*transaction]dependency
	anomalies []anomaly
}

func (l *lists) found(kind, format string, values ...any) {
	l.anomalies = append(l.anomalies, anomaly{kind, fmt.Sprintf(format, values...)})
}

func (l *lists) add(from, to *transaction, kind dependency) {
	if from == to {
		return
	}
	if l.edges[from] == nil {
		l.edges[from] = map[*transaction]dependency{}
	}
	l.edges[from][to] |= kind
}

func isPrefix(short, long []int64) bool {
	for i := range short {
		if i >= len(long) || short[i] != long[i] {
			return false
		}
	}
	return true
}

// learn finds who wrote what, and the order of each key's versions.
func (l *lists) learn() {
	for _, t := range l.history {
		for _, x := range t.Touches {
			if l.writer[x.Key] == nil {
				l.writer[x.Key] = map[int64]*transaction{}
			}
			for _, value := range x.Appended {
				l.writer[x.Key][value] = t
			}
			if x.IsRead && len(x.Read) > len(l.order[x.Key]) {
				l.order[x.Key] = x.Read
			}
		}
	}
	for key, order := range l.order {
		seen := map[int64]bool{}
		for _, value := range order {
			if seen[value] {
				l.found("duplicate", "%s has %d twice: %v", key, value, order)
			}
			seen[value] = true
			if t := l.writer[key][value]; t == nil {
				l.found("unknown value", "%s has %d, which nobody wrote: %v", key, value, order)
			} else if t.Status == failed {
				l.found("G1a", "%s has %d of a transaction that failed: %v", key, value, t)
			}
		}
	}
}

// reads adds what follows from a read of a key's first versions.
func (l *lists) reads(t *transaction, x touch) {
	order, n := l.order[x.Key], x.Length
	if x.Read != nil {
		n = len(x.Read)
		if !isPrefix(x.Read, order) {
			l.found("incompatible order", "%s is %v to one reader and %v to another: %v", x.Key, x.Read, order, t)
			return
		}
	}
	if n > len(order) {
		l.found("unknown version", "%s has %d values to a reader, %d to all others: %v", x.Key, n, len(order), t)
		return
	}
	var before, next *transaction
	if n > 0 {
		before = l.writer[x.Key][order[n-1]]
	}
	if n < len(order) {
		next = l.writer[x.Key][order[n]]
	}
	if before != nil && before == next && before != t {
		l.found("G1b", "%s was read in the middle of a transaction: %v reads %v", x.Key, t, before)
	}
	if before != nil {
		l.add(before, t, wr)
	}
	if next != nil {
		l.add(t, next, rw)
	}
}

// depend adds all that follows from lists.
func (l *lists) depend() {
	for key, order := range l.order {
		for i := 1; i < len(order); i++ {
			if a, b := l.writer[key][order[i-1]], l.writer[key][order[i]]; a != nil && b != nil {
				l.add(a, b, ww)
			}
		}
	}
	for _, t := range l.history {
		for _, x := range t.Touches {
			if x.IsRead {
				l.reads(t, x)
			}
		}
	}
}

// lasting looks for writes that were acknowledged, or seen in part, and are not there later.
func (l *lists) lasting() {
	there := map[string]map[int64]bool{}
	lastRead := map[string]int64{}        // when the last read of the key began
	firstSeen := map[*transaction]int64{} // when a read ended that saw something of it
	for key, order := range l.order {
		there[key] = map[int64]bool{}
		for _, value := range order {
			there[key][value] = true
		}
	}
	for _, t := range l.history {
		for _, x := range t.Touches {
			if !x.IsRead || x.Read == nil {
				continue
			}
			lastRead[x.Key] = max(lastRead[x.Key], t.Call)
			for _, value := range x.Read {
				if w := l.writer[x.Key][value]; w != nil && (firstSeen[w] == 0 || t.Return < firstSeen[w]) {
					firstSeen[w] = t.Return
				}
			}
		}
	}
	for _, t := range l.history {
		if t.Status == failed {
			continue
		}
		since := t.Return
		if t.Status == lost {
			since = firstSeen[t]
		}
		for _, x := range t.Touches {
			for _, value := range x.Appended {
				if since > 0 && !there[x.Key][value] && lastRead[x.Key] > since {
					l.found(map[status]string{done: "lost write", lost: "half a transaction"}[t.Status], "%s lacks %d: %v", x.Key, value, t)
				}
			}
		}
	}
}

// inTime adds rt: from those that ended last before a transaction began. The others before these follow.
func (l *lists) inTime() {
	type event struct {
		at    int64
		isEnd bool
		t     *transaction
	}
	var events []event
	for _, t := range l.history {
		events = append(events, event{t.Call, false, t})
		if t.Status != lost {
			events = append(events, event{t.Return, true, t})
		}
	}
	sort.SliceStable(events, func(i, j int) bool {
		if events[i].at != events[j].at {
			return events[i].at < events[j].at
		}
		return !events[i].isEnd && events[j].isEnd // what ends at the moment when another begins is beside it
	})
	var last []*transaction
	for _, e := range events {
		if !e.isEnd {
			for _, before := range last {
				l.add(before, e.t, rt)
			}
			continue
		}
		kept := []*transaction{e.t}
		for _, before := range last {
			if before.Return >= e.t.Call {
				kept = append(kept, before)
			}
		}
		last = kept
	}
}

// components gives the sets of transactions that depend on each other, by the dependencies of mask (Tarjan, without recursion).
func (l *lists) components(nodes []*transaction, mask dependency) [][]*transaction {
	type frame struct {
		t    *transaction
		next []*transaction
	}
	index, low, onStack := map[*transaction]int{}, map[*transaction]int{}, map[*transaction]bool{}
	inside := map[*transaction]bool{}
	for _, t := range nodes {
		inside[t] = true
	}
	var stack []*transaction
	var result [][]*transaction
	enter := func(t *transaction) frame {
		index[t], low[t] = len(index)+1, len(index)+1
		stack, onStack[t] = append(stack, t), true
		f := frame{t: t}
		for to, kind := range l.edges[t] {
			if kind&mask != 0 && inside[to] {
				f.next = append(f.next, to)
			}
		}
		return f
	}
	for _, root := range nodes {
		if index[root] != 0 {
			continue
		}
		frames := []frame{enter(root)}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if len(f.next) > 0 {
				to := f.next[len(f.next)-1]
				f.next = f.next[:len(f.next)-1]
				if index[to] == 0 {
					frames = append(frames, enter(to))
				} else if onStack[to] {
					low[f.t] = min(low[f.t], index[to])
				}
				continue
			}
			t := f.t
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].t
				low[parent] = min(low[parent], low[t])
			}
			if low[t] == index[t] {
				var component []*transaction
				for {
					top := stack[len(stack)-1]
					stack, onStack[top] = stack[:len(stack)-1], false
					component = append(component, top)
					if top == t {
						break
					}
				}
				if len(component) > 1 {
					result = append(result, component)
				}
			}
		}
	}
	return result
}

// path gives the shortest way between two transactions by the dependencies of mask; nil: there is none.
func (l *lists) path(from, to *transaction, inside map[*transaction]bool, mask dependency) []*transaction {
	came := map[*transaction]*transaction{from: nil}
	for queue := []*transaction{from}; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if t == to {
			var way []*transaction
			for ; t != nil; t = came[t] {
				way = append([]*transaction{t}, way...)
			}
			return way
		}
		for next, kind := range l.edges[t] {
			if _, is := came[next]; !is && kind&mask != 0 && inside[next] {
				came[next] = t
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// circle gives a circle that begins with a dependency of `first` and goes on by those of `rest`; nil: there is none.
func (l *lists) circle(component []*transaction, first, rest dependency) []*transaction {
	inside := map[*transaction]bool{}
	for _, t := range component {
		inside[t] = true
	}
	for _, t := range component {
		for next, kind := range l.edges[t] {
			if kind&first != 0 && inside[next] {
				if way := l.path(next, t, inside, rest); way != nil {
					return append([]*transaction{t}, way...)
				}
			}
		}
	}
	return nil
}

// kinds of circles, the worst first. The circle begins with a dependency of `first`; all others are of `rest`.
var kinds = []struct {
	name        string
	first, rest dependency
}{
	{"G0", ww, ww},
	{"G1c", wr, ww | wr},
	{"G-single", rw, ww | wr},
	{"G2", rw, ww | wr | rw},
	{"G0-realtime", ww, ww | rt},
	{"G1c-realtime", wr, ww | wr | rt},
	{"G-single-realtime", rw, ww | wr | rt},
	{"G2-realtime", rw, ww | wr | rw | rt},
}

func (l *lists) circles() {
	for _, component := range l.components(l.history, ww|wr|rw|rt) {
		for _, kind := range kinds {
			var way []*transaction
			for _, part := range l.components(component, kind.first|kind.rest) {
				if way = l.circle(part, kind.first, kind.rest); way != nil {
					break
				}
			}
			if way == nil {
				continue
			}
			text := fmt.Sprint(way[0])
			for i := 1; i < len(way); i++ {
				mask := kind.rest
				if i == 1 {
					mask = kind.first
				}
				text += fmt.Sprintf("\n  -%v-> %v", l.edges[way[i-1]][way[i]]&mask, way[i])
			}
			l.found(kind.name, "%s", text)
			break
		}
	}
}

// checkLists gives the anomalies of a history.
func checkLists(history []*transaction) []anomaly {
	l := &lists{history: history, writer: map[string]map[int64]*transaction{}, order: map[string][]int64{}, edges: map[*transaction]map[*transaction]dependency{}}
	l.learn()
	l.lasting()
	l.depend()
	l.inTime()
	l.circles()
	return l.anomalies
}
