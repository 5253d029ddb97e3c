package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is the binary under test, and after each kill a new process on the same data and port.
type server struct {
	binary, folder string
	port           int
	inMemory       bool
	durabilities   []string // each start takes the next
	flags          []string
	starts         int
	process        *exec.Cmd
	ended          chan error
}

func newServer(binary, durabilities string, inMemory bool, flags []string) (*server, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "dynalith-linearizability-")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	return &server{binary: binary, folder: folder, port: listener.Addr().(*net.TCPAddr).Port, inMemory: inMemory,
		durabilities: strings.Split(durabilities, ","), flags: flags}, nil
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) start() error {
	store := []string{"--db-path", filepath.Join(s.folder, "data.db"), "--durability", s.durabilities[s.starts%len(s.durabilities)]}
	if s.inMemory {
		store = []string{"--in-memory"}
	}
	s.starts++
	s.process = exec.Command(s.binary, append(append([]string{"--port", fmt.Sprint(s.port), "--log-level", "warn"}, store...), s.flags...)...)
	s.process.Dir = s.folder
	for _, variable := range os.Environ() { // the tests' own variables are no options of the server
		if !strings.HasPrefix(variable, "DYNALITH_") {
			s.process.Env = append(s.process.Env, variable)
		}
	}
	s.process.Stderr = os.Stderr
	s.ended = make(chan error, 1)
	if err := s.process.Start(); err != nil {
		return err
	}
	go func(p *exec.Cmd, ended chan error) { ended <- p.Wait() }(s.process, s.ended)
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.address()); err == nil {
			return c.Close()
		}
		select {
		case err := <-s.ended:
			return fmt.Errorf("the server ended at its start: %v", err)
		default:
		}
	}
	return fmt.Errorf("the server took more than 60 s to start")
}

// kill ends the process as a crash would; it fails where the process has ended by itself before.
func (s *server) kill() error {
	select {
	case err := <-s.ended:
		return fmt.Errorf("the server ended by itself: %v", err)
	default:
	}
	if err := s.process.Process.Kill(); err != nil {
		return err
	}
	<-s.ended
	return nil
}

func (s *server) stop() error {
	defer os.RemoveAll(s.folder)
	s.process.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		return err
	case <-time.After(30 * time.Second):
		s.process.Process.Kill()
		return fmt.Errorf("the server took more than 30 s to stop")
	}
}
