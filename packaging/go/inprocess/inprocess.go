// Package inprocess has the server in the test binary's own process, without a port and on every system that Go runs on:
// import _ "github.com/dynalith/dynalithtest/inprocess" in the place of dynalithtest/embedded.
//
// It is dynalith.wasm, run by wazero. Machine code is made of it once for a user, which takes two seconds, and kept in the
// user's cache folder. An engine has one thread: requests at the same time wait for each other.
package inprocess

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dynalith/dynalithtest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	tickMost = 500 * time.Millisecond // between two pieces of the work without a request
	placeMin = 64 << 10               // bytes for a request in the engine's memory
	placeMax = 1 << 20                // a larger place is not kept
)

//go:embed dynalith.wasm
var embedded []byte

// ErrClosed is what requests to a closed engine get.
var ErrClosed = errors.New("dynalith: the engine is closed")

func init() {
	dynalithtest.InProcess = func(options []string, log io.Writer) (dynalithtest.Engine, error) { return Open(options, log) }
}

// Engine is a server in this process, an http.RoundTripper. Any number of goroutines may use it, and a process may have
// several, which do not see each other.
type Engine struct {
	mutex                   sync.Mutex
	runtime                 wazero.Runtime
	memory                  api.Memory
	send, free, malloc      api.Function
	release, tick, end, why api.Function
	handle                  uint64
	place, placeSize        uint32 // where a request is written
	problem                 error  // why there are no requests any more
	due, done               chan struct{}
}

// Open opens an engine in memory with options of the server, as on its command line. A line of the log is a write.
func Open(options []string, log io.Writer) (*Engine, error) {
	text, err := optionsText(options)
	if err != nil {
		return nil, err
	}
	module := embedded
	if path := os.Getenv("DYNALITH_WASM"); path != "" {
		if module, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	if len(module) == 0 {
		return nil, errors.New("dynalith: this module came without dynalith.wasm: DYNALITH_WASM names the file")
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfig()
	if folder, err := os.UserCacheDir(); err == nil { // without one each process compiles
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "dynalith", "wazero")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	e := &Engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), due: make(chan struct{}, 1), done: make(chan struct{})}
	if err := e.open(ctx, module, text, log); err != nil {
		e.runtime.Close(ctx)
		return nil, err
	}
	go e.work()
	return e, nil
}

