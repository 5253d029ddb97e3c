// Is the server linearizable? 16 clients work on a few keys, the server is killed and started again at random moments, and porcupine
// looks for an order of the operations that explains all answers.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	clients     = 16
	slots       = 4   // groups of keys in use at once
	groupLength = 500 // operations of a group; then new keys take its place, so that porcupine stays fast
	patience    = 60 * time.Second
)

type group struct {
	name    string
	begun   int
	mutex   sync.Mutex
	history []porcupine.Operation
}

func (g *group) record(o porcupine.Operation) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.history = append(g.history, o)
}

type run struct {
	server     *server
	begin, end time.Time
	mutex      sync.Mutex
	current    [slots]*group
	groups     []*group
	faults     int
}

func (r *run) now() int64 { return time.Since(r.begin).Nanoseconds() }

// join gives the group of a slot, for one more operation.
func (r *run) join(slot int) *group {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	g := r.current[slot]
	if g == nil || g.begun == groupLength {
		g = &group{name: fmt.Sprintf("g%d", len(r.groups))}
		r.current[slot], r.groups = g, append(r.groups, g)
	}
	g.begun++
	return g
}

// wrong counts what is wrong beside the order of operations, and prints the first few.
func (r *run) wrong(format string, values ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.faults++; r.faults <= 10 {
		fmt.Printf("linearizability: "+format+"\n", values...)
	}
}

func (r *run) newClient(id int, seed int64) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}
	return &client{id: id, run: r, random: rand.New(rand.NewSource(seed*1000 + int64(id))), http: &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

func (r *run) createTables(c *client) {
	attribute := func(name, kind string) object { return object{"AttributeName": name, "AttributeType": kind} }
	schema := func(sort string) []object {
		return []object{{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}}
	}
	other := object{"TableName": "other", "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema("SK"),
		"AttributeDefinitions": []object{attribute("PK", "S"), attribute("SK", "S")}}
	main := object{"TableName": "main", "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema("SK"),
		"AttributeDefinitions":  []object{attribute("PK", "S"), attribute("SK", "S"), attribute("n", "N")},
		"LocalSecondaryIndexes": []object{{"IndexName": "by-version", "KeySchema": schema("n"), "Projection": object{"ProjectionType": "ALL"}}}}
	for _, table := range []object{main, other} {
		if a, err := c.call("CreateTable", table); err != nil || a.Type != "" && a.Type != "ResourceInUseException" {
			r.wrong("CreateTable: %v %s %s", err, a.Type, a.Message)
		}
	}
}

// kills ends the server at random moments and starts it again.
func (r *run) kills(count int, random *rand.Rand, start func() error) error {
	for ; count > 0; count-- {
		time.Sleep(time.Duration(2 * random.Float64() * float64(time.Until(r.end)) / float64(count+1)))
		if err := r.server.kill(); err != nil {
			return err
		}
		if err := start(); err != nil {
			return err
		}
	}
	return nil
}

// judge checks one group. A group that porcupine cannot decide in time has failed.
func (g *group) judge(folder string) bool {
	result, info := porcupine.CheckOperationsVerbose(model, closed(g.history), patience)
	if result == porcupine.Ok {
		return true
	}
	path := filepath.Join(folder, g.name+".html")
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		err = porcupine.VisualizePath(model, info, path)
	}
	fmt.Printf("linearizability: group %s of %d operations is %s: %s (%v)\n", g.name, len(g.history), result, path, err)
	return false
}

// check judges all groups on all cores and prints the count; it gives the number of failures.
func (r *run) check(folder string, kills int) int {
	var waiting sync.WaitGroup
	var mutex sync.Mutex
	queue := make(chan *group)
	operations, lostWrites, refused, bad := 0, 0, 0, 0
	waiting.Add(runtime.NumCPU())
	for range runtime.NumCPU() {
		go func() {
			defer waiting.Done()
			for g := range queue {
				if !g.judge(folder) {
					mutex.Lock()
					bad++
					mutex.Unlock()
				}
			}
		}()
	}
	begin := time.Now()
	for _, g := range r.groups {
		for _, o := range g.history {
			out := o.Output.(output)
			operations++
			if out.Status == lost {
				lostWrites++
			} else if out.Status == failed {
				refused++
			}
		}
		queue <- g
	}
	close(queue)
	waiting.Wait()
	fmt.Printf("linearizability of %d operations, %d with a failed condition, %d lost, %d kills; checked in %.1f s\n", operations, refused, lostWrites, kills, time.Since(begin).Seconds())
	fmt.Printf("linearizability: %d passed, %d failed\n", len(r.groups)-bad, bad+r.faults)
	return bad + r.faults
}

func main() {
	seconds := flag.Int("seconds", 20, "how long the clients work")
	seed := flag.Int64("seed", 1, "chooses operations and moments")
	kills := flag.Int("kills", 5, "how often the server is killed")
	durabilities := flag.String("durability", "normal,full", "each start of the server takes the next")
	inMemory := flag.Bool("memory", false, "no data file: a kill loses everything, which must be found")
	folder := flag.String("output", "build/linearizability", "for visualisations of histories that fail")
	binary := flag.String("binary", os.Getenv("DYNALITH_BINARY"), "the server; flags for it come after --")
	flag.Parse()
	server, err := newServer(*binary, *durabilities, *inMemory, flag.Args())
	if err != nil {
		fmt.Println("linearizability:", err)
		os.Exit(1)
	}
	r := &run{server: server, begin: time.Now()}
	creator := r.newClient(clients, *seed)
	start := func() error {
		err := server.start()
		if err == nil && (server.starts == 1 || *inMemory) {
			r.createTables(creator)
		}
		return err
	}
	if err := start(); err != nil {
		fmt.Println("linearizability:", err)
		os.Exit(1)
	}
	r.end = time.Now().Add(time.Duration(*seconds) * time.Second)
	var waiting sync.WaitGroup
	waiting.Add(clients)
	for id := range clients {
		go func() {
			defer waiting.Done()
			r.newClient(id, *seed).work()
		}()
	}
	if err := r.kills(*kills, rand.New(rand.NewSource(*seed)), start); err != nil {
		r.wrong("%v", err)
	}
	waiting.Wait()
	for _, g := range r.groups { // all that was acknowledged survived all later kills
		in, name, body := g.together([]int{0, 1, 2, 3, 4})
		if _, ok := creator.do(g, in, name, body); !ok {
			r.wrong("group %s could not be read at the end", g.name)
		}
	}
	if err := server.stop(); err != nil {
		r.wrong("the server did not end well: %v", err)
	}
	if r.check(*folder, *kills) > 0 {
		os.Exit(1)
	}
}
