// Package dynalithtest gives each test tables of its own in a DynamoDB-compatible server.
//
// A test binary has one server, in memory on a free port of 127.0.0.1, started by the first test that wants it. It ends with the test binary, also where
// that is killed. With dynalithtest/inprocess it is in the test binary, and there is no port.
package dynalithtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Embedded is set by the module dynalithtest/embedded, whose import brings the server along: import _ "github.com/dynalith/dynalithtest/embedded".
var Embedded []byte

// Engine is a server in this process.
type Engine interface {
	http.RoundTripper
	// For returns the transport for the tables of an account in a region, whose requests need no signature.
	For(account, region string) http.RoundTripper
}

// InProcess opens an engine in the place of starting a server. The import of dynalithtest/inprocess sets it.
var InProcess func(options []string, log io.Writer) (Engine, error)

// Options are options of the server, to be set before the first New, as in TestMain.
var Options []string

// Namespace is the tables of a test. No other test sees them.
type Namespace struct {
	URL, Account, Region string
	t                    testing.TB
}

type server struct {
	url     string
	process *os.Process
	log     *os.File
	stdin   io.Closer // its end is the server's
	engine  Engine    // in this process, in the place of one, or nil
	err     error
}

var (
	once     sync.Once
	running  server
	accounts atomic.Int64
)

// New returns tables of its own for the test, and takes them away after it. Where the test fails it logs what the server logged meanwhile.
func New(t testing.TB) *Namespace {
	t.Helper()
	once.Do(start)
	if running.err != nil {
		t.Fatalf("dynalith: %v", running.err)
	}
	n := &Namespace{URL: running.url, Account: fmt.Sprintf("%012d", accounts.Add(1)), Region: "us-east-1", t: t}
	begin, _ := running.log.Seek(0, io.SeekEnd)
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := io.ReadAll(io.NewSectionReader(running.log, begin, 1<<30))
			if len(text) > 0 {
				t.Logf("log of dynalith:\n%s", text)
			}
		}
		n.Reset()
	})
	return n
}

// Config is for the clients of the SDK: dynamodb.NewFromConfig(n.Config()).
func (n *Namespace) Config() aws.Config {
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: n.Account, SecretAccessKey: "any"}, nil
	})
	config := aws.Config{Region: n.Region, BaseEndpoint: aws.String(n.URL), Credentials: keys}
	if running.engine != nil && isSigned() {
		config.HTTPClient = &http.Client{Transport: running.engine}
	} else if running.engine != nil { // nobody looks at signatures, and they take time
		config.Credentials = aws.AnonymousCredentials{}
		config.HTTPClient = &http.Client{Transport: running.engine.For(n.Account, n.Region)}
	}
	return config
}

func isSigned() bool {
	return slices.ContainsFunc(Options, func(option string) bool { return strings.HasPrefix(option, "--auth") })
}

// Control calls an endpoint under /_dynalith/ for these tables, and fills into, where it is not nil, from the answer.
func (n *Namespace) Control(method, path string, body, into any) {
	n.t.Helper()
	if err := n.control(method, path, body, into); err != nil {
		n.t.Fatalf("dynalith: %s %s: %v", method, path, err)
	}
}

func (n *Namespace) control(method, path string, body, into any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	query := url.Values{"account": {n.Account}, "region": {n.Region}}
	request, err := http.NewRequest(method, n.URL+"/_dynalith/"+path+"?"+query.Encode(), bytes.NewReader(content))
	if err != nil {
		return err
	}
	reply, err := running.client().Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", reply.StatusCode, text)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (s *server) client() *http.Client {
	if s.engine != nil {
		return &http.Client{Transport: s.engine}
	}
	return http.DefaultClient
}

// Reset takes all tables away.
func (n *Namespace) Reset() { n.t.Helper(); n.Control("POST", "reset", nil, nil) }

// Checkpoint marks a state that Rollback returns to, any number of times.
func (n *Namespace) Checkpoint(name string) {
	n.t.Helper()
	n.Control("POST", "checkpoints", map[string]string{"name": name}, nil)
}

// Rollback returns to the state of a checkpoint.
func (n *Namespace) Rollback(name string) {
	n.t.Helper()
	n.Control("POST", "checkpoints/"+name+"/rollback", nil, nil)
}

// Clock turns the clock of these tables: {"advance": "90m"}, {"set": "2030-01-01T00:00:00Z", "freeze": true}.
func (n *Namespace) Clock(turn map[string]any) { n.t.Helper(); n.Control("POST", "clock", turn, nil) }

// Faults sets the rules by which requests fail.
func (n *Namespace) Faults(rules ...map[string]any) {
	n.t.Helper()
	n.Control("PUT", "faults", map[string]any{"rules": rules}, nil)
}

// Fired says how often each rule has fired.
func (n *Namespace) Fired() []int {
	n.t.Helper()
	var answer struct{ Rules []struct{ Fired int } }
	n.Control("GET", "faults", nil, &answer)
	fired := make([]int, len(answer.Rules))
	for i, rule := range answer.Rules {
		fired[i] = rule.Fired
	}
	return fired
}

// binary is DYNALITH_BINARY, the embedded server, or the one on PATH. done is called when it has been started.
func binary() (path string, done func(), err error) {
	done = func() {}
	if path = os.Getenv("DYNALITH_BINARY"); path != "" {
		return path, done, nil
	}
	if Embedded == nil {
		if path, err = exec.LookPath("dynalith"); err != nil {
			err = fmt.Errorf("no server: import _ \"github.com/dynalith/dynalithtest/embedded\", or set DYNALITH_BINARY: %w", err)
		}
		return path, done, err
	}
	folder, err := os.MkdirTemp("", "dynalith-")
	if err != nil {
		return "", done, err
	}
	path = filepath.Join(folder, "dynalith")
	return path, func() { os.RemoveAll(folder) }, os.WriteFile(path, Embedded, 0o700)
}

func start() {
	running.err = func() (err error) {
		if running.log, err = os.CreateTemp("", "dynalith-*.log"); err != nil {
			return err
		}
		os.Remove(running.log.Name()) // it is there as long as it is open
		if InProcess != nil {
			running.url = "http://localhost" // of requests that never leave this process
			running.engine, err = InProcess(Options, running.log)
			return err
		}
		path, done, err := binary()
		if err != nil {
			return err
		}
		defer done()
		arguments := append([]string{"--in-memory", "--port", "0", "--exit-with-parent"}, Options...)
		command := exec.Command(path, arguments...)
		command.Stderr = running.log
		if running.stdin, err = command.StdinPipe(); err != nil {
			return err
		}
		output, err := command.StdoutPipe()
		if err != nil {
			return err
		}
		if err = command.Start(); err != nil {
			return err
		}
		running.process = command.Process
		line, err := bufio.NewReader(output).ReadString('\n')
		if err != nil {
			status := command.Wait()
			text, _ := io.ReadAll(io.NewSectionReader(running.log, 0, 1<<20))
			return fmt.Errorf("the server ended: %v: %s", status, text)
		}
		running.url = strings.TrimSpace(line)
		reply, err := http.Get(running.url + "/_dynalith/health")
		if err == nil {
			reply.Body.Close()
		}
		return err
	}()
}