// optionsText makes a command line the options of libdynalith: {"--ttl-delay": "60"}.
func optionsText(options []string) (string, error) {
	// 512 MB: half for data, a quarter for requests under way, an eighth for vectors.
	all := map[string]any{"--data-limit-mb": "256", "--memory-limit-mb": "128", "--vector-cache-mb": "64"}
	for len(options) > 0 {
		name, value, hasValue := strings.Cut(options[0], "=")
		if !strings.HasPrefix(name, "--") {
			return "", fmt.Errorf("dynalith: %q is not an option", name)
		}
		options = options[1:]
		if !hasValue {
			value = "true"
			if len(options) > 0 && !strings.HasPrefix(options[0], "--") {
				value, options = options[0], options[1:]
			}
		}
		all[name] = value
		if value == "true" || value == "false" {
			all[name] = value == "true"
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

func (e *Engine) open(ctx context.Context, module []byte, options string, log io.Writer) error {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return err
	}
	code, err := e.runtime.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	if log == nil {
		log = io.Discard
	}
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStderr(log)
	instance, err := e.runtime.InstantiateModule(ctx, code, config.WithSysWalltime().WithSysNanotime().WithSysNanosleep())
	if err != nil {
		return err
	}
	e.memory = instance.Memory()
	for name, into := range map[string]*api.Function{"dynalith_send": &e.send, "dynalith_free": &e.free, "malloc": &e.malloc,
		"free": &e.release, "dynalith_tick": &e.tick, "dynalith_close": &e.end, "dynalith_error": &e.why} {
		if *into = instance.ExportedFunction(name); *into == nil {
			return fmt.Errorf("dynalith: this is not dynalith.wasm: it has no %s", name)
		}
	}
	at, err := e.room(len(options) + 1)
	if err != nil {
		return err
	}
	e.memory.WriteString(at, options+"\x00")
	if e.handle, err = e.call(instance.ExportedFunction("dynalith_wasi_open"), uint64(at)); err == nil && e.handle == 0 {
		err = e.reason()
	}
	return err
}

// call calls a function of the engine. After a trap nothing in it can be trusted.
func (e *Engine) call(function api.Function, arguments ...uint64) (uint64, error) {
	if e.problem != nil {
		return 0, e.problem
	}
	stack := [2]uint64{}
	copy(stack[:], arguments)
	if err := function.CallWithStack(context.Background(), stack[:]); err != nil {
		e.problem = fmt.Errorf("dynalith: the engine has failed and its data is gone: %w", err)
	}
	return stack[0], e.problem
}

// reason is why the last function refused.
func (e *Engine) reason() error {
	at, err := e.call(e.why)
	if err != nil {
		return err
	}
	return errors.New("dynalith: " + e.text(uint32(at)))
}

func (e *Engine) word(at uint32) uint32 {
	value, _ := e.memory.ReadUint32Le(at)
	return value
}

// text copies the string at that place, up to its NUL.
func (e *Engine) text(at uint32) string {
	rest, _ := e.memory.Read(at, e.memory.Size()-at)
	end := bytes.IndexByte(rest, 0)
	if at == 0 || end < 0 {
		return ""
	}
	return string(rest[:end])
}

// room returns a place of n bytes for a request, which stays the engine's.
func (e *Engine) room(n int) (uint32, error) {
	if uint32(n) <= e.placeSize {
		return e.place, nil
	}
	if err := e.forgetPlace(); err != nil {
		return 0, err
	}
	size := max(n, placeMin)
	at, err := e.call(e.malloc, uint64(size))
	if err == nil && at == 0 {
		err = fmt.Errorf("dynalith: no memory for a request of %d bytes", n)
	}
	if err == nil {
		e.place, e.placeSize = uint32(at), uint32(size)
	}
	return uint32(at), err
}

func (e *Engine) forgetPlace() error {
	at := e.place
	e.place, e.placeSize = 0, 0
	_, err := e.call(e.release, uint64(at))
	return err
}

// RoundTrip answers a request of any client. What its context says counts before it begins.
func (e *Engine) RoundTrip(request *http.Request) (*http.Response, error) {
	return e.For("", "").RoundTrip(request)
}

// For returns the engine for the tables of an account in a region, whose requests need no signature.
func (e *Engine) For(account, region string) http.RoundTripper { return tables{e, account, region} }

type tables struct {
	engine          *Engine
	account, region string
}

func (t tables) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		defer request.Body.Close()
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	reply, err := t.engine.answer(request, body, t.account, t.region)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode == 0 {
		return nil, io.ErrUnexpectedEOF // a fault rule closed the connection
	}
	return reply, nil
}

func (e *Engine) answer(request *http.Request, body []byte, account, region string) (*http.Response, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	at, err := e.write(request, body, account, region)
	if err != nil {
		return nil, err
	}
	found, err := e.call(e.send, e.handle, uint64(at))
	if err == nil && found == 0 {
		err = e.reason()
	}
	if err != nil {
		return nil, err
	}
	reply := e.read(uint32(found), request)
	if _, err = e.call(e.free, found); err == nil && e.placeSize > placeMax {
		err = e.forgetPlace()
	}
	select {
	case e.due <- struct{}{}:
	default:
	}
	return reply, err
}

// write puts a struct dynalith_request into the engine's memory: ten words, the list of headers, the texts, the body.
func (e *Engine) write(request *http.Request, body []byte, account, region string) (uint32, error) {
	texts := []string{request.Method, request.URL.RequestURI(), account, region}
	for name, values := range request.Header {
		texts = append(texts, name, strings.Join(values, ","))
	}
	const words = 10
	joined := strings.Join(texts, "\x00") + "\x00"
	start := 4 * (words + len(texts) - 4)
	at, err := e.room(start + len(joined) + len(body))
	if err != nil {
		return 0, err
	}
	list := make([]uint32, words, words+len(texts))
	next := at + uint32(start)
	places := make([]uint32, len(texts))
	for i, text := range texts {
		places[i] = next
		next += uint32(len(text)) + 1
	}
	list[0], list[1], list[2] = 4*words, places[0], places[1]
	if account != "" {
		list[4], list[5] = places[2], places[3]
	}
	list[6], list[7], list[8], list[9] = next, uint32(len(body)), at+4*words, uint32(len(texts)-4)/2
	list = append(list, places[4:]...)
	for i, word := range list {
		e.memory.WriteUint32Le(at+4*uint32(i), word)
	}
	e.memory.WriteString(at+uint32(start), joined)
	e.memory.Write(next, body)
	return at, nil
}

// read makes a struct dynalith_answer an answer of HTTP.
func (e *Engine) read(at uint32, request *http.Request) *http.Response {
	status, size := e.word(at), e.word(at+20)
	part, _ := e.memory.Read(e.word(at+16), size)
	body := bytes.Clone(part)
	header := http.Header{}
	for i, list := uint32(0), e.word(at+24); i < e.word(at+28); i++ {
		header.Add(e.text(e.word(list+8*i)), e.text(e.word(list+8*i+4)))
	}
	header.Set("X-Amzn-Requestid", e.text(e.word(at+8)))
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(e.word(at+4)), 10))
	if kind := e.word(at + 12); kind != 0 {
		header.Set("Content-Type", e.text(kind))
	}
	return &http.Response{Status: fmt.Sprintf("%d %s", status, http.StatusText(int(status))), StatusCode: int(status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(size), Request: request}
}

// work does what is due without a request, such as time to live: after requests, and when the engine says.
func (e *Engine) work() {
	next := time.Duration(0)
	for {
		select {
		case <-e.done:
			return
		case <-e.due:
			time.Sleep(time.Millisecond) // more requests may follow
		case <-time.After(next):
		}
		e.mutex.Lock()
		ms, err := e.call(e.tick, e.handle)
		e.mutex.Unlock()
		if err != nil {
			return // the next request says so
		}
		next = tickMost
		if wait := int32(ms); wait >= 0 {
			next = min(next, max(1, time.Duration(wait))*time.Millisecond)
		}
	}
}

// Close ends the engine and frees its memory. Requests after it get ErrClosed.
func (e *Engine) Close() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.problem == ErrClosed {
		return nil
	}
	_, err := e.call(e.end, e.handle)
	e.problem = ErrClosed
	close(e.done)
	return errors.Join(err, e.runtime.Close(context.Background()))
}
