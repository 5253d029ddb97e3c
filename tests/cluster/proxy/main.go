// A proxy before a PostgreSQL that breaks connections where it hurts: at a random statement, and before, in and after a COMMIT.
//
//	proxy -listen 127.0.0.1:0 -target 127.0.0.1:5432 [-weaken "OLD=NEW"]
//
// The first line that it prints is its address. Each line that it reads is a setting:
//
//	statement 0.001   how likely a connection is cut instead of a statement being passed on; the same for
//	before 0.01       a COMMIT that never reaches the database
//	sent 0.01         a COMMIT that reaches it, on a connection that ends at once
//	done 0.01         a COMMIT whose answer is kept back
//	answer 0.001      the answer to any pipeline that is kept back
//	next KIND         the next chance of that kind comes true, however unlikely
//	stall 1           nothing is passed on, and nobody is told, until stall 0
//	refuse 1          new connections are closed at once, until refuse 0
//	cut               all connections are cut
//	error CODE        the next COMMIT is answered with an error of that SQLSTATE, and is not passed on; the transaction is rolled back
//	error CODE statement  the same for the next statement that changes something
//	seed N
//	counts            prints how often each kind of cut came true, as JSON
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	codeSSL    = 80877103
	codeGSS    = 80877104
	codeCancel = 80877102
)

var errCut = errors.New("cut")

type proxy struct {
	target   string
	weaken   [][2]string
	isStall  atomic.Bool
	isRefuse atomic.Bool
	mutex    sync.Mutex
	random   *rand.Rand
	chances  map[string]float64
	next     map[string]bool
	counts   map[string]int
	failure  string // SQLSTATE of the next commit or statement
	failsAt  string // "commit" or "statement"
	open     map[*session]bool
}

// session is one connection of a client.
type session struct {
	proxy        *proxy
	client       net.Conn
	database     net.Conn
	fromClient   *bufio.Reader
	fromDatabase *bufio.Reader
	toClient     *bufio.Writer
	toDatabase   *bufio.Writer
	writing      sync.Mutex // of toClient
	texts        map[string]string
	keepsCommit  atomic.Bool // the answer to COMMIT ends the connection instead
	keepsAnswer  atomic.Bool // any answer does
}

// happens draws whether a cut of this kind comes true.
func (p *proxy) happens(kind string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.next[kind] || p.chances[kind] > 0 && p.random.Float64() < p.chances[kind] {
		delete(p.next, kind)
		p.counts[kind]++
		return true
	}
	return false
}

// takeFailure gives the error that is due at a commit or a statement; "": none.
func (p *proxy) takeFailure(at string) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.failsAt != at {
		return ""
	}
	state := p.failure
	p.failure, p.failsAt = "", ""
	p.counts["error"]++
	return state
}

func (p *proxy) wait() {
	for p.isStall.Load() {
		time.Sleep(2 * time.Millisecond)
	}
}

func (s *session) cut() {
	s.client.Close()
	s.database.Close()
}

// message reads one, with its head. Of a start there is no type.
func message(r *bufio.Reader, hasType bool) ([]byte, error) {
	head := 4
	if hasType {
		head = 5
	}
	start := make([]byte, head)
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(start[head-4:]))
	if n < 4 || n > 1<<30 {
		return nil, errors.New("not a message of PostgreSQL")
	}
	whole := make([]byte, head+n-4)
	copy(whole, start)
	_, err := io.ReadFull(r, whole[head:])
	return whole, err
}

func text(b []byte) (string, []byte) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i+1:]
		}
	}
	return string(b), nil
}

// begin passes on the start of a connection, refusing encryption.
func (s *session) begin() error {
	for {
		m, err := message(s.fromClient, false)
		if err != nil {
			return err
		}
		switch code := binary.BigEndian.Uint32(m[4:]); code {
		case codeSSL, codeGSS:
			if _, err := s.client.Write([]byte("N")); err != nil {
				return err
			}
		default:
			s.toDatabase.Write(m)
			if err := s.toDatabase.Flush(); err != nil || code == codeCancel {
				return errCut
			}
			return nil
		}
	}
}

func isCommit(sql string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(sql)), "COMMIT")
}

func isChange(sql string) bool {
	up := strings.ToUpper(sql)
	return strings.Contains(up, "INSERT INTO") || strings.Contains(up, "UPDATE ") && strings.Contains(up, " SET ") || strings.Contains(up, "DELETE FROM")
}

// parsed rewrites a Parse message by what weakens the statements, and remembers its text.
func (s *session) parsed(m []byte) []byte {
	name, rest := text(m[5:])
	sql, rest := text(rest)
	for _, w := range s.proxy.weaken {
		sql = strings.ReplaceAll(sql, w[0], w[1])
	}
	s.texts[name] = sql
	body := append([]byte(name+"\x00"+sql+"\x00"), rest...)
	whole := append([]byte{'P', 0, 0, 0, 0}, body...)
	binary.BigEndian.PutUint32(whole[1:], uint32(len(body)+4))
	return whole
}

// statement gives the text of what a message begins to carry out; "": nothing.
func (s *session) statement(m []byte) string {
	switch m[0] {
	case 'Q':
		sql, _ := text(m[5:])
		return sql
	case 'B':
		_, rest := text(m[5:])
		name, _ := text(rest)
		return s.texts[name]
	}
	return ""
}

func errorMessage(state string) []byte {
	body := "SERROR\x00VERROR\x00C" + state + "\x00Mit fails on demand\x00\x00"
	m := append([]byte{'E', 0, 0, 0, 0}, body...)
	binary.BigEndian.PutUint32(m[1:], uint32(len(body)+4))
	return m
}

