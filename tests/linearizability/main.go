// Is the server linearizable? 16 clients work on a few keys, the server is killed and started again at random moments, and porcupine
// looks for an order of the operations that explains all answers. Beside that they append to lists in transactions, among which cycles.go looks for
// circles. In the end streams, indexes and counts must say what the tables say.
//
// With -endpoints the clients work on servers that somebody else starts and disturbs (tests/cluster/histories), each request on another one.
package main

import (
	"flag"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	addresses  []string // of the servers
	server     *server  // nil: somebody else's
	begin, end time.Time
	mutex      sync.Mutex
	current    [slots]*group
	groups     []*group
	lists      listBook
	faults     int
	hurries    bool // does not wait for counts to come right
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
	return &client{id: id, run: r, random: rand.New(rand.NewSource(seed*1000 + int64(id))), lengths: map[string]int{},
		http: &http.Client{Transport: transport, Timeout: 40 * time.Second}}
}

func (r *run) createTables(c *client) {
	attributes := func(pairs ...string) (list []object) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, object{"AttributeName": pairs[i], "AttributeType": pairs[i+1]})
		}
		return list
	}
	schema := func(names ...string) (list []object) {
		for i, name := range names {
			list = append(list, object{"AttributeName": name, "KeyType": [...]string{"HASH", "RANGE"}[i]})
		}
		return list
	}
	index := func(name string, keys ...string) []object {
		return []object{{"IndexName": name, "KeySchema": schema(keys...), "Projection": object{"ProjectionType": "ALL"}}}
	}
	stream := object{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	for _, table := range []object{
		{"TableName": "main", "KeySchema": schema("PK", "SK"), "AttributeDefinitions": attributes("PK", "S", "SK", "S", "n", "N", "c", "N"), "StreamSpecification": stream,
			"LocalSecondaryIndexes": index("by-version", "PK", "n"), "GlobalSecondaryIndexes": index("by-count", "c")},
		{"TableName": "other", "KeySchema": schema("PK", "SK"), "AttributeDefinitions": attributes("PK", "S", "SK", "S")},
		{"TableName": "lists", "KeySchema": schema("PK"), "AttributeDefinitions": attributes("PK", "S"), "StreamSpecification": stream},
		{"TableName": "lists2", "KeySchema": schema("PK"), "AttributeDefinitions": attributes("PK", "S")},
	} {
		table["BillingMode"] = "PAY_PER_REQUEST"
		a, s := c.call("CreateTable", table)
		for end := time.Now().Add(patience); s != answered && time.Now().Before(end); a, s = c.call("CreateTable", table) {
			time.Sleep(100 * time.Millisecond)
		}
		if s != answered || a.Type != "" && a.Type != "ResourceInUseException" {
			r.wrong("CreateTable: %v %s %s", s, a.Type, a.Message)
		}
		isActive := func() bool {
			var reply struct{ Table struct{ TableStatus string } }
			return c.ask("DynamoDB_20120810", "DescribeTable", object{"TableName": table["TableName"]}, &reply) == answered && reply.Table.TableStatus == "ACTIVE"
		}
		for end := time.Now().Add(patience); !isActive() && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
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
	begin = time.Now()
	anomalies := checkLists(r.lists.history)
	for i, a := range anomalies {
		if i < 5 {
			fmt.Printf("linearizability: %s: %s\n", a.Kind, a.Text)
		}
	}
	byStatus := map[status]int{}
	for _, t := range r.lists.history {
		byStatus[t.Status]++
	}
	fmt.Printf("linearizability of %d transactions on %d lists, %d failed, %d lost: %d anomalies; checked in %.1f s\n",
		len(r.lists.history), len(r.lists.all), byStatus[failed], byStatus[lost], len(anomalies), time.Since(begin).Seconds())
	fmt.Printf("linearizability: %d passed, %d failed\n", len(r.groups)-bad+len(r.lists.all), bad+len(anomalies)+r.faults)
	return bad + len(anomalies) + r.faults
}

// lookBack reads all that was written, through any server, so that what was acknowledged is looked for after all that happened since.
func (r *run) lookBack(c *client) bool {
	isGone := false
	attempt := func(what string, read func() bool) {
		for end := time.Now().Add(patience); !isGone && !read(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				r.wrong("%s could not be read at the end, nor what was to be read after it", what)
				isGone = true
			}
		}
	}
	for range 2 { // what is on its way in the first round is seen in the second
		for _, g := range r.groups {
			in, name, body := g.together([]int{0, 1, 2, 3, 4})
			attempt("group "+g.name, func() bool { _, ok := c.do(g, in, name, body); return ok })
		}
		for _, l := range r.lists.all {
			attempt("list "+l.name, func() bool { return c.readLists([]*list{l}) })
		}
	}
	return !isGone
}

func main() {
	seconds := flag.Int("seconds", 20, "how long the clients work")
	seed := flag.Int64("seed", 1, "chooses operations and moments")
	kills := flag.Int("kills", 5, "how often the server is killed")
	durabilities := flag.String("durability", "normal,full", "each start of the server takes the next")
	inMemory := flag.Bool("memory", false, "no data file: a kill loses everything, which must be found")
	folder := flag.String("output", "build/linearizability", "for visualisations of histories that fail")
	binary := flag.String("binary", os.Getenv("DYNALITH_BINARY"), "the server; flags for it come after --")
	hurries := flag.Bool("hurry", false, "do not wait for counts to come right, which they never do where a fault is planted")
	endpoints := flag.String("endpoints", "", "HOST:PORT,...: servers that run; none is started")
	flag.Parse()
	r := &run{begin: time.Now(), hurries: *hurries}
	creator := r.newClient(clients, *seed)
	start := func() error { r.createTables(creator); return nil }
	if *endpoints != "" {
		r.addresses, *kills = strings.Split(*endpoints, ","), 0
	} else {
		server, err := newServer(*binary, *durabilities, *inMemory, flag.Args())
		if err != nil {
			fmt.Println("linearizability:", err)
			os.Exit(1)
		}
		r.server, r.addresses = server, []string{server.address()}
		start = func() error {
			err := server.start()
			if err == nil && (server.starts == 1 || *inMemory) {
				r.createTables(creator)
			}
			return err
		}
	}
	if err := start(); err != nil {
		fmt.Println("linearizability:", err)
		os.Exit(1)
	}
	fmt.Println("linearizability: begins")
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
	if r.lookBack(creator) && !*inMemory {
		r.aftermath(creator)
	}
	if r.server != nil {
		if err := r.server.stop(); err != nil {
			r.wrong("the server did not end well: %v", err)
		}
	}
	if r.check(*folder, *kills) > 0 {
		os.Exit(1)
	}
}
