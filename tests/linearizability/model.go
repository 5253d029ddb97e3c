package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A group is a few keys that transactions and queries join. Groups share no key, so each has a history of its own.
const (
	keys    = 5
	queried = 3 // keys 0 to 2 are one partition, which queries read; key 3 has another partition, key 4 another table
)

// item is the value of a key; the zero value means that there is no item.
type item struct {
	Version, Count, Writer int64
}

var nonsense = item{Version: -1} // stands for an answer that no state explains

type state [keys]item

type kind int

const (
	put    kind = iota // replaces the item
	remove             // deletes it
	add                // adds one to version and count, and creates the item where there is none
	check              // only checks the condition
)

const unconditional = -1

// action changes one key. Expected is the version that the condition wants, 0 for "no item", or unconditional.
type action struct {
	Kind     kind
	Key      int
	Expected int64
	Item     item // what put writes
}

// input is a read of keys in one step (get, transaction, query), or else a write of actions in one step.
type input struct {
	Name    string
	Keys    []int
	Actions []action
}

type status int

const (
	done   status = iota
	failed        // a condition failed; nothing was written
	lost          // no answer came: carried out or not
)

// output is the answer. Items has one item a key that was read. For a write it has what the actions answered with: the item before,
// after an add the item after, and of a failed condition the item that it met. A transaction that succeeds answers with none.
type output struct {
	Status status
	Items  []item
	Failed []bool // one per action, where Status is failed
}

func (a action) holds(s state) bool {
	return a.Expected == unconditional || a.Expected == s[a.Key].Version
}

func (a action) apply(s *state) {
	switch at := &s[a.Key]; a.Kind {
	case put:
		*at = a.Item
	case remove:
		*at = item{}
	case add:
		at.Version++
		at.Count++
	}
}

func reads(s state, in input, out output) bool {
	if len(out.Items) != len(in.Keys) {
		return false
	}
	for i, k := range in.Keys {
		if out.Items[i] != s[k] {
			return false
		}
	}
	return true
}

// fails tells whether the answer names just the actions whose condition fails in s, and shows the items of s.
func fails(s state, in input, out output) bool {
	for i, a := range in.Actions {
		if out.Failed[i] == a.holds(s) || out.Failed[i] && out.Items[i] != s[a.Key] {
			return false
		}
	}
	return true
}

func succeeds(before, after state, in input, out output) bool {
	if len(out.Items) == 0 {
		return true
	}
	a := in.Actions[0]
	if a.Kind == add {
		return out.Items[0] == after[a.Key]
	}
	return out.Items[0] == before[a.Key]
}

// step tells whether the server in state s may give this answer, and the state after it. A lost write may take effect at any
// time until the end of the history; one that takes effect after all others is one that never did.
func step(s state, in input, out output) (bool, state) {
	if in.Actions == nil {
		return reads(s, in, out), s
	}
	for _, a := range in.Actions {
		if !a.holds(s) {
			return out.Status == lost || out.Status == failed && fails(s, in, out), s
		}
	}
	after := s
	for _, a := range in.Actions {
		a.apply(&after)
	}
	return out.Status == lost || out.Status == done && succeeds(s, after, in, out), after
}

func describe(in input, out output) string {
	var text []string
	for i, k := range in.Keys {
		text = append(text, fmt.Sprintf("%d: %v", k, out.Items[i]))
	}
	for _, a := range in.Actions {
		text = append(text, fmt.Sprintf("%s %d %v if %d", [...]string{"put", "delete", "add", "check"}[a.Kind], a.Key, a.Item, a.Expected))
	}
	answer := [...]string{"done", "failed", "lost"}[out.Status]
	return fmt.Sprintf("%s(%s) %s %v", in.Name, strings.Join(text, ", "), answer, out.Items)
}

var model = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(s, in, out any) (bool, any) {
		ok, after := step(s.(state), in.(input), out.(output))
		return ok, after
	},
	Hash: func(s any) (h uint64) {
		for _, i := range s.(state) {
			h = (h*1099511628211+uint64(i.Version))*1099511628211 + uint64(i.Count<<32^i.Writer)
		}
		return h
	},
	DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
}

// closed gives the history with an end for each lost write: that of the whole history, on a line of its own in the visualisation.
func closed(history []porcupine.Operation) []porcupine.Operation {
	end, line := int64(0), clients+1
	for _, o := range history {
		end = max(end, o.Call, o.Return)
	}
	history = append([]porcupine.Operation(nil), history...)
	for i := range history {
		if o := &history[i]; o.Output.(output).Status == lost {
			o.Return, o.ClientId = end+1, line
			line++
		}
	}
	return history
}