// fail makes the database fail at this place of the pipeline: by a statement that raises the error of that code.
func (s *session) fail(state string) {
	sql := fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'it fails on demand' USING ERRCODE = '%s'; END $$", state)
	parse := append([]byte{'P', 0, 0, 0, 0}, []byte("\x00"+sql+"\x00\x00\x00")...)
	binary.BigEndian.PutUint32(parse[1:], uint32(len(parse)-1))
	bind := append([]byte{'B', 0, 0, 0, 0}, []byte("\x00\x00\x00\x00\x00\x00\x00\x00")...)
	binary.BigEndian.PutUint32(bind[1:], uint32(len(bind)-1))
	execute := append([]byte{'E', 0, 0, 0, 0}, []byte("\x00\x00\x00\x00\x00")...)
	binary.BigEndian.PutUint32(execute[1:], uint32(len(execute)-1))
	s.toDatabase.Write(parse)
	s.toDatabase.Write(bind)
	s.toDatabase.Write(execute)
}

// forward carries what the client says, and cuts.
func (s *session) forward() error {
	p := s.proxy
	cutAtSync := false
	for {
		m, err := message(s.fromClient, true)
		if err != nil {
			return err
		}
		p.wait()
		if m[0] == 'P' {
			m = s.parsed(m)
		}
		if sql := s.statement(m); sql != "" {
			if p.happens("statement") {
				s.toDatabase.Flush()
				return errCut
			}
			if isCommit(sql) {
				switch {
				case p.happens("before"):
					s.toDatabase.Flush()
					return errCut
				case p.happens("sent"):
					cutAtSync = true
				case p.happens("done"):
					s.keepsCommit.Store(true)
				}
				if state := p.takeFailure("commit"); state != "" {
					s.fail(state)
				}
			} else if isChange(sql) {
				if state := p.takeFailure("statement"); state != "" {
					s.fail(state)
				}
			}
		}
		if m[0] == 'S' && p.happens("answer") {
			s.keepsAnswer.Store(true)
		}
		if _, err := s.toDatabase.Write(m); err != nil {
			return err
		}
		if cutAtSync && (m[0] == 'S' || m[0] == 'Q') {
			s.toDatabase.Flush()
			s.client.Close()
			if c, ok := s.database.(*net.TCPConn); ok {
				c.CloseWrite() // it reads what was sent before it sees the end
			}
			io.Copy(io.Discard, s.database)
			return errCut
		}
		if s.fromClient.Buffered() == 0 {
			if err := s.toDatabase.Flush(); err != nil {
				return err
			}
		}
	}
}

// answer carries what the database says.
func (s *session) answer() error {
	for {
		m, err := message(s.fromDatabase, true)
		if err != nil {
			return err
		}
		s.proxy.wait()
		if s.keepsAnswer.Load() || m[0] == 'C' && s.keepsCommit.Load() && strings.HasPrefix(string(m[5:]), "COMMIT") {
			return errCut
		}
		if _, err := s.toClient.Write(m); err != nil {
			return err
		}
		if s.fromDatabase.Buffered() == 0 {
			if err := s.toClient.Flush(); err != nil {
				return err
			}
		}
	}
}

func (p *proxy) serve(client net.Conn) {
	p.wait()
	if p.isRefuse.Load() {
		client.Close()
		return
	}
	database, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	s := &session{proxy: p, client: client, database: database, fromClient: bufio.NewReaderSize(client, 1<<16), fromDatabase: bufio.NewReaderSize(database, 1<<16),
		toClient: bufio.NewWriterSize(client, 1<<16), toDatabase: bufio.NewWriterSize(database, 1<<16), texts: map[string]string{}}
	p.mutex.Lock()
	p.open[s] = true
	p.mutex.Unlock()
	if s.begin() == nil {
		go func() {
			s.answer()
			s.cut()
		}()
		s.forward()
	}
	s.cut()
	p.mutex.Lock()
	delete(p.open, s)
	p.mutex.Unlock()
}

// set carries out one line.
func (p *proxy) set(line string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var word, value, more string
	n, _ := fmt.Sscan(line, &word, &value, &more)
	var number float64
	fmt.Sscan(value, &number)
	switch {
	case n == 0:
	case word == "stall":
		p.isStall.Store(number != 0)
	case word == "refuse":
		p.isRefuse.Store(number != 0)
	case word == "cut":
		for s := range p.open {
			s.cut()
		}
		p.counts["cut"] += len(p.open)
	case word == "error":
		p.failure, p.failsAt = value, "commit"
		if more != "" {
			p.failsAt = more
		}
	case word == "next":
		p.next[value] = true
	case word == "seed":
		p.random = rand.New(rand.NewSource(int64(number)))
	case word == "counts":
		text, _ := json.Marshal(p.counts)
		fmt.Println(string(text))
	default:
		p.chances[word] = number
	}
}

type pairs [][2]string

func (w *pairs) String() string { return "" }

func (w *pairs) Set(value string) error {
	before, after, ok := strings.Cut(value, "=")
	if !ok {
		return errors.New("it must be OLD=NEW")
	}
	*w = append(*w, [2]string{before, after})
	return nil
}

func main() {
	p := &proxy{random: rand.New(rand.NewSource(1)), chances: map[string]float64{}, next: map[string]bool{}, counts: map[string]int{}, open: map[*session]bool{}}
	listen := flag.String("listen", "127.0.0.1:0", "where clients connect")
	flag.StringVar(&p.target, "target", "", "HOST:PORT of the database")
	flag.Var((*pairs)(&p.weaken), "weaken", "OLD=NEW: part of a statement that is replaced, to see whether a test notices")
	flag.Parse()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		p.set(lines.Text())
	}
}
